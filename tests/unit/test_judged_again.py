"""Rows that are judged again by their first question: from what is stored, and by the rules of two draws."""

import csv
import math

import pytest

from hierlearn.core.registry import PACKAGE
from hierlearn.pipeline.claims import outcomes
from hierlearn.pipeline.command import first_questions

ROOT = PACKAGE.parents[1]
RECORDS = ROOT / "docs" / "records"


def table(file):
    with open(file, newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def rows():
    return table(RECORDS / "judged_again.csv")


@pytest.fixture(scope="module")
def told():
    return table(ROOT / "config" / "verdicts.csv")


def draws(row, prefix=""):
    numbers = [[row[f"{prefix}{key}_{draw}"] for key in ("value", "low", "high", "freedom")] for draw in (1, 2)]
    return [outcomes.Draw(*map(float, one)) for one in numbers if one[0]]


def test_a_row_is_judged_by_its_first_question(rows):
    records = first_questions.read(RECORDS / "first_questions.json")
    assert len({row["row"] for row in rows}) == len(rows)
    for row in rows:
        first = records[row["row"]]["question"]
        assert (row["rank"], row["rule"], row["side"]) == (first["rank"], first["rule"], first.get("side", "above")), (
            row
        )
        for key in ("predicted", "slack"):
            assert row[key] == (f"{first[key]}" if first.get(key) is not None else ""), row


def test_then_is_the_first_verdict_at_standard_or_else_at_quick(rows, told):
    for row in rows:
        own = [line for line in told if line["claim"] == row["row"]]
        first = next(line for preset in ("standard", "quick") for line in own if line["preset"] == preset)
        assert row["then"] == first["verdict"] and row["then_preset"] == first["preset"], row
        before = {one["row"]: one["was"] for one in table(RECORDS / "asked_later.csv")}
        chain = {row["row"], before.get(row["row"], row["row"])}
        assert int(row["designs"]) == len({(one["claim"], one["digest"]) for one in told if one["claim"] in chain}), row


def test_every_result_and_outcome_follows_from_the_draws_of_its_line(rows):
    for row in rows:
        predicted, slack = float(row["predicted"] or "nan"), float(row["slack"]) if row["slack"] else None
        asked = predicted, slack, row["side"], outcomes.level(int(row["designs"]))
        own, rival = draws(row), draws(row, "rival_")
        result, estimate = outcomes.result(row["rule"], own, *asked)
        against = outcomes.result(row["rule"], rival, *asked)[0] if rival else outcomes.UNDECIDED
        assert (row["result"], row["rival_result"]) == (result, against), row
        others = [one.rpartition(" ")[2] for one in row["other_rivals"].split("; ") if one]
        lacking = [outcomes.UNDECIDED] * bool(row["not_measured"])
        word = outcomes.outcome(result, [against, *others, *lacking])
        assert row["now"] == (outcomes.UNDECIDED if row["at_ends"] else word), row
        for key in ("value", "low", "high"):
            assert float(row[key] or "nan") == pytest.approx(getattr(estimate, key), rel=1e-3, nan_ok=True), row


def test_the_draws_are_those_that_are_stored(rows, told):
    known = {(line["claim"], line["digest"]): set() for line in told}
    for line in told:
        known[line["claim"], line["digest"]].add(line["value"])
    judged = [row for row in rows if (row["row"], row["digest"]) in known]
    assert len(judged) > len(rows) / 2
    for row in judged:
        for draw in (1, 2):
            value = row[f"value_{draw}"]
            stored = known[row["row"], row["digest"]]
            assert not value or any(math.isclose(float(value), float(one), rel_tol=1e-4) for one in stored if one), row


def test_a_measured_rival_is_listed_and_has_the_same_quantity_but_for_its_learner(rows):
    records = first_questions.read(RECORDS / "first_questions.json")
    listed = {
        (row["place"], row["rival"]) for row in table(ROOT / "config" / "rivals.csv") if row["role"] == "must fail"
    }
    measured = [one for one in table(ROOT / "config" / "measured_rivals.csv") if one["row"] != one["measured_by"]]
    for one in measured:
        assert (one["place"], one["rival"]) in listed, one
        mine, its = (records[one[key]]["question"] for key in ("row", "measured_by"))
        differing = {
            field
            for field in {*mine, *its}
            if field.startswith("quantity.") and field != "quantity.learner" and mine.get(field) != its.get(field)
        }
        assert not differing and mine["quantity.learner"] != its["quantity.learner"], one
    for row in rows:
        named = {one.partition(" ")[0] for one in row["other_rivals"].split("; ") if one}
        assert named == {one["measured_by"] for one in measured if one["row"] == row["row"]}, row


def test_a_row_meets_every_rival_of_its_place_but_a_check_none(rows):
    records = first_questions.read(RECORDS / "first_questions.json")
    checks = {one["row"] for one in table(RECORDS / "contract-3.csv") if one["change"] == "check"}
    measured = {(one["row"], one["rival"]) for one in table(ROOT / "config" / "measured_rivals.csv")}
    listed = table(ROOT / "config" / "rivals.csv")
    for row in rows:
        first, paper = records[row["row"]], row["study"].partition("-")[0]
        if row["row"] in checks or first["question"]["kind"] == "check":
            assert not row["not_measured"] and not row["at_ends"] and not row["other_rivals"], row
            continue
        there = {
            one["rival"]
            for one in listed
            if (one["paper"], one["place"], one["role"]) == (paper, first["question"]["place"], "must fail")
            and one["source"] != "first"
            and not one["learner"]
        }
        told = {one for one in row["not_measured"].split("; ") if one}
        # What no learner or probe stands for is not measured, unless it is the row's own or another row measures it.
        own = first["words"].get("rival", "")
        expected = {one for one in there if (row["row"], one) not in measured and not own.startswith(one)}
        assert expected <= told, row
