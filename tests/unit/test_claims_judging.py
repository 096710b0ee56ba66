"""Rows: what the rule makes of a claim and of its control."""

import math
from dataclasses import replace

import numpy as np
import pytest

from hierlearn.pipeline.claims.judging import Added, judge_claim
from hierlearn.statistics.estimates import Measurement, cases

STUDY = {"name": "a-study", "paper": "chen2020", "preset": "quick"}
CLAIM = {"place": "Theorem 2", "statement": "It grows", "kind": "rate", "rank": "primary", "regime": "limit"}
CLAIM |= {"rule": "upper", "predicted": 1, "slack": 0.2, "control": {"rival": "the other learner", "quantity": {}}}
LOW, HIGH = (Measurement(value, value - 0.1, value + 0.1, "", 5, sizes="d = 6–14") for value in (1.0, 2.0))
BETWEEN, UNKNOWN = Measurement(1.2, 0.7, 1.7, "", 5), Measurement(math.nan, math.nan, math.nan, "censored", 5)


def row(measured, rival=None, **changes):
    claim = {key: value for key, value in (CLAIM | changes).items() if value is not None}
    return judge_claim("C1", claim, measured, rival, 0.0, "scores.nc", STUDY)


@pytest.mark.parametrize(
    ("measured", "rival", "outcome", "verdict"),
    [
        (LOW, HIGH, "fails", "consistent"),
        (LOW, LOW, "passes", "vacuous"),
        (LOW, BETWEEN, "undecided", "inconclusive"),
        (LOW, UNKNOWN, "undecided", "inconclusive"),
        (HIGH, LOW, "passes", "not seen"),
        (HIGH, UNKNOWN, "undecided", "not seen"),
        (BETWEEN, HIGH, "fails", "inconclusive"),
        (UNKNOWN, HIGH, "fails", "inconclusive"),
    ],
)
def test_a_control_is_judged_by_the_rule_the_prediction_and_the_slack_of_its_claim(measured, rival, outcome, verdict):
    found = row(measured, rival)
    assert (found["control_verdict"], found["verdict"]) == (outcome, verdict)
    assert found["rival"] == "the other learner"
    assert found["sizes"] == measured.sizes


def test_the_reason_says_one_thing_the_rule_or_what_the_rival_did():
    assert row(LOW, LOW)["reason"] == "the rival, the other learner, passes too"
    assert row(LOW, UNKNOWN)["reason"] == "the rival is undecided: no interval"
    assert row(LOW, HIGH)["reason"] == "the interval is wholly at most 1.2"
    # A rule that fails is never hidden by its rival.
    assert row(HIGH, LOW)["reason"] == row(HIGH, HIGH)["reason"]


def test_what_was_skipped_has_a_column_of_its_own():
    apart = replace(HIGH, reason="size 8 not fitted: 3 of 5 seeds censored; size 9 not fitted: 1 of 5 seeds missing")
    found = row(replace(LOW, reason="size 4 not fitted: 3 of 5 seeds censored"), apart)
    assert found["reason"] == row(LOW, HIGH)["reason"]
    assert found["skipped"] == f"size 4 not fitted: 3 of 5 seeds censored; of the rival: {apart.reason}"
    assert row(UNKNOWN, HIGH)["skipped"] == UNKNOWN.reason
    assert row(LOW, HIGH)["before"] == ""


def test_a_lower_bound_decides_only_what_lies_above_it():
    bounds = replace(LOW, bound=True), replace(HIGH, bound=True)
    assert [row(one, HIGH)["verdict"] for one in bounds] == ["inconclusive", "not seen"]
    above = {"rule": "ordering", "predicted": 1.5, "slack": None}
    assert [row(one, LOW, **above)["verdict"] for one in bounds] == ["inconclusive", "consistent"]
    # A control that is bounded alone does not fail.
    assert row(HIGH, replace(LOW, bound=True), **above)["control_verdict"] == "undecided"


def test_a_probe_with_a_problem_of_its_own_is_measured_at_that_dimension():
    assert row(LOW, HIGH, dimension=196)["sizes"] == "d = 196"
    assert row(replace(LOW, sizes="m = 8, d = 16, n = 9"), HIGH, dimension=64)["sizes"] == "m = 8, d = 64, n = 9"


def test_an_infinite_number_is_none_and_says_so():
    found = row(replace(LOW, value=-np.inf, low=-np.inf), HIGH)
    assert (found["value"], found["low"], found["high"], found["verdict"]) == (None, None, None, "inconclusive")
    assert "a number of it is infinite" in found["skipped"]
    assert row(LOW, replace(HIGH, high=np.inf))["control_value"] is None


def test_without_a_control_a_claim_that_passes_is_inconclusive_and_one_that_fails_fails():
    missing = {"missing": "it is not trained"}
    found = row(LOW, control=missing)
    assert (found["control_verdict"], found["verdict"], found["rival"]) == ("missing", "inconclusive", "")
    assert found["control_value"] is None
    assert found["reason"] == "no rival yet (it is not trained)"
    assert row(HIGH, control=missing)["verdict"] == "not seen"


def test_a_description_and_a_check_have_no_control():
    described = row(LOW, control=None, kind="description", regime=None, rule="descriptive", predicted=None, slack=None)
    assert (described["verdict"], described["control_verdict"], described["regime"]) == ("", "", "")
    checked = row(LOW, control=None, kind="check", regime=None)
    assert (checked["verdict"], checked["control_verdict"]) == ("supported", "")


def test_a_withdrawn_question_is_judged_and_shows_the_sentence_of_the_paper():
    quoted = {"quote": "We assume it.", "where": "Section 2"}
    found = row(LOW, HIGH, withdrawn=quoted, remark="Widths are small.")
    assert found["remark"] == "Withdrawn by “We assume it.” (Section 2). Widths are small."
    assert found["verdict"] == row(LOW, HIGH)["verdict"]


def test_what_is_broken_and_what_is_to_be_known_have_columns_and_a_proof_is_a_reason():
    found = row(LOW, HIGH, regime="beyond", beyond="the loss is squared", remark="Widths are small.")
    assert (found["outside"], found["remark"]) == ("the loss is squared", "Widths are small.")
    proven = row(HIGH, LOW, proof="the trace is bounded")
    assert proven["verdict"] == "contradicted" and proven["reason"].endswith(", as a proof says: the trace is bounded")
    assert "trace" not in row(LOW, HIGH, proof="the trace is bounded")["reason"]


def test_an_inequality_counts_the_cases_that_tell_it_from_its_control():
    claim = {"rule": "bound", "regime": "within", "predicted": None, "slack": None}
    measured, zero = cases([[9.0], [0.5]], [[8.0], [0.1]], seeds=1), cases([[9.0], [0.5]], [[1.0], [1.0]], seeds=1)
    found = row(measured, zero, **claim)
    assert (found["value"], found["predicted"], found["verdict"]) == (0.2, 1.0, "supported")
    untrusted = row(replace(measured, low=math.nan, high=math.nan, reason="a: training failed"), zero, **claim)
    assert (untrusted["value"], untrusted["low"], untrusted["verdict"]) == (0.2, None, "inconclusive")
    trivial = cases([[9.0], [5.0]], [[1.0], [1.0]], seeds=1)
    assert row(cases([[9.0], [5.0]], [[8.0], [0.1]], seeds=1), trivial, **claim)["verdict"] == "vacuous"


def test_a_design_that_is_registered_is_named():
    claim = CLAIM | {"digest": "abc"}
    found = judge_claim("C1", claim, LOW, HIGH, 0.0, "scores.nc", STUDY | {"draw": "pilot", "revision": 2})
    assert (found["draw"], found["revision"], found["digest"]) == ("pilot", "2", "abc")
    assert [row(LOW, HIGH)[key] for key in ("draw", "revision", "digest")] == ["", "", ""]


def test_a_positive_quantity_with_a_negative_end_is_refused():
    with pytest.raises(ValueError, match="that is positive"):
        row(Measurement(0.1, -0.1, 0.3, "", 3, positive=True), HIGH)


def test_an_ordering_alone_has_a_side():
    assert row(LOW, HIGH, rule="ordering", slack=None, side="below")["side"] == "below"
    assert row(LOW, HIGH, rule="ordering", slack=None)["side"] == "above"
    assert row(LOW, HIGH)["side"] == ""


def beside(*rivals):
    """The row of a claim that passes, beside rivals that were added: each is a measurement or None."""
    added = [Added(f"rival {i}", "b", one) for i, one in enumerate(rivals)]
    return judge_claim("C1", CLAIM, LOW, HIGH, 0.0, "scores.nc", STUDY, added)


@pytest.mark.parametrize(
    ("rivals", "verdict", "reason"),
    [
        ((HIGH, HIGH), "consistent", "the interval is wholly at most 1.2"),
        ((HIGH, LOW), "vacuous", "the rival, rival 1, passes too"),
        ((None, LOW), "vacuous", "the rival, rival 1, passes too"),
        ((None, HIGH), "inconclusive", "rival rival 0 not measured"),
        ((UNKNOWN, HIGH), "inconclusive", "rival rival 0 not measured; censored"),
        ((HIGH, BETWEEN), "inconclusive", "the rival, rival 1, is undecided: the interval is on both sides of 1.2"),
    ],
)
def test_the_rule_must_fail_for_every_rival(rivals, verdict, reason):
    found = beside(*rivals)
    assert (found["verdict"], found["control_verdict"], found["reason"]) == (verdict, "fails", reason)
    assert [one["rival"] for one in found["detail"]["rivals"]] == ["rival 0", "rival 1"]
    # A rule that fails is never hidden by a rival.
    failing = judge_claim("C1", CLAIM, HIGH, HIGH, 0.0, "s", STUDY, [Added("r", "", None)])
    assert failing["verdict"] == "not seen"


def test_an_end_of_a_list_hides_what_passes_and_what_fails_and_no_check():
    end = [{"learner": "a", "choice": "ridge", "value": 1.0, "end": "largest", "count": 3, "of": 3}]
    for measured in (LOW, HIGH):
        found = judge_claim("C1", CLAIM, measured, HIGH, 0.0, "scores.nc", STUDY, (), end)
        assert found["verdict"] == "inconclusive" and found["detail"]["edges"] == end
        told = "the best may lie beyond the list; a chose 1, the largest of its ridges, in 3 of 3 trainings"
        assert found["reason"] == told
    check = CLAIM | {"kind": "check", "regime": "", "control": {}}
    assert judge_claim("C1", check, LOW, None, 0.0, "scores.nc", STUDY, (), end)["verdict"] == "supported"
