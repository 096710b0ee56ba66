"""Exponents from tables of sample complexities."""

import numpy as np
import pytest
from scipy import stats

from hierlearn.statistics.complexity import Complexities
from hierlearn.statistics.exponents import line, local_slopes, ratio_slope, seed_slopes, slope

SIZES = (6, 8, 10, 14, 20)
FACTORS = np.array([0.8, 0.9, 1.0, 1.2, 1.3])


def power(exponent, sizes=SIZES, factors=FACTORS):
    """n* = 5 d^exponent, times a factor per seed."""
    samples = 5.0 * np.array(sizes, dtype=float)[:, None] ** exponent * factors
    return samples, np.full(samples.shape, "observed", dtype="<U14")


def test_a_pure_power_law_gives_its_exponent_with_a_vanishing_interval():
    found = slope(Complexities(SIZES, *power(2.2)))
    assert (found.value, found.low, found.high) == pytest.approx((2.2, 2.2, 2.2))
    assert np.exp(found.intercept) == pytest.approx(5)
    assert found.sizes_fitted == SIZES
    assert found.dof == 3


def test_against_its_own_count_a_power_law_has_slope_one():
    regressor = np.array(SIZES, dtype=float) ** 2.2
    assert slope(Complexities(SIZES, *power(2.2)), regressor).value == pytest.approx(1)


def test_the_interval_is_that_of_a_textbook_regression_through_the_medians():
    generator = np.random.default_rng(0)
    samples, status = power(2.0)
    samples = samples * np.exp(0.3 * generator.normal(size=samples.shape))
    found = slope(Complexities(SIZES, samples, status))
    book = stats.linregress(np.log(SIZES), np.median(np.log(samples), axis=1))
    assert found.value == pytest.approx(book.slope)
    assert found.high - found.value == pytest.approx(stats.t.ppf(0.975, 3) * book.stderr)
    assert found.value - found.low == pytest.approx(found.high - found.value)


def test_one_wild_seed_per_size_does_not_move_the_exponent():
    samples, status = power(2.0)
    samples[-1, -1] *= 1e4
    assert slope(Complexities(SIZES, samples, status)).value == pytest.approx(2.0)


def test_only_the_sizes_named_beforehand_are_fitted():
    samples, status = power(2.0)
    samples[:2] *= 10
    found = slope(Complexities(SIZES, samples, status), fitted=(10, 14, 20))
    assert found.value == pytest.approx(2.0)
    assert found.sizes_fitted == (10, 14, 20)
    assert found.sizes_excluded == ()


def test_a_minority_of_censored_seeds_leaves_the_exponent_as_it_is():
    samples, status = power(2.0)
    samples[-1, 3:], status[-1, 3:] = samples[-1, 2] * 1.01, "right_censored"
    assert slope(Complexities(SIZES, samples, status)).value == pytest.approx(2.0)


def test_a_size_with_half_its_seeds_censored_is_left_out_and_said_so():
    samples, status = power(2.0)
    samples[-1, 2:], status[-1, 2:] = samples[-1, 1] * 1.01, "right_censored"
    found = slope(Complexities(SIZES, samples, status))
    assert found.value == pytest.approx(2.0)
    assert found.sizes_excluded == ((20, "3 right-censored of 5 seeds"),)
    assert np.isnan(found.medians[-1])
    assert found.reason == ""


def test_fewer_than_three_usable_sizes_give_no_interval_but_a_reason():
    samples, status = power(2.0)
    status[3] = "right_censored"
    found = slope(Complexities(SIZES, samples, status), fitted=(10, 14, 20))
    assert found.value == pytest.approx(2.0)
    assert np.isnan([found.low, found.high]).all()
    assert "2 size(s) can be fitted; 3 needed" in found.reason
    assert "size 14: 5 right-censored of 5 seeds" in found.reason


def test_a_single_usable_size_gives_no_slope():
    status = np.full((5, 5), "right_censored")
    status[0] = "observed"
    found = slope(Complexities(SIZES, power(2.0)[0], status))
    assert np.isnan(found.value)
    assert "1 size(s)" in found.reason


def test_the_ratio_slope_is_the_difference_of_the_exponents_whatever_the_seeds_share():
    above, below = Complexities(SIZES, *power(2.5)), Complexities(SIZES, *power(2.0))
    found = ratio_slope(above, below)
    assert (found.value, found.low, found.high) == pytest.approx((0.5, 0.5, 0.5))
    assert found.medians[0] == pytest.approx(0.5 * np.log(6))


def test_swapping_the_two_learners_turns_the_ratio_slope_round():
    generator = np.random.default_rng(1)
    tables = []
    for exponent in (2.5, 2.0):
        samples, status = power(exponent)
        tables.append(Complexities(SIZES, samples * np.exp(0.1 * generator.normal(size=samples.shape)), status))
    one, other = ratio_slope(*tables), ratio_slope(*tables[::-1])
    assert (one.value, one.low, one.high) == pytest.approx((-other.value, -other.high, -other.low))


def test_seed_slopes_average_the_slopes_of_single_seeds():
    exponents = np.array([1.8, 1.9, 2.0, 2.1, 2.2])
    samples = np.array(SIZES, dtype=float)[:, None] ** exponents
    found = seed_slopes(Complexities(SIZES, samples, np.full(samples.shape, "observed")))
    half = stats.t.ppf(0.975, 4) * exponents.std(ddof=1) / np.sqrt(5)
    assert (found.value, found.low, found.high) == pytest.approx((2.0, 2.0 - half, 2.0 + half))


def test_seed_slopes_leave_out_a_size_with_a_censored_seed_rather_than_the_seed():
    samples, status = power(2.0)
    samples[-1, 0], status[-1, 0] = 1.0, "right_censored"
    assert seed_slopes(Complexities(SIZES, samples, status)).value == pytest.approx(2.0)
    status[2:, 0] = "right_censored"
    assert "2 sizes without a censored seed" in seed_slopes(Complexities(SIZES, samples, status)).reason


def test_local_slopes_follow_a_bend():
    sizes = (5, 10, 20)
    samples = np.array([10.0, 20.0, 80.0])[:, None] * FACTORS
    found = local_slopes(Complexities(sizes, samples, np.full(samples.shape, "observed")))
    assert [one.value for one in found] == pytest.approx([1.0, 2.0])
    assert all(one.low < one.value < one.high for one in found)


def test_a_local_slope_to_a_wholly_censored_size_is_a_lower_bound():
    samples, status = power(2.0)
    status[-1] = "right_censored"
    last = local_slopes(Complexities(SIZES, samples, status))[-1]
    assert np.isfinite(last.low)
    assert last.high == np.inf


def test_a_line_through_two_points_has_a_slope_and_no_interval():
    fit, intercept, sd = line([0.0, 1.0], [1.0, 3.0])
    assert (fit.value, intercept) == pytest.approx((2.0, 1.0))
    assert np.isnan([fit.low, fit.high, sd]).all()


@pytest.mark.parametrize(
    ("regressor", "fitted", "complaint"),
    [
        ([1, 2, 3], None, "shape"),
        ([1, 2, 2, 3, 4], None, "increase"),
        ([0, 1, 2, 3, 4], None, "positive"),
        (None, (10, 14, 28), "28"),
    ],
)
def test_a_regressor_or_a_choice_of_sizes_that_does_not_fit_is_refused(regressor, fitted, complaint):
    with pytest.raises(ValueError, match=complaint):
        slope(Complexities(SIZES, *power(2.0)), regressor, fitted)
