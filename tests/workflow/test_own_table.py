"""The manual's lines from a csv to a study with a claim, run at the smallest sizes."""

import json
import re

from conftest import ROOT, copied, snakemake

from hierlearn.pipeline.command import runs
from hierlearn.pipeline.command.__main__ import parser

PAGE = (ROOT / "docs" / "own.md").read_text()
SECTION = PAGE.partition("## Your own data\n")[2].partition("\n## ")[0]
BLOCKS = dict(re.findall(r"^```(\w+)\n(.*?)^```", SECTION, re.DOTALL | re.MULTILINE))


RESTLESS = '''
"""A line whose training appends a digit to the table."""

from dataclasses import dataclass
from pathlib import Path

from hierlearn.learners.linear import Linear


@dataclass(frozen=True, kw_only=True)
class Restless(Linear):
    """Changes the table, and fits a line."""

    def fit(self, *given):
        file = Path("mine.csv")
        file.write_text(file.read_text().rstrip() + "1\\n")
        return super().fit(*given)
'''
CHANGED = """
title: A table that changes while a run reads it
problem: {input: {name: table, file: mine.csv}}
seeds: 2
learners:
  one: {label: One, learner: {name: restless}, select: {ridge: [1.0]}, samples: {at: [32]}}
  two: {label: Two, learner: {name: restless}, select: {ridge: [0.1]}, samples: {at: [32]}}
"""


def test_the_lines_of_the_manual_lead_from_a_csv_to_a_claim_and_a_changed_cell_runs_them_again(tmp_path, monkeypatch):
    assert len(BLOCKS["yaml"].splitlines()) == 10
    tree = copied(tmp_path / "tree")
    monkeypatch.chdir(tree)
    exec(BLOCKS["python"], {})  # noqa: S102
    (tree / "mine" / "studies").mkdir(parents=True)
    (tree / "mine" / "studies" / "my-table.yaml").write_text(BLOCKS["yaml"])
    asked = parser().parse_args([*BLOCKS["bash"].split()[1:], "--preset", "smoke"])
    # Another study on another file is beside it.
    beside = BLOCKS["yaml"].replace("mine.csv", "beside.csv").replace("T1-", "T2-")
    (tree / "mine" / "studies" / "beside.yaml").write_text(beside)
    (tree / "beside.csv").write_text((tree / "mine.csv").read_text())
    asked.studies.append("beside")
    words = ["--cores", "1", *asked.studies, "--config", *runs.settings(asked)]
    done = snakemake(tree, *words)
    assert done.code == 0, done.end
    claims = json.loads((tree / "results" / "smoke" / "my-table" / "claims.json").read_text())
    assert "T1-kernel" in json.dumps(claims)
    page = (tree / "results" / "smoke" / "my-table" / "index.html").read_text()
    assert "splits of one finite set" in page
    assert "Nothing to be done" in snakemake(tree, *words).text
    table = tree / "mine.csv"
    head, first, *rest = table.read_text().splitlines()
    table.write_text("\n".join([head, first + "1", *rest]) + "\n")
    again = snakemake(tree, *words, "--dry-run").text
    assert re.search(r"^my-table +8 ", again, re.MULTILINE), again
    assert not re.search(r"^beside +[1-9]", again, re.MULTILINE), again


def test_a_file_that_changes_while_a_run_reads_it_ends_the_job_that_sees_it_with_one_line(tmp_path):
    tree = copied(tmp_path / "tree")
    for room, file, text in (("studies", "my-table.yaml", CHANGED), ("learners", "restless.py", RESTLESS)):
        (tree / "mine" / room).mkdir(parents=True)
        (tree / "mine" / room / file).write_text(text)
    rows = [f"{i % 7},{i * 5 % 11},{i * 0.37 % 3:.2f}" for i in range(80)]
    (tree / "mine.csv").write_text("\n".join(["age,size,price", *rows]) + "\n")
    done = snakemake(tree, "--cores", "1", "my-table", "--config", "own=[mine]", "studies=[my-table]", "preset=smoke")
    assert done.code
    (line,) = done.errors
    assert re.match(
        r"error: mine\.csv: found other content, SHA-256 \w+; expected \w+, that of the study as it was", line
    )
    # The one that was trained first wrote what it read; the other wrote nothing.
    found = sorted(file.name for file in (tree / "results" / "smoke" / "my-table" / "all").glob("*.model.nc"))
    assert len(found) == 1
    assert not (tree / "results" / "smoke" / "my-table" / "scores.nc").exists()
