"""Where the limits of tests come from: one that was seen is in no primary row whose rank was not frozen before."""

import csv

import pytest
import shipped

from hierlearn.core.registry import PACKAGE

RECORDS = PACKAGE.parents[1] / "docs" / "records"


def claims():
    for file in shipped.STUDIES:
        yield from shipped.content(file).get("claims", {}).items()


def origin(claim):
    """paper, theory, margin or seen."""
    found = claim.get("limit_from")
    return next(iter(found.keys() - {"frozen"})) if isinstance(found, dict) else found


@pytest.mark.parametrize("preset", ["standard", "paper"])
def test_every_judged_claim_says_where_its_limit_comes_from(preset):
    judged = {
        name: claim.limit_from
        for file in shipped.STUDIES
        if (study := shipped.checked(file, preset)[0])
        for name, claim in study.claims.items()
        if claim.kind != "description"
    }
    assert len(judged) > 80
    assert [name for name, found in judged.items() if found is None] == []


def test_a_later_question_with_another_limit_says_that_its_limit_was_seen():
    every = dict(claims())
    later = {name: one for name, one in every.items() if name.endswith("-later") and one.get("asked_after") in every}
    moved = {name for name, one in later.items() if one.get("test") != every[one["asked_after"]].get("test")}
    assert len(moved) > 20
    assert {name for name in moved if origin(every[name]) != "seen" and "test" in every[name]} == set()


def test_a_later_question_with_the_same_limit_has_it_from_where_the_first_one_has_it():
    every = dict(claims())
    for name, one in every.items():
        first = every.get(one.get("asked_after"))
        if first and "test" in one and one["test"] == first.get("test") and name.endswith("-later"):
            assert origin(one) == origin(first), name


def test_primary_rows_whose_limit_was_seen_are_those_that_the_records_list():
    with open(RECORDS / "contract-3.csv", newline="", encoding="utf-8") as stream:
        listed = {row["row"] for row in csv.DictReader(stream) if row["change"] == "limit_from"}
    seen = {name for name, one in claims() if one.get("rank") == "primary" and origin(one) == "seen"}
    assert seen == listed
    assert all(one["limit_from"]["frozen"] for name, one in claims() if name in seen)


def test_a_printed_number_and_a_bound_are_no_choice():
    for name, one in claims():
        if one.get("test", "").startswith("~"):
            assert origin(one) == "paper", name
        if one.get("test") == "bound":
            assert origin(one) == "theory", name
