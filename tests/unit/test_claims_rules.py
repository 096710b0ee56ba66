"""Rules: whether a measurement passes."""

import pytest

from hierlearn.pipeline.claims.rules import BOUNDARIES, RULES, outcome

NAN = float("nan")
YES, NO, OPEN = "passes", "fails", "undecided"


@pytest.mark.parametrize(
    ("rule", "low", "high", "predicted", "slack", "verdict"),
    [
        ("upper", 0.8, 1.2, 1.0, 0.2, YES),
        ("upper", -5.0, -3.0, 1.0, 0.2, YES),
        ("upper", 0.8, 1.21, 1.0, 0.2, OPEN),
        ("upper", 1.2, 1.4, 1.0, 0.2, OPEN),
        ("upper", 1.21, 1.4, 1.0, 0.2, NO),
        ("lower", 0.9, 1.2, 1.0, 0.1, YES),
        ("lower", 5.0, 7.0, 1.0, 0.1, YES),
        ("lower", 0.89, 1.2, 1.0, 0.1, OPEN),
        ("lower", 0.5, 0.89, 1.0, 0.1, NO),
        ("two-sided", 0.95, 1.05, 1.0, 0.1, YES),
        ("two-sided", 0.95, 1.15, 1.0, 0.1, OPEN),
        ("two-sided", 0.5, 1.5, 1.0, 0.1, OPEN),
        ("two-sided", 1.2, 1.5, 1.0, 0.1, NO),
        ("two-sided", 0.5, 0.8, 1.0, 0.1, NO),
        ("ordering", 0.1, 0.5, 0.0, None, YES),
        ("ordering", -0.1, 0.5, 0.0, None, OPEN),
        ("ordering", 0.0, 0.5, 0.0, None, OPEN),
        ("ordering", -0.5, -0.1, 0.0, None, NO),
        ("ordering", -0.1, 0.5, 0.0, 0.15, YES),
        ("published", 8.0, 14.0, 10.0, None, YES),
        ("published", 6.0, 14.0, 10.0, None, OPEN),
        ("published", 16.0, 20.0, 10.0, None, NO),
        ("published", 1.0, 6.0, 10.0, None, NO),
        ("published", 16.0, 19.0, 10.0, 2.0, YES),
    ],
)
def test_each_rule_compares_the_interval_with_the_prediction_as_its_table_says(
    rule, low, high, predicted, slack, verdict
):
    found, reason = outcome(rule, (low + high) / 2, low, high, predicted, slack)
    assert found == verdict
    assert reason


def test_an_ordering_below_mirrors_one_above():
    assert outcome("ordering", -6.0, -7.0, -5.0, -4.6, side="below")[0] == YES
    assert outcome("ordering", -4.6, -5.0, -4.0, -4.6, side="below")[0] == OPEN
    assert outcome("ordering", -1.0, -2.0, 0.0, -4.6, side="below")[0] == NO


@pytest.mark.parametrize("rule", ["upper", "lower", "two-sided", "ordering", "published"])
@pytest.mark.parametrize("ends", [(NAN, NAN), (NAN, 2.0)])
def test_without_an_interval_a_rule_is_undecided_for_the_reason_given(rule, ends):
    assert outcome(rule, 1.0, *ends, 1.0, reason="2 sizes fitted") == (OPEN, "2 sizes fitted")
    assert outcome(rule, 1.0, *ends, 1.0) == (OPEN, "no interval")


@pytest.mark.parametrize(("rule", "side", "word"), [
    ("upper", "above", NO), ("lower", "above", YES), ("ordering", "above", YES), ("ordering", "below", NO),
    ("two-sided", "above", NO), ("published", "above", NO),
])  # fmt: skip
def test_an_open_end_leaves_undecided_what_hangs_on_it(rule, side, word):
    slack = 1.2 if rule == "published" else 0.2
    assert outcome(rule, 3.0, 2.0, float("inf"), 1.0, slack, side)[0] == word
    assert outcome(rule, 1.0, 0.5, float("inf"), 1.0, slack, side)[0] == OPEN


def test_what_the_measurement_has_to_say_stays_in_the_reason_of_an_outcome():
    verdict, reason = outcome("upper", 1.0, 0.9, 1.1, 1.0, 0.2, reason="size 28 not fitted")
    assert verdict == YES
    assert reason == "the interval is wholly at most 1.2; size 28 not fitted"


@pytest.mark.parametrize(
    ("rule", "side", "words"),
    [
        ("upper", "above", ("at most 1.2", "on both sides of 1.2", "above 1.2")),
        ("lower", "above", ("below 0.8", "on both sides of 0.8", "at least 0.8")),
        ("ordering", "above", ("below 0.8", "on both sides of 0.8", "above 0.8")),
        ("ordering", "below", ("below 1.2", "on both sides of 1.2", "above 1.2")),
    ],
)
def test_the_reason_says_on_which_side_of_which_limit_the_interval_lies(rule, side, words):
    intervals = [(0.1, 0.2, 0.3), (0.5, 1.0, 1.5), (1.7, 1.8, 1.9)]
    for (low, value, high), where in zip(intervals, words, strict=True):
        assert outcome(rule, value, low, high, 1.0, 0.2, side)[1].endswith(where)


def test_an_inequality_holds_only_if_no_case_exceeds_its_bound():
    assert outcome("bound", 1.0, 0.3, 1.0, NAN)[0] == YES
    assert outcome("bound", 0.98, 0.3, 0.98, NAN)[0] == YES
    assert outcome("bound", 1.0001, 0.3, 1.0001, NAN)[0] == NO
    assert "ratio to the bound is 0.98" in outcome("bound", 0.98, 0.3, 0.98, NAN)[1]


def test_an_inequality_without_a_measured_case_is_undecided():
    assert outcome("bound", NAN, NAN, NAN, NAN) == (OPEN, "no case was measured")
    assert outcome("bound", NAN, NAN, NAN, NAN, reason="3 of 6 cases not measured") == (
        OPEN,
        "3 of 6 cases not measured",
    )


def test_an_inequality_of_a_failed_training_is_undecided():
    assert outcome("bound", 0.5, NAN, NAN, NAN, reason="a: training failed") == (OPEN, "a: training failed")


def test_every_rule_says_at_how_many_ends_chance_may_deceive_it():
    assert BOUNDARIES.keys() == RULES.keys()
    # An interval that lies about the prediction's edge by chance falls on the wrong side of one end or of two.
    assert {rule for rule, ends in BOUNDARIES.items() if ends == 2} == {"two-sided", "published"}


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("atmost", 1, 0, 2, 1), "two-sided"),
        (("upper", 1, 2, 0, 1), "upside down"),
        (("upper", 1, 0, 2, NAN), "predicted"),
        (("upper", 1, 0, 2, 1, -0.1), "slack"),
        (("published", 1, 0, 2, -1), "predicted"),
        (("published", 1, 0, 2, 1, 0.5), "factor"),
        (("ordering", 1, 0, 2, 1, 0, "beside"), "above, below"),
        (("bound", -0.5, -0.5, 0, 1), "negative"),
        (("descriptive", 1, 0, 2, 1), "two-sided"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(arguments, complaint):
    with pytest.raises(ValueError, match=complaint):
        outcome(*arguments)


def test_a_bound_on_a_mean_is_judged_by_the_interval_of_that_mean():
    assert outcome("bound", 0.8, 0.7, 0.9, NAN)[0] == YES
    assert outcome("bound", 0.95, 0.8, 1.1, NAN)[0] == OPEN
    assert outcome("bound", 1.05, 0.9, 1.2, NAN)[0] == OPEN
    assert outcome("bound", 1.2, 1.1, 1.3, NAN)[0] == NO
