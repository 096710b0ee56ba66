"""The quantities that claims name."""

import json
from dataclasses import replace

import numpy as np
import pytest

from hierlearn.statistics.complexity import Complexities
from hierlearn.statistics.estimates import (
    cases,
    decisive_cases,
    exponent,
    exponent_difference,
    mean,
    mean_cases,
    median_log_ratio,
    paired_log_ratio,
    positive_mean,
)

SIZES = (6, 8, 10, 14, 20)
FACTORS = np.array([0.8, 0.9, 1.0, 1.2, 1.3])


def power(exponent, coefficient=5.0):
    samples = coefficient * np.array(SIZES, dtype=float)[:, None] ** exponent * FACTORS
    return Complexities(SIZES, samples, np.full(samples.shape, "observed", dtype="<U14"))


def censor(table, size, seeds, status="right_censored"):
    """The table with some seeds of one size censored at the n* of its first seed."""
    samples, how = table.samples.copy(), table.status.copy()
    row = table.sizes.tolist().index(size)
    samples[row, seeds], how[row, seeds] = samples[row, 0], status
    return replace(table, samples=samples, status=how)


def test_an_exponent_is_measured_against_the_regressor_of_its_claim():
    found = exponent(power(3.0), regressor=np.array(SIZES) ** 2.0)
    assert (found.value, found.low, found.high) == pytest.approx((1.5, 1.5, 1.5))
    assert found.seeds == 5
    assert found.detail["sizes_fitted"] == list(SIZES)
    assert [one["value"] for one in found.detail["local"]] == pytest.approx([1.5] * 4)
    assert found.detail["seed_slopes"]["value"] == pytest.approx(1.5)


def test_a_censored_size_stands_in_the_reason_and_its_bound_in_the_detail():
    found = exponent(censor(power(2.0), 20, [1, 2, 3, 4]))
    assert found.value == pytest.approx(2.0)
    assert np.isfinite([found.low, found.high]).all()
    assert found.reason == "size 20 not fitted: 4 right-censored of 5 seeds"
    (bound,) = found.detail["bounds"]
    assert bound["size"] == 20
    assert bound["low"] == pytest.approx(np.log(5.0 * 20**2 * 0.8))
    assert bound["high"] is None


def test_an_exponent_that_cannot_be_bounded_has_no_interval_and_says_why():
    table = censor(censor(power(2.0), 20, [1, 2, 3]), 14, [1, 2, 3])
    found = exponent(table, fitted=(10, 14, 20))
    assert np.isnan([found.low, found.high]).all()
    assert "3 needed" in found.reason
    assert "size 14" in found.reason


def test_what_is_shown_beside_a_quantity_is_strict_json():
    table = censor(power(2.0), 20, [0, 1, 2, 3, 4])
    for found in (
        exponent(table),
        paired_log_ratio(table, power(1.0)),
        exponent_difference(table, power(1.0)),
    ):
        json.dumps(found.detail, allow_nan=False)


def test_the_difference_of_two_exponents_comes_from_pairs():
    found = exponent_difference(power(2.5), power(2.0), regressor=np.array(SIZES) ** 2.0)
    assert (found.value, found.low, found.high) == pytest.approx((0.25, 0.25, 0.25))
    assert exponent_difference(power(2.5), power(2.0)).value == pytest.approx(0.5)


def test_the_paired_ratio_is_taken_at_the_largest_size():
    found = paired_log_ratio(power(2.0, 15.0), power(2.0))
    assert found.value == pytest.approx(np.log(3))
    assert found.detail["size"] == 20
    assert found.reason == "at size 20"


def test_the_paired_ratio_moves_to_the_largest_size_uncensored_for_both_and_reports_the_bound():
    above = censor(power(2.0, 20.0), 20, [0, 1, 2, 3, 4])
    below = censor(power(2.0), 14, [4])
    found = paired_log_ratio(above, below)
    assert found.detail["size"] == 10
    assert found.value == pytest.approx(np.log(4))
    assert "at size 10, the largest uncensored for both" in found.reason
    assert "size 20: 5 seed(s) censored, median log ratio >= 1.16" in found.reason
    assert [bound["size"] for bound in found.detail["bounds"]] == [14, 20]


def test_a_paired_ratio_censored_everywhere_has_bounds_and_no_interval():
    above = power(2.0, 20.0)
    above = replace(above, status=np.full(above.status.shape, "right_censored"))
    found = paired_log_ratio(above, power(2.0))
    assert np.isnan([found.value, found.low, found.high]).all()
    assert found.reason.startswith("no size uncensored for both; size 6: 5 seed(s) censored")
    assert found.detail["bounds"][0]["low"] == pytest.approx(np.log(4))


def test_the_median_of_a_ratio_is_known_where_few_seeds_are_censored_and_no_mean_is():
    def twelve(coefficient):
        samples = coefficient * np.outer(SIZES, np.arange(1.0, 13.0))
        return Complexities(SIZES, samples, np.full(samples.shape, "observed", dtype="<U14"))

    above, below = twelve(3.0), twelve(1.0)
    above = replace(above, samples=above.samples * np.arange(1.0, 13.0))
    # A tree that finds nothing needs more than its first seed's number: the ratio lies below a bound.
    below = censor(below, 20, [0])
    assert paired_log_ratio(above, below).detail["size"] == 14
    found = median_log_ratio(above, below)
    assert found.detail["size"] == 20 and found.detail["log_ratios"][0] is None
    # The third lowest and the tenth: the bound counts as the lowest.
    assert (found.value, found.low, found.high) == pytest.approx(np.log([3 * np.sqrt(42), 9, 30]))
    assert found.reason == "at size 20; 1 of 12 seeds have a bound alone"
    json.dumps(found.detail, allow_nan=False)
    unmeasured = median_log_ratio(above, censor(below, 20, [0], "missing"))
    assert (unmeasured.low, unmeasured.high) == pytest.approx(np.log([9, 33]))
    gone = median_log_ratio(above, censor(below, 20, range(9)))
    assert gone.detail["size"] == 14
    assert gone.reason.startswith("at size 14, the largest whose median has an interval; size 20: 9 seed(s) censored")


def test_seeds_that_were_not_measured_are_not_called_censored():
    above = censor(power(2.0, 20.0), 20, [0, 1, 2, 3, 4], "missing")
    found = paired_log_ratio(censor(above, 14, [0, 1], "right_censored"), power(2.0))
    assert "size 14: 2 seed(s) censored, median" in found.reason
    assert found.reason.endswith("size 20: 5 seed(s) not measured, median log ratio unknown")
    mixed = censor(censor(power(2.0, 20.0), 20, [0], "missing"), 20, [4])
    assert "size 20: 1 seed(s) not measured, 1 seed(s) censored" in paired_log_ratio(mixed, power(2.0)).reason


def test_a_bound_whose_ends_agree_is_a_value():
    found = paired_log_ratio(censor(power(2.0, 15.0), 20, [4]), power(2.0))
    assert found.reason.endswith("size 20: 1 seed(s) censored, median log ratio = 1.1")


def test_cases_have_the_largest_ratio_to_the_bound_and_its_range_over_seeds():
    found = cases([[2.0, 4.0], [5.0, 8.0]], [[1.0, 3.0], [1.0, 2.0]], seeds=2)
    assert (found.value, found.low, found.high) == (0.75, 0.5, 0.75)
    assert found.detail["ratios"] == [[0.5, 0.75], [0.2, 0.25]]
    assert found.reason == "4 cases"
    failing = cases([[0.9], [2.0]], [[1.0], [1.0]], seeds=1)
    assert failing.value == pytest.approx(1 / 0.9)
    assert failing.low == failing.high == failing.value


def test_a_case_that_was_not_measured_leaves_the_inequality_open():
    found = cases([[2.0, np.nan]], [[1.0, 1.0]], seeds=2)
    assert np.isnan(found.value)
    assert found.reason == "1 of 2 cases not measured"


@pytest.mark.parametrize(("larger", "smaller"), [([1.0, 2.0], [1.0]), ([], [])])
def test_cases_that_do_not_pair_are_refused(larger, smaller):
    with pytest.raises(ValueError, match="side"):
        cases(larger, smaller, seeds=1)


@pytest.mark.parametrize(
    ("larger", "smaller", "held"), [(1.0, 0.0, True), (1.0, -2.0, True), (0.0, 0.0, True), (-1.0, -2.0, True),
                                    (-1.0, 0.0, False), (0.0, 1e-300, False), (-2.0, -1.0, False)]
)  # fmt: skip
def test_a_case_beside_a_bound_that_is_not_positive_holds_or_fails_without_a_ratio(larger, smaller, held):
    found = cases([[larger]], [[smaller]], seeds=1)
    assert (found.value <= 1) == held
    assert np.isfinite(found.value) and found.value >= 0


def test_cases_that_the_control_satisfies_too_do_not_count():
    bounds = [[2.0], [0.5], [0.8]]
    claim, zero = cases(bounds, [[1.9], [0.1], [0.2]], seeds=1), cases(bounds, [[1.0]] * 3, seeds=1)
    found = decisive_cases(claim, zero)
    assert found.value == pytest.approx(0.25)
    assert found.reason == "2 of 3 cases count"


def test_a_case_that_fails_counts_whatever_its_control_does():
    claim, zero = cases([[2.0], [0.5]], [[3.0], [0.1]], seeds=1), cases([[2.0], [0.5]], [[1.0], [1.0]], seeds=1)
    assert decisive_cases(claim, zero).value == 1.5


def test_where_every_case_satisfies_the_control_or_other_cases_are_compared_nothing_is_left_out():
    claim = cases([[2.0], [4.0]], [[1.0], [1.0]], seeds=1)
    assert decisive_cases(claim, cases([[2.0], [4.0]], [[1.0], [1.0]], seeds=1)) == claim
    assert decisive_cases(claim, cases([[2.0]], [[3.0]], seeds=1)) == claim


def test_a_mean_of_positive_values_is_geometric_and_stays_positive():
    found = positive_mean([0.001, 0.01, 1.0])
    assert found.value == pytest.approx(10 ** (-5 / 3))
    assert 0 < found.low < found.value < found.high
    assert np.isnan(positive_mean([0.0, 1.0]).low)


def test_a_mean_over_seeds_carries_its_interval():
    found = mean([1.0, 2.0, 3.0])
    assert found.value == 2.0
    assert found.low < 1.0 < 3.0 < found.high
    assert found.seeds == 3


def test_a_bound_on_a_mean_has_the_interval_of_a_ratio_of_means():
    """How often the interval of one cell holds the true ratio, 0.8, where both sides vary with the seed."""
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(2000):
        shared = rng.standard_normal(12)
        larger = 1 + 0.1 * shared + 0.05 * rng.standard_normal(12)
        found = mean_cases(larger[None], 0.8 + 0.08 * shared[None])
        inside.append(found.low <= 0.8 <= found.high)
    assert 0.93 < np.mean(inside) < 0.97


def test_of_cases_on_means_those_that_the_control_satisfies_too_do_not_count():
    claim = mean_cases([[1.0, 1.1, 1.2], [2.0, 2.1, 1.9]], [[0.9, 0.9, 0.9], [1.0, 1.0, 1.0]])
    control = mean_cases([[1.0, 1.1, 1.2], [0.5, 0.4, 0.6]], [[0.9, 0.9, 0.9], [1.0, 1.0, 1.0]])
    found = decisive_cases(claim, control)
    assert found.value == pytest.approx(0.5)
    assert found.low < found.value < found.high < claim.high
    assert np.isnan(mean_cases([[1.0]], [[0.5]]).high)
