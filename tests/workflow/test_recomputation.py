"""Verdicts recomputed from the netCDF files with numpy and scipy alone, without a line of the package."""

import csv
import re
import shutil

import pytest
from conftest import ROOT
from recomputation import designs, ledger
from recomputation.quantities import QUANTITIES


def planted(results, folder, claim, **columns):
    """A copy of a results folder whose row of a claim says something else."""
    changed = shutil.copytree(results, folder / "results", ignore=shutil.ignore_patterns("all", "logs"))
    with open(changed / "claims.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    next(row for row in rows if row["claim"] == claim).update(columns)
    with open(changed / "claims.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return changed


def test_nothing_of_the_package_is_read():
    texts = [file.read_text(encoding="utf-8") for file in (ROOT / "tests" / "recomputation").glob("*.py")]
    assert len(texts) > 3
    assert not [text for text in texts if re.search(r"(import|from) +hierlearn", text)]


def test_a_finished_study_is_found_as_it_says(tree, results):
    count, differences = ledger.compared(results, tree / "config", rank=None)
    assert count == 3
    assert differences == []


@pytest.mark.parametrize(
    ("column", "wrong"),
    [("verdict", "consistent"), ("control_verdict", "undecided"), ("value", "1"), ("low", ""), ("control_high", "7")],
)
def test_a_row_that_says_something_else_is_named(tree, results, tmp_path, column, wrong):
    changed = planted(results, tmp_path, "C1-kernel", **{column: wrong})
    _, (line,) = ledger.compared(changed, tree / "config")
    assert line.startswith(f"tiny: C1-kernel: {column}: found {float(wrong) if wrong.isdigit() else wrong or 'nan'}; ")


def test_every_quantity_of_a_primary_row_is_recomputed():
    named = {}
    for file in sorted((ROOT / "config" / "studies").glob("*.yaml")):
        for preset in ("quick", "standard"):
            for name, claim in designs.study_at(file, preset)["claims"].items():
                if claim.get("rank") == "primary" and claim["rule"] != "descriptive":
                    named[name] = claim["quantity"]["name"]
    assert {claim: quantity for claim, quantity in named.items() if quantity not in QUANTITIES} == {}
