"""A job refuses a file that is not what its job made, in one line, whatever kind of file it is."""

import netCDF4
import pytest
from conftest import snakemake


def emptied(file):
    file.unlink()
    netCDF4.Dataset(file, "w").close()


def exchanged(name):
    return lambda file: file.write_bytes(file.with_name(name).read_bytes())


def without(name):
    """All of a file, but one variable has lost its name."""

    def damage(file):
        with netCDF4.Dataset(file, "a") as dataset:
            next(group for group in groups(dataset) if name in group.variables).renameVariable(name, "lost")

    return damage


def groups(group):
    yield group
    for child in group.groups.values():
        yield from groups(child)


def text(file):
    file.write_text("text")


# From the end to the start: a job that fails takes its outputs with it.
@pytest.mark.parametrize(
    ("name", "damage", "target", "found"),
    [
        ("tiny/claims.json", text, "claims.csv", "found no claims (Expecting value"),
        ("tiny/scores.nc", emptied, "tiny/claims.json", "kind: found nothing; expected scores"),
        ("tiny/traces.nc", exchanged("scores.nc"), "tiny/figure.svg", "kind: found scores; expected traces"),
        ("tiny/theory.probe.nc", emptied, "tiny/figure.svg", "kind: found nothing; expected probe"),
        ("tiny/all/scores.nc", exchanged("traces.nc"), "tiny/scores.nc", "kind: found traces; expected scores"),
        ("tiny/all/traces.nc", text, "tiny/traces.nc", "not a readable netCDF-4 file"),
        ("tiny/all/kernel.model.nc", exchanged("linear.model.nc"), "tiny/all/scores.nc", "code_hash: found "),
        ("tiny/all/linear.model.nc", without("score_status"), "tiny/all/scores.nc", "content_hash: found "),
        ("tiny/all/neural.representation.nc", emptied, "tiny/all/features.model.nc", "kind: found nothing"),
        ("tiny/all/data.nc", without("test_x"), "tiny/all/neural.representation.nc", "content_hash: found "),
    ],
    ids=lambda value: value if isinstance(value, str) and "/" in value else "",
)
def test_a_file_that_is_not_what_its_job_made_is_named_in_one_line(changed, name, damage, target, found):
    file = changed / "results" / "quick" / name
    whole, seal = file.read_bytes(), file.with_name(f".{file.name}.seal")
    sealed = seal.read_bytes()
    # With its seal the run itself would notice and make it again.
    seal.unlink()
    damage(file)
    (changed / "results" / "quick" / target).unlink(missing_ok=True)
    done = snakemake(changed, f"results/quick/{target}")
    assert done.code == 1, done.end
    assert "Traceback" not in done.text
    (error,) = done.errors
    assert f"results/quick/{name}: {found}" in error
    assert error.endswith("; delete it and run again")
    file.write_bytes(whole)
    seal.write_bytes(sealed)
