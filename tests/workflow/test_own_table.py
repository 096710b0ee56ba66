"""The manual's lines from a csv to a study with a claim, run at the smallest sizes."""

import json
import re

from conftest import ROOT, copied, snakemake

from hierlearn.pipeline.command import runs
from hierlearn.pipeline.command.__main__ import parser

PAGE = (ROOT / "docs" / "own.md").read_text()
SECTION = PAGE.partition("## Your own data\n")[2].partition("\n## ")[0]
BLOCKS = dict(re.findall(r"^```(\w+)\n(.*?)^```", SECTION, re.DOTALL | re.MULTILINE))


def test_the_lines_of_the_manual_lead_from_a_csv_to_a_claim_and_a_changed_cell_runs_them_again(tmp_path, monkeypatch):
    assert len(BLOCKS["yaml"].splitlines()) == 10
    tree = copied(tmp_path / "tree")
    monkeypatch.chdir(tree)
    exec(BLOCKS["python"], {})  # noqa: S102
    (tree / "mine" / "studies").mkdir(parents=True)
    (tree / "mine" / "studies" / "my-table.yaml").write_text(BLOCKS["yaml"])
    asked = parser().parse_args([*BLOCKS["bash"].split()[1:], "--preset", "smoke"])
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
