"""Every row asks the question that was registered first, and what came in its place is asked after it."""

import csv

import pytest

from hierlearn.core.registry import PACKAGE
from hierlearn.pipeline.claims import digests, question_forms
from hierlearn.pipeline.command import first_questions
from hierlearn.pipeline.plan import checking, registration

ROOT = PACKAGE.parents[1]
RECORDS = ROOT / "docs" / "records"
# A coordinate is named in one of the two forms, which was the only one in the other.
NAMED_IN_ONE = {"D1-toy-quartic", "D1-toy-two-level"}


def table(name):
    with open(RECORDS / name, newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def records():
    return first_questions.read(RECORDS / "first_questions.json")


@pytest.fixture(scope="module")
def studies(records):
    """The studies at the presets of the records, by name and preset."""
    places = {(record["study"], record["preset"]) for record in records.values()}
    folder = ROOT / "config" / "studies"
    return {(name, preset): checking.load_study(folder / f"{name}.yaml", preset) for name, preset in sorted(places)}


@pytest.fixture(scope="module")
def forms(studies):
    """The questions of today, by study, preset and claim."""
    return {
        (*place, claim): question_forms.question(design)
        for place, study in studies.items()
        for claim, design in registration.designs(study).items()
    }


def test_every_question_is_asked_and_is_the_first_but_for_the_exceptions(records, forms):
    listed = {row["row"] for row in table(first_questions.CHANGED)}
    identities = {row["row"] for row in table(first_questions.CONTRACT) if row["change"] == "check"}
    differing = {}
    for claim, record in records.items():
        now = forms.get((record["study"], record["preset"], claim), {})
        if fields := [field for field, *_ in question_forms.changes(record["question"], now)]:
            differing[claim] = fields
    assert {claim for claim in differing if claim not in identities} == listed
    # An identity is called a check, and is the same in all else.
    assert all(differing[claim] == ["kind"] for claim in identities & set(differing))


def test_no_primary_row_has_another_question_but_the_one_whose_rival_was_unsound(records):
    exceptions = [row for row in table(first_questions.CHANGED) if row["rank"] == "primary"]
    assert [(row["row"], row["field"]) for row in exceptions] == [("D7-quadratic", "rival.below")]
    # It compared a kernel with itself, so that it could not pass.
    first = records["D7-quadratic"]["question"]
    assert first["rival.above"] in first["quantity.below"] and "rival.below" not in first


def test_the_digest_of_a_question_is_that_of_its_first_form(records, forms):
    apart = NAMED_IN_ONE | {row["row"] for row in table(first_questions.CHANGED)}
    apart |= {row["row"] for row in table(first_questions.CONTRACT) if row["change"] == "check"}
    for claim, record in records.items():
        if claim not in apart:
            now = forms[record["study"], record["preset"], claim]
            assert digests.of_form(now) == digests.of_form(record["question"]), claim


def test_what_is_asked_later_is_secondary_and_differs_from_the_first_question_in_more_than_its_label(studies, forms):
    for (name, preset), study in studies.items():
        for claim, one in study.claims.items():
            if one.asked_after in study.claims:
                first, later = (forms[name, preset, key] for key in (one.asked_after, claim))
                assert one.rank == "secondary", claim
                fields = {field for field, *_ in question_forms.changes(first, later)}
                assert fields - {"kind", "rank"}, claim


def test_a_line_of_a_later_question_is_of_a_row_that_is_asked_after_the_one_that_had_it(studies):
    after = {
        claim: one.asked_after for study in studies.values() for claim, one in study.claims.items() if one.asked_after
    }
    lines = {(line.claim, line.digest) for line in registration.read(ROOT / registration.FILE)[0]}
    for row in table("asked_later.csv"):
        assert after[row["row"]] == row["was"] and (row["was"], row["digest"]) in lines and row["fields"], row
