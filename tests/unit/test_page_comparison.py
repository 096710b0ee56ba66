"""The page of a run that is compared with another begins with the rows that have another result there."""

import csv

import pytest
from test_page import row

from hierlearn.pipeline.claims.ledger import csv_text
from hierlearn.pipeline.claims.page.index import page
from hierlearn.pipeline.claims.tally import comparison
from hierlearn.pipeline.plan.configuration import configuration

ROWS = [
    row(claim="C1", rank="secondary", verdict="supported"),
    row(claim="C2", rank="primary", verdict="contradicted"),
    row(claim="C3", verdict="supported"),
    row(claim="C4", verdict="supported"),
]
THERE = [
    row(claim="C1", verdict="inconclusive", preset="quick"),
    row(claim="C2", verdict="supported", preset="quick", value=0.3),
    row(claim="C3", verdict="supported", preset="quick", value=0.7),
    row(claim="C9", verdict="supported", preset="quick"),
]


@pytest.fixture
def other(tmp_path):
    file = tmp_path / "claims.csv"
    file.write_text(csv_text(THERE))
    return str(file)


def test_rows_of_another_result_are_found_primary_ones_first(other):
    found = comparison(ROWS, other)
    assert {"preset": "quick", "shared": 3, "here": 1, "there": 1}.items() <= found.items()
    assert [(one["row"].claim, one["verdict"], one["row"].verdict) for one in found["changed"]] == [
        ("C2", "supported", "contradicted"),
        ("C1", "inconclusive", "supported"),
    ]
    assert found["changed"][0]["value"] == 0.3


def test_the_page_says_so_before_what_was_found_and_nothing_without_another_run(other):
    details = {one.claim: {} for one in ROWS}
    text = page(ROWS, details, {}, "standard", {}, {}, compared=comparison(ROWS, other))
    part = text.split('id="changed"')[1].split('id="found-of-papers"')[0]
    assert "2 of 3 shared rows have another result; 1 are here alone, 1 there alone." in part
    assert part.index('href="#C2"') < part.index('href="#C1"') and "C3" not in part and "0.3 [" in part
    assert 'id="changed"' not in page(ROWS, details, {}, "standard", {}, {})


def test_a_table_that_is_no_ledger_is_refused_in_one_line(tmp_path, monkeypatch):
    # Short names are told in full.
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "claims.csv"
    with open(file, "w", newline="") as stream:
        csv.writer(stream).writerows([["claim"], ["C1"]])
    with pytest.raises(ValueError, match="found no column preset, verdict, value"):
        comparison(ROWS, str(file))
    (fault,) = configuration({"compare": "none.csv"}, "config", [])[1]
    assert "none.csv" in str(fault) and "expected the claims.csv of a finished run" in str(fault)
    (fault,) = configuration({"compare": file.name}, "config", [])[1]
    assert "found no column preset, verdict, value, low, high in" in str(fault)


def test_a_table_is_refused_before_any_job_for_what_is_no_number_or_no_text(other, tmp_path):
    assert configuration({"compare": other}, "config", [])[1] == []
    file = tmp_path / "wrong.csv"
    file.write_text(csv_text(THERE).replace("0.3", "seven"))
    (fault,) = configuration({"compare": str(file)}, "config", [])[1]
    assert "found value 'seven' on line 3 in" in str(fault)
    file.write_bytes(b"\xff\xfe" + bytes(100))
    (fault,) = configuration({"compare": str(file)}, "config", [])[1]
    assert "found no table" in str(fault) and "\n" not in str(fault)


@pytest.mark.parametrize("shown", ["{}", "./{}", "{}-link"])
def test_a_run_is_not_compared_with_the_table_that_it_writes(tmp_path, monkeypatch, shown):
    monkeypatch.chdir(tmp_path)
    for folder in ("results/smoke", "results/quick"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "claims.csv").write_text(csv_text(THERE))
    own = "results/smoke/claims.csv"
    (tmp_path / f"{own}-link").symlink_to("claims.csv")
    given = {"preset": "smoke", "compare": shown.format(own)}
    (fault,) = configuration(given, "config", [])[1]
    assert "which this run writes; expected that of another run" in str(fault)
    assert configuration(given | {"preset": "quick"}, "config", [])[1] == []
