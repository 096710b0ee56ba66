"""A row's numbers as readers see them."""

import math

import pytest
from test_page import row

from hierlearn.pipeline.claims.readable import Units, factor, logarithms, number, units, work

FACTOR = "log ratio"


def test_numbers_are_rounded_for_readers():
    assert (number(0.51234), number(math.nan), number(-0.5), number(0.0)) == ("0.512", "–", "−0.5", "0")
    assert (number(5832.0), number(-999.9), number(999999.0)) == ("5,830", "−1,000", "10⁶")
    assert (number(2.861e-6), number(-1e-20), number(1.0e7)) == ("2.86·10⁻⁶", "−10⁻²⁰", "10⁷")
    assert Units("slope").measured(0.5, 0.25, 0.75) == "0.5 [0.25, 0.75] slope"
    assert Units("slope").measured(0.5, math.nan, 0.75) == "0.5 slope"
    assert Units("slope").measured(math.nan, math.nan, math.nan) == "–"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (math.log(2.3), "2.3"),
        (9.6445, "15,400"),
        (-9.6445, "1/15,400"),
        (math.log(0.745), "0.745"),
        (0.0, "1"),
        (0.693, "2"),
        (math.log(0.25), "0.25"),
        (math.log(0.2), "1/5"),
        (-2.996, "1/20"),
        (30.0, "1.07·10¹³"),
        (-800.0, "1/1.01·10³⁰⁴"),
        (math.nan, "–"),
    ],
)
def test_a_logarithm_stands_for_a_factor_or_a_fraction(value, text):
    assert factor(value) == text


def test_a_factor_near_one_has_three_decimals_with_its_interval():
    assert Units("times", True).measured(0.003, 0.0005, 0.0055) == "1.003 times [1.001, 1.006]"
    assert Units("times", True).measured(0.3, 0.0005, 0.6) == "1.35 times [1, 1.82]"


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "≤ 1 + 0.2"),
        ({"rule": "lower"}, "≥ 1 − 0.2"),
        ({"rule": "two-sided"}, "= 1 ± 0.2"),
        ({"rule": "published", "slack": 1.5}, "≈ 1 × or ÷ 1.5"),
        ({"slack": math.nan}, "≤ 1"),
        ({"rule": "bound", "slack": math.nan}, "≤ 1"),
        ({"predicted": math.nan}, "–"),
        ({"predicted": -0.5}, "≤ −0.5 + 0.2"),
        ({"rule": "ordering", "predicted": 0.0, "side": "above"}, "> 0 − 0.2"),
        ({"rule": "ordering", "predicted": 0.0, "side": "below"}, "< 0 + 0.2"),
    ],
)
def test_a_prediction_reads_as_its_rule_does(changes, text):
    assert Units().prediction(row(**changes)) == text


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"predicted": 0.0, "slack": 0.0953}, "≤ 1 × 1.1"),
        ({"predicted": 0.0, "slack": 0.0953, "rule": "lower"}, "≥ 1 ÷ 1.1"),
        ({"predicted": 0.0, "slack": 0.0953, "rule": "two-sided"}, "= 1 × or ÷ 1.1"),
        ({"predicted": -4.605, "slack": math.nan, "rule": "ordering", "side": "below"}, "< 1/100"),
    ],
)
def test_a_prediction_of_a_logarithm_is_one_of_a_factor(changes, text):
    one = row(**changes)
    assert units(one, FACTOR).prediction(one) == text


def test_other_logarithms_keep_their_word_and_ratios_that_are_none_stay():
    assert units(row(), "log of risk") == Units("risk", True)
    assert units(row(), "slope") == Units("slope") and units(row(), "") == Units()
    # Under these rules a number is a ratio already, of which a factor is allowed.
    assert not units(row(rule="published", slack=1.5), FACTOR).is_factor


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("the interval is wholly above 0.693", "the interval is wholly above 2"),
        ("the interval is inside [-0.1, 0.1]; 3 seeds", "the interval is inside [0.905, 1.11]; 3 seeds"),
        ("the rival is undecided: the interval is on both sides of 0", None),
        ("the interval is wholly below 1e-03", "the interval is wholly below 1"),
        ("no interval", "no interval"),
    ],
)
def test_the_limit_in_a_reason_is_a_factor_too(reason, text):
    wanted = text or "the rival is undecided: the interval is on both sides of 1"
    assert units(row(), FACTOR).reason(reason) == wanted
    assert units(row(), "slope").reason(reason) == reason


def test_the_numbers_as_they_are_judged_are_told_where_readers_see_factors():
    assert logarithms(row(), "slope") == ""
    assert logarithms(row(), FACTOR) == "measured 0.512 [0.25, 0.75], predicted ≤ 1 + 0.2, rival 1.9 [1.8, 2]"


@pytest.mark.parametrize(
    ("flops", "text"), [(0, "–"), (math.nan, "–"), (12.0, "12 flop"), (2.5e12, "2.5 Tflop"), (999e21, "9.99e+05 Eflop")]
)
def test_work_has_a_unit(flops, text):
    assert work(flops) == text
