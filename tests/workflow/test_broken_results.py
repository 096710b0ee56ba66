"""Whatever is damaged together, one plain run mends it with the same bytes; what cannot be mended is never read."""

import os
import shutil

import netCDF4
import pytest
from conftest import snakemake

from hierlearn.pipeline.files.checksums import beside

DATA, CLAIMS, PROBE = "tiny/all/data.nc", "tiny/claims.json", "tiny/theory.probe.nc"
KERNEL, LINEAR = "tiny/all/kernel.model.nc", "tiny/all/linear.model.nc"


def content(tree):
    """What a run is for, by name."""
    results = tree / "results" / "quick"
    files = [file for file in sorted(results.rglob("*")) if file.suffix not in (".log", ".tsv")]
    return {str(file.relative_to(results)): file.read_bytes() for file in files if file.is_file()}


def halve(file):
    file.write_bytes(file.read_bytes()[: len(file.read_bytes()) // 2])


def garble(file):
    """Change a byte in the middle; the size and the time stay."""
    times, text = (file.stat().st_atime_ns, file.stat().st_mtime_ns), bytearray(file.read_bytes())
    text[len(text) // 2] ^= 1
    file.write_bytes(text)
    os.utime(file, ns=times)


def lose(file):
    """All of a file, but one variable has lost its name."""
    with netCDF4.Dataset(file, "a") as dataset:
        dataset.renameVariable("status", "lost")


def damage_files_with_their_checksums(results):
    for name in (DATA, PROBE, CLAIMS, "tiny/figure.pdf", "claims.csv"):
        garble(results / name)
        beside(results / name).unlink()
    for name in (KERNEL, "tiny/all/scores.nc", "tiny/figure.svg", "index.html"):
        garble(results / name)
        garble(beside(results / name))


def damage_files_with_their_records(results):
    records = results.parents[1] / ".snakemake"
    halve(results / DATA)
    garble(results / CLAIMS)
    for folder in ("metadata", "incomplete"):
        shutil.rmtree(records / folder)


def damage_files_without_any_record(results):
    halve(results / LINEAR)
    lose(results / "tiny" / "scores.nc")
    beside(results / LINEAR).unlink()
    shutil.rmtree(results.parents[1] / ".snakemake")


def damage_checksums(results):
    for number, file in enumerate(sorted(results.rglob(".*.checksum"))):
        (garble, lambda one: one.unlink(), halve)[number % 3](file)


def exchange(results):
    """Files of other jobs with their checksums, and outputs of one job in each other's place."""
    shutil.copy(results / LINEAR, results / KERNEL)
    shutil.copy(beside(results / LINEAR), beside(results / KERNEL))
    scores, traces = results / "tiny" / "scores.nc", results / "tiny" / "traces.nc"
    shutil.copy(scores, traces)
    shutil.copy(beside(scores), beside(traces))
    (results / PROBE).unlink()
    (results / PROBE).mkdir()


def test_a_file_of_other_code_is_refused_in_one_line_where_nothing_but_times_may_start_a_job(changed):
    teacher = changed / "workflow" / "hierlearn" / "teachers" / "ridge_polynomial.py"
    before, model = teacher.read_text(), changed / "results" / "quick" / KERNEL
    # The copy is found whole.
    assert snakemake(changed).code == 0
    teacher.write_text(before + "\n# changed\n")
    model.unlink()
    done = snakemake(changed, f"results/quick/{KERNEL}", "--rerun-triggers", "mtime")
    teacher.write_text(before)
    assert done.code == 1, done.end
    assert "Traceback" not in done.text
    (error,) = done.errors
    assert f"results/quick/{DATA}: code_hash: found " in error
    assert error.endswith("; delete it and run again")
    assert snakemake(changed).code == 0


@pytest.mark.parametrize(
    "damage",
    [
        damage_files_with_their_checksums,
        pytest.param(damage_files_with_their_records, marks=pytest.mark.slow),
        pytest.param(damage_files_without_any_record, marks=pytest.mark.slow),
        pytest.param(damage_checksums, marks=pytest.mark.slow),
        exchange,
    ],
)
def test_one_plain_run_mends_what_is_damaged_together(changed, damage):
    whole = content(changed)
    damage(changed / "results" / "quick")
    done = snakemake(changed)
    assert done.code == 0, done.end
    assert "is made again: " in done.text
    assert content(changed) == whole


@pytest.mark.slow
def test_results_of_an_older_layout_are_made_again(changed):
    """Its checksums had other names, and its files are of other code."""
    results, whole = changed / "results" / "quick", content(changed)
    shutil.rmtree(changed / ".snakemake")
    for file in results.rglob(".*.checksum"):
        file.rename(file.with_name(file.name.replace(".checksum", ".seal")))
    for name in (DATA, KERNEL, CLAIMS):
        garble(results / name)
    done = snakemake(changed)
    assert done.code == 0, done.end
    assert "more files are made again" in done.text
    assert content(changed) == whole
    done = snakemake(changed)
    assert "made again" not in done.text
    assert "Nothing to be done" in done.text


def test_results_of_other_code_that_nobody_has_a_record_of_are_made_again(changed):
    """As after a copy into another clone."""
    results, code = changed / "results" / "quick", changed / "workflow" / "hierlearn" / "pipeline" / "measurements"
    before, whole = (code / "deterministic_equivalent.py").read_text(), content(changed)
    shutil.rmtree(changed / ".snakemake")
    (code / "deterministic_equivalent.py").write_text(before + "\n# changed\n")
    done = snakemake(changed)
    assert done.code == 0, done.end
    assert f"results/quick/{PROBE} is made again: code_hash: found " in done.text
    assert (results / DATA).read_bytes() == whole[DATA]
    assert (results / PROBE).read_bytes() != whole[PROBE]
    (code / "deterministic_equivalent.py").write_text(before)
    assert snakemake(changed).code == 0
    assert content(changed) == whole
