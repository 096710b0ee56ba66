"""Snakemake may keep its records in files or in a database: a run finishes and makes nothing again without need."""

import pytest
from conftest import snakemake

DATABASE = "--persistence-backend", "db"
SCORES, UNTOUCHED = "results/quick/tiny/scores.nc", "Nothing to be done"


@pytest.mark.slow
def test_what_is_damaged_is_made_again_with_records_in_a_database(changed):
    whole = (changed / SCORES).read_bytes()
    # Whoever changes to another kind of records makes nothing again.
    assert UNTOUCHED in snakemake(changed, *DATABASE).text
    for size in (2000, 0):
        (changed / SCORES).write_bytes(whole[:size])
        done = snakemake(changed, *DATABASE)
        assert done.code == 0, done.end
        assert "4 jobs" in done.text
        assert (changed / SCORES).read_bytes() == whole
    assert UNTOUCHED in snakemake(changed, *DATABASE).text
    assert UNTOUCHED in snakemake(changed).text


@pytest.mark.slow
@pytest.mark.parametrize("size", [100, 5000, None], ids=str)
def test_a_damaged_database_is_told_by_a_dry_run_and_mended_by_a_run(changed, size):
    assert snakemake(changed, *DATABASE).code == 0
    database = changed / ".snakemake" / "metadata.db"
    content = database.read_bytes()
    database.write_bytes(b"\xff" * len(content) if size is None else content[:size])
    done = snakemake(changed, *DATABASE, "--dry-run")
    assert done.code == 1
    assert "Traceback" not in done.text
    (error,) = done.errors
    assert error.startswith("error: .snakemake/metadata.db: found ")
    assert error.endswith("; a run without --dry-run puts it in order")
    done = snakemake(changed, *DATABASE)
    assert done.code == 0, done.end
    assert UNTOUCHED in done.text
    assert UNTOUCHED in snakemake(changed, *DATABASE, "--dry-run").text


@pytest.mark.slow
def test_results_of_other_code_are_made_again_without_a_record_in_the_database(changed):
    code = changed / "workflow/hierlearn/pipeline/measurements/deterministic_equivalent.py"
    before = code.read_text()
    code.write_text(before + "\n# changed\n")
    done = snakemake(changed, *DATABASE)
    code.write_text(before)
    assert done.code == 0, done.end
    assert "theory.probe.nc is made again: code_hash: found " in done.text
    assert snakemake(changed, *DATABASE).code == 0
    assert snakemake(changed).code == 0
