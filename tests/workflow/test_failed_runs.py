"""What `make` leaves behind when a job fails, and when nothing may run at all."""

import csv
import os
import shutil
import subprocess

import pytest
from conftest import ROOT, TOOLS


@pytest.fixture
def make(finished, tmp_path):
    """A function that runs `make` in a copy of the finished tree, and the copy."""
    copy = shutil.copytree(finished, tmp_path / "tree")
    shutil.copy(ROOT / "Makefile", copy)
    tools = copy / ".venv" / "bin"
    tools.mkdir(parents=True)
    (tools / "snakemake").symlink_to(TOOLS / "snakemake")
    # Newer than the pins, it counts as set up.
    (copy / ".venv" / ".installed").touch()
    environment = os.environ | {"PATH": f"{TOOLS}{os.pathsep}{os.environ['PATH']}"}

    def run():
        done = subprocess.run(["make"], cwd=copy, env=environment, text=True, stdout=-1, stderr=-2, check=False)
        return done.returncode, done.stdout

    return run, copy


def rows(copy):
    with open(copy / "results" / "quick" / "claims.csv", newline="") as table:
        return [row["claim"] for row in csv.DictReader(table)]


def test_the_ledger_of_a_failed_run_shows_no_claim_of_an_earlier_state(make):
    run, copy = make
    study, script = copy / "config" / "studies" / "tiny.yaml", copy / "workflow" / "scripts" / "train.py"
    page = copy / "results" / "quick" / "index.html"
    whole, before = script.read_text(), page.read_bytes()
    assert rows(copy)
    script.write_text(whole.replace("    job.end()\n", "raise OSError('no')\n"))
    code, text = run()
    assert code == 2
    assert text.endswith("\n") and "The page is results/quick/index.html\n" in text
    assert rows(copy) == []
    assert "A study that runs in seconds" in page.read_text().split("or of an earlier configuration or code:")[1]
    script.write_text(whole)
    code, text = run()
    assert code == 0, text
    assert page.read_bytes() == before
    study.write_text(study.read_text() + "bad: [\n")
    code, text = run()
    assert code == 2
    assert "The page" not in text
    assert text.count("error: config/studies/tiny.yaml") == text.count("Using workflow specific profile") == 1
