"""Questions hold still: no registered question differs from its first form, apart from those that are listed."""

import copy
import csv
import json
from dataclasses import replace
from datetime import date

import pytest
import shipped
from small_study import put, study_of

from hierlearn.core.registry import PACKAGE
from hierlearn.pipeline.claims import question_forms
from hierlearn.pipeline.command import first_questions
from hierlearn.pipeline.plan import checking, registration

ROOT = PACKAGE.parents[1]
RECORDS = ROOT / "docs" / "records"


def small(content):
    return study_of(content, "small", "small.yaml", "quick")


def table(file):
    with open(file, newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def records():
    return first_questions.read(RECORDS / "first_questions.json")


@pytest.fixture(scope="module")
def lines():
    return registration.read(ROOT / "config" / "registered.csv")[0]


def keys(line):
    return line.claim, line.preset, line.revision, line.digest


def test_a_first_form_is_of_the_first_line_that_was_rebuilt(records, lines):
    missing = {(row["claim"], row["preset"], int(row["revision"]), row["digest"]) for row in rebuilt_not()}
    assert missing <= set(map(keys, lines))
    by_claim = {}
    for line in lines:
        if keys(line) not in missing:
            by_claim.setdefault((line.claim, line.preset), []).append(line)
    for claim, record in records.items():
        assert record["preset"] == ("standard" if (claim, "standard") in by_claim else "quick"), claim
        first = by_claim[claim, record["preset"]][0]
        assert (str(first.revision), first.digest, first.study) == (
            record["revision"],
            record["digest"],
            record["study"],
        ), claim


def rebuilt_not():
    return table(RECORDS / "not_rebuilt.csv")


def test_every_question_that_was_registered_by_then_has_a_first_form(records, lines):
    last = max(number for number, line in enumerate(lines) if record_of(records, line))
    assert {line.claim for line in lines[: last + 1]} == set(records)


def record_of(records, line):
    return records.get(line.claim, {}).get("digest") == line.digest


def test_what_is_read_is_what_was_written(records, tmp_path):
    first_questions.write(tmp_path / "again.json", records)
    assert (tmp_path / "again.json").read_bytes() == (RECORDS / "first_questions.json").read_bytes()


def test_a_question_differs_from_its_first_form_only_where_that_is_listed(records):
    listed = first_questions.exceptions(RECORDS)
    new = [
        f"{claim}: {field}: found {json.dumps(now)}; expected {json.dumps(first)}, as first registered"
        for claim, field, first, now in first_questions.changed(records, ROOT / "config" / "studies")
        if (claim, field) not in listed
    ]
    assert new == []


def test_the_list_of_changes_has_the_first_values(records):
    for row in table(RECORDS / "changed_questions.csv"):
        record = records[row["row"]]
        assert (row["study"], row["rank"]) == (record["study"], record["question"]["rank"]), row
        if row["field"] in record["question"]:
            assert json.loads(row["first"]) == record["question"][row["field"]], row


def test_what_the_contract_changes_is_of_rows_that_there_are_and_says_why(records):
    rows = table(RECORDS / "contract-3.csv")
    keys = [tuple(row[column] for column in ("row", "change", "becomes", "rival")) for row in rows]
    assert len(set(keys)) == len(keys)
    for row in rows:
        assert row["study"] == records[row["row"]]["study"], row
        assert row["change"] in ("check", "rival", "asked_after", "restored", "limit_from"), row
        assert row["was"] and row["becomes"] and row["reason"] and date.fromisoformat(row["since"]), row
        assert bool(row["rival"]) == (row["change"] == "rival"), row
        if row["change"] in ("check", "rival"):
            assert row["was"] == records[row["row"]]["question"]["kind"], row


def test_a_judged_row_whose_question_changed_is_restored_or_becomes_a_check(records):
    contract = {row["row"] for row in table(RECORDS / "contract-3.csv") if row["change"] in ("check", "restored")}
    changed = {row["row"] for row in table(RECORDS / "changed_questions.csv")}
    judged = {claim for claim in changed if records[claim]["question"]["kind"] != "description"}
    assert judged <= contract
    assert {"R5-dimension-connected", "R5-dimension-three-layer", "R5-dimension-rounds"} <= contract


def test_an_identity_may_become_a_check_and_no_other_row_may():
    listed = first_questions.exceptions(RECORDS)
    assert ("D8-moments", "kind") in listed
    assert ("D8-moments", "predicted") not in listed and ("C1-p4", "kind") not in listed


def test_a_study_with_another_limit_is_refused_in_one_line_that_names_the_field():
    study = checking.load_study(ROOT / "config" / "studies" / "chen2020-sample-complexity.yaml", "standard")
    assert list(first_questions.other_questions(study, RECORDS, [])) == []
    claim = replace(study.claims["C1-p4"], predicted=0.7)
    changed = replace(study, claims=study.claims | {"C1-p4": claim})
    (fault,) = first_questions.other_questions(changed, RECORDS, [])
    assert str(fault).endswith(
        "claims.C1-p4.test.predicted: found 0.7; "
        "expected 0.667, as first registered on 2026-11-22, or a claim with a new name"
    )
    # Without a record of first forms a question has to be that of its first line, of which there is none here.
    alone = replace(changed, claims={"C1-p4": claim})
    assert list(first_questions.other_questions(alone, ROOT / "no such folder", [])) == []


def test_a_question_without_a_form_in_the_records_keeps_the_digest_of_its_first_line(content):
    study = small(content)
    lines = registration.new_lines(study, [])
    assert list(first_questions.other_questions(study, RECORDS, lines)) == []
    more_seeds = small(put(content, "seeds", 5))
    assert list(first_questions.other_questions(more_seeds, RECORDS, lines)) == []
    other_limit = small(put(content, "claims.C1-kernel.test", "<= 7"))
    (fault,) = first_questions.other_questions(other_limit, RECORDS, lines)
    assert "claims.C1-kernel: found another question than at revision 1" in str(fault)


def renamed(**said):
    """A study whose claim has the question of C1-p4 under another name."""
    study = checking.load_study(ROOT / "config" / "studies" / "chen2020-sample-complexity.yaml", "standard")
    return replace(study, claims={"C1-other": replace(study.claims["C1-p4"], **said)})


def test_a_new_name_in_the_place_of_an_old_one_is_asked_after_it():
    (fault,) = first_questions.other_questions(renamed(), RECORDS, [])
    assert "claims.C1-other: found the place, the quantity and the learner of C1-p4 in a claim" in str(fault)
    assert "expected asked_after: C1-p4, or C1-p4 itself" in str(fault)
    assert list(first_questions.other_questions(renamed(asked_after="C1-p4"), RECORDS, [])) == []
    assert list(first_questions.other_questions(renamed(place="Theorem 3"), RECORDS, [])) == []


def test_a_registered_question_stays_and_may_be_withdrawn_by_the_papers_words():
    study = checking.load_study(ROOT / "config" / "studies" / "chen2020-sample-complexity.yaml", "standard")
    assert list(first_questions.gone(study, RECORDS)) == []
    others = {name: claim for name, claim in study.claims.items() if name != "C1-p4"}
    (fault,) = first_questions.gone(replace(study, claims=others), RECORDS)
    assert "claims: found no C1-p4, which was registered on" in str(fault)
    assert "expected C1-p4, with the paper's sentence in `withdrawn`" in str(fault)
    quoted = {"quote": "We consider the square loss.", "where": "Section 2"}
    withdrawn = replace(study, claims=study.claims | {"C1-p4": replace(study.claims["C1-p4"], withdrawn=quoted)})
    assert list(first_questions.gone(withdrawn, RECORDS)) == []
    assert list(first_questions.other_questions(withdrawn, RECORDS, [])) == []


def test_no_registered_question_is_gone():
    for file in shipped.STUDIES:
        for preset in ("quick", "standard"):
            assert list(first_questions.gone(shipped.checked(file, preset)[0], RECORDS)) == [], file.name


def test_a_question_is_asked_after_one_that_was_registered(lines):
    (fault,) = first_questions.other_questions(renamed(asked_after="C1-none"), RECORDS, lines)
    assert "claims.C1-other.asked_after: found 'C1-none'; expected a claim that was registered before" in str(fault)


@pytest.fixture
def form(records):
    return copy.deepcopy(records["C1-p4"]["question"])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("predicted", 0.7),
        ("slack", 0.2),
        ("rule", "lower"),
        ("kind", "description"),
        ("place", "Theorem 3"),
        ("rival.learner", "ntk-raw"),
        ("quantity.threshold", 0.1),
        ("learners.quad-neural.learner.width", 200),
        ("learners.quad-raw.problem.label_noise", 0.1),
        ("learners.quad-neural.representation.whiten", "full"),
    ],
)
def test_a_changed_field_of_a_question_is_named(form, field, value):
    assert field in form
    assert list(question_forms.changes(form, form | {field: value})) == [(field, form[field], value)]


def test_a_rival_that_is_gone_is_named(form):
    now = {field: value for field, value in form.items() if not field.startswith("learners.quad-raw.")}
    assert list(question_forms.changes(form, now)) == [("learners.quad-raw", "named", None)]


def test_another_name_and_a_new_parameter_with_its_default_are_no_change(form):
    default = "learners.quad-neural.learner.regulariser"
    without = {field: value for field, value in form.items() if field != default}
    assert list(question_forms.changes(without, form)) == []
    assert list(question_forms.changes(without, form | {default: "other"})) == [(default, None, "other")]
    renamed = {field.replace("quad-raw", "raw"): value for field, value in form.items()} | {"rival.learner": "raw"}
    assert list(question_forms.changes(form, renamed)) == []


def test_further_sizes_are_no_change_and_another_value_at_a_known_size_is(form):
    field = "learners.quad-neural.representation.count"
    at = form[field]
    assert at["by"] == ["dimension"]
    more = form | {field: {"by": at["by"], "values": at["values"] | {"40": 861}}}
    assert list(question_forms.changes(form, more)) == []
    other = form | {field: {"by": at["by"], "values": at["values"] | {next(iter(at["values"])): 1}}}
    assert [found[0] for found in question_forms.changes(form, other)] == [field]
