"""The history of the questions: what changed from one registered design to the next, and what was found first."""

import csv
import json

import pytest

from hierlearn.core.registry import PACKAGE
from hierlearn.pipeline.claims.verdicts import MARKS
from hierlearn.pipeline.command import first_questions

ROOT = PACKAGE.parents[1]
RECORDS = ROOT / "docs" / "records"
OUTCOMES = {"✓": "holds", "✗": "fails", "○": "no test", "?": "undecided"}


def table(file):
    with open(file, newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def history():
    return table(RECORDS / "question_history.csv")


@pytest.fixture(scope="module")
def told():
    return table(ROOT / "config" / "verdicts.csv")


def test_a_line_of_the_history_is_a_change_of_a_registered_row(history):
    registered = {(row["claim"], row["revision"]) for row in table(ROOT / "config" / "registered.csv")}
    for row in history:
        assert row["before"] != row["after"], row
        assert (row["row"], row["revision"]) in registered, row


def test_every_row_that_differs_from_its_first_form_has_a_history(history):
    changed = {row["row"] for row in table(RECORDS / "changed_questions.csv") if row["field"] != "question"}
    assert changed <= {row["row"] for row in history}


def test_the_first_limit_is_what_the_history_begins_with(history):
    records = first_questions.read(RECORDS / "first_questions.json")
    seen = set()
    for row in history:
        key = row["row"], row["field"]
        first = records[row["row"]]["question"]
        if row["field"] in ("predicted", "slack", "rule", "kind") and key not in seen and row["before"]:
            assert json.loads(row["before"]) == first[row["field"]], row
        seen.add(key)


def test_a_verdict_before_a_change_is_one_that_is_stored(history, told):
    known = {(line["claim"], line["verdict"]) for line in told}
    assert all(not row["verdict_before"] or (row["row"], row["verdict_before"]) in known for row in history)


def test_every_row_of_the_first_list_has_its_first_verdict(told):
    rows = table(RECORDS / "primary_then.csv")
    listed = {row["claim"] for row in table(ROOT / "config" / "primary_rows.csv")}
    assert len({row["row"] for row in rows}) == len(rows)
    assert listed <= {row["row"] for row in rows}
    assert sum(not row["added"] for row in rows) == 72
    for row in rows:
        own = [line for line in told if line["claim"] == row["row"]]
        first = next(line for preset in ("standard", "quick") for line in own if line["preset"] == preset)
        assert (row["then"], row["preset"]) == (first["verdict"], first["preset"]), row
        assert row["outcome"] == OUTCOMES[MARKS[row["then"]]], row
