"""Intervals for means, medians and shifts."""

import itertools

import numpy as np
import pytest
from scipy import stats

from hierlearn.statistics.intervals import (
    median,
    median_interval,
    prediction_interval,
    shift_interval,
    t_interval,
    t_quantile,
)


def test_the_student_quantile_is_the_tabulated_one():
    assert t_quantile(1) == pytest.approx(12.7062, abs=1e-4)
    assert t_quantile(3) == pytest.approx(3.1824, abs=1e-4)


def test_the_t_interval_is_that_of_scipy():
    values = np.array([1.0, 2.5, 0.3, 4.0, 2.2])
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    found = t_interval(values, 0.9)
    assert (found.value, found.low, found.high) == pytest.approx((values.mean(), expected.low, expected.high))


def test_a_further_run_of_equal_ones_lies_at_their_value():
    for value in np.arange(1, 1000) / 1000:
        found = prediction_interval([value] * 3)
        assert found.low <= found.value <= found.high == pytest.approx(value)


def test_a_single_value_has_no_interval_and_says_so():
    found = t_interval([3.0])
    assert found.value == 3.0
    assert np.isnan(found.low)
    assert "fewer than 2" in found.reason


def test_a_mean_with_a_value_that_is_not_finite_is_not_given():
    found = t_interval([1.0, np.nan, np.inf])
    assert np.isnan([found.value, found.low, found.high]).all()
    assert found.reason.startswith("2 of 3")


@pytest.mark.parametrize(
    ("values", "expected"),
    [([3, 1, 2], 2), ([4, 1, 2, 3], 2.5), ([1, np.inf, np.inf], np.inf), ([1, 2, np.inf, -np.inf], 1.5)],
)
def test_the_median_allows_infinite_values(values, expected):
    assert median(values) == expected


def test_the_median_of_opposite_infinities_is_unknown():
    assert np.isnan(median([-np.inf, np.inf]))


@pytest.mark.parametrize("count", [6, 9, 12, 30])
def test_the_interval_of_a_median_is_that_of_scipy(count):
    values = np.random.default_rng(count).standard_normal(count)
    expected = stats.quantile_test(values, q=0, p=0.5).confidence_interval(0.95)
    found = median_interval(values, values)
    assert (found.value, found.low, found.high) == (np.median(values), expected.low, expected.high)


def test_an_open_value_moves_the_interval_of_a_median_by_one_place_and_five_values_have_none():
    values = np.arange(12.0)
    low, high = values.copy(), values.copy()
    low[0] = -np.inf
    found = median_interval(low, high)
    assert (found.value, found.low, found.high) == (5.5, 2.0, 9.0)
    # Open on both sides: the medians are 4.5 and 6.5 of the eleven values that are known and an infinite one.
    high[0] = np.inf
    found = median_interval(low, high)
    assert (found.value, found.low, found.high) == (6.0, 2.0, 10.0)
    low[:3] = -np.inf
    assert median_interval(low, high).low == -np.inf
    few = median_interval(values[:5], values[:5])
    assert few.value == 2.0 and np.isnan(few.low) and "fewer than 6" in few.reason


def test_the_shift_interval_has_at_least_its_level_over_every_ordering_of_two_samples():
    # Under no shift each choice of ranks for the first sample is equally likely.
    for size in (4, 5):
        hits = []
        for chosen in itertools.combinations(range(2 * size), size):
            first = np.array(chosen, dtype=float)
            second = np.setdiff1d(np.arange(2.0 * size), first)
            found = shift_interval((first, first), (second, second))
            hits.append(found.low <= 0 <= found.high)
        assert 0.95 <= np.mean(hits) < 1


def test_the_shift_interval_moves_with_the_second_sample():
    first, second = np.array([1.0, 2.0, 4.0, 8.0]), np.array([3.0, 5.0, 6.0, 9.0])
    base, moved = (
        shift_interval((first, first), (second, second)),
        shift_interval((first, first), (second + 2,) * 2),
    )
    assert (moved.value, moved.low, moved.high) == (base.value + 2, base.low + 2, base.high + 2)


def test_a_censored_value_never_narrows_the_shift_interval():
    first, second = np.arange(5.0), np.arange(5.0) + 10
    known = shift_interval((first, first), (second, second))
    high = np.where(second == second[-1], np.inf, second)
    censored = shift_interval((first, first), (second, high))
    assert censored.low == known.low
    assert censored.high >= known.high


def test_three_values_a_side_are_too_few_for_a_shift_interval():
    first = np.arange(3.0)
    found = shift_interval((first, first), (first + 1, first + 1))
    assert found.value == 1
    assert np.isnan(found.low)
    assert "too few" in found.reason


def test_the_shift_interval_turns_round_with_the_samples():
    first, second = np.array([1.0, 2.0, 4.0, 8.5]), np.array([3.0, 5.0, 6.0, 9.0])
    there, back = (
        shift_interval((first, first), (second, second)),
        shift_interval((second, second), (first, first)),
    )
    assert (there.value, there.low, there.high) == (-back.value, -back.high, -back.low)
