"""Do intervals of ratios to a theory, of differences of slopes, of one further run and of failure rates hold the truth?

On the studies' own noise: log n* with scatter of seeds and of sizes, cells censored by a cap, curves that bend.
"""

import numpy as np
import pytest
import scipy

from hierlearn.statistics.complexity import Complexities
from hierlearn.statistics.estimates import over_theory, slope_difference
from hierlearn.statistics.exponents import slope
from hierlearn.statistics.intervals import failure_rate, log_interval, prediction_interval

TRIALS = 1000
SIZES = {6: (8, 10, 12, 14, 17, 20), 12: (6, 7, 8, 9, 10, 12, 14, 17, 20, 24, 28, 34)}
SEEDS = (3, 5, 20)
LEAST = 0.92


def holds(estimates, truth) -> float:
    return float(np.mean([one.low <= truth <= one.high for one in estimates]))


def studies(generator, sizes, seeds, exponent, bend=0.0, seed_sd=0.2, size_sd=0.05, censored=0.0):
    """Tables of `TRIALS` studies: n* = 50 size^exponent exp(bend x^2), x the centred log of the size; a share of the
    seeds at the largest size lies beyond the cap."""
    x = np.log(sizes) - np.mean(np.log(sizes))
    logs = np.log(50) + exponent * x + bend * x**2
    logs = logs[:, None] + size_sd * generator.normal(size=(TRIALS, len(x), 1))
    logs = logs + seed_sd * generator.normal(size=(TRIALS, len(x), seeds))
    status = np.full(logs.shape, "observed", dtype="U14")
    if censored:
        cap = logs[:, -1].mean() + scipy.stats.norm.ppf(1 - censored) * np.hypot(seed_sd, size_sd)
        over = logs[:, -1] > cap
        status[:, -1][over] = "right_censored"
        logs[:, -1] = np.minimum(logs[:, -1], cap)
    return [Complexities(sizes, np.exp(n), how) for n, how in zip(logs, status, strict=True)]


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("count", SIZES)
# Without a scatter of sizes it is the easier case: a further 6000 simulated studies.
@pytest.mark.parametrize("size_sd", [pytest.param(0.0, marks=pytest.mark.slow), 0.1])
def test_the_log_of_measured_over_theory_is_held(count, seeds, size_sd):
    sizes = SIZES[count]
    generator = np.random.default_rng([0, count, seeds])
    theory = 50 * np.exp(np.log(sizes) - np.mean(np.log(sizes))) / 1.05
    found = [over_theory(one, theory) for one in studies(generator, sizes, seeds, 1.0, size_sd=size_sd)]
    assert holds(found, np.log(1.05)) >= LEAST


@pytest.mark.parametrize("seeds", SEEDS)
def test_the_log_of_measured_over_theory_is_held_where_a_cap_censors_the_largest_size(seeds):
    sizes = SIZES[6]
    generator = np.random.default_rng([1, seeds])
    theory = 50 * np.exp(np.log(sizes) - np.mean(np.log(sizes)))
    found = [over_theory(one, theory) for one in studies(generator, sizes, seeds, 1.0, censored=0.2)]
    assert holds(found, 0.0) >= LEAST


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("count", SIZES)
def test_a_difference_of_slopes_over_other_sizes_is_held(count, seeds):
    generator = np.random.default_rng([2, count, seeds])
    above = studies(generator, SIZES[6], seeds, 1.4, size_sd=0.08)
    below = studies(generator, SIZES[count], seeds, 1.0, seed_sd=0.15)
    found = [slope_difference(one, other) for one, other in zip(above, below, strict=True)]
    assert holds(found, 0.4) >= LEAST
    assert np.mean([one.value for one in found]) == pytest.approx(0.4, abs=0.02)


def test_a_difference_of_slopes_of_bent_curves_is_that_of_their_lines_at_the_sizes_measured():
    generator = np.random.default_rng(3)
    above = studies(generator, SIZES[6], 5, 1.4, bend=0.1)
    below = studies(generator, SIZES[12], 5, 1.0, bend=-0.05)

    def line(sizes, exponent, bend):
        x = np.log(sizes) - np.mean(np.log(sizes))
        return np.polyfit(x, exponent * x + bend * x**2, 1)[0]

    truth = line(SIZES[6], 1.4, 0.1) - line(SIZES[12], 1.0, -0.05)
    found = [slope_difference(one, other) for one, other in zip(above, below, strict=True)]
    assert holds(found, truth) >= LEAST


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("censored", [0.0, 0.2])
def test_slopes_of_bent_curves_and_censored_sizes_are_held(seeds, censored):
    generator = np.random.default_rng([4, seeds])
    x = np.log(SIZES[6]) - np.mean(np.log(SIZES[6]))
    truth = np.polyfit(x, x + 0.1 * x**2, 1)[0]
    found = [slope(one) for one in studies(generator, SIZES[6], seeds, 1.0, bend=0.1, censored=censored)]
    assert holds(found, truth) >= LEAST


@pytest.mark.parametrize("seeds", SEEDS)
def test_the_geometric_mean_of_errors_is_held_and_its_interval_is_positive(seeds):
    generator = np.random.default_rng([5, seeds])
    found = [log_interval(one) for one in 0.01 * np.exp(0.8 * generator.normal(size=(TRIALS, seeds)))]
    assert holds(found, 0.01) >= LEAST
    assert min(one.low for one in found) > 0


@pytest.mark.parametrize("seeds", SEEDS)
def test_one_further_run_lies_in_the_prediction_interval(seeds):
    generator = np.random.default_rng([6, seeds])
    runs = np.exp(0.3 * generator.normal(size=(TRIALS, seeds + 1)))
    inside = []
    for one in runs:
        found = prediction_interval(one[:-1])
        inside.append(found.low <= one[-1] <= found.high)
    assert 0.935 <= np.mean(inside) <= 0.965


@pytest.mark.parametrize("trials", SEEDS)
@pytest.mark.parametrize("truth", [0.0, 0.02, 0.3, 0.5, 0.97])
def test_a_failure_rate_is_held_whatever_it_is(trials, truth):
    probability = scipy.stats.binom.pmf(np.arange(trials + 1), trials, truth)
    held = [one.low <= truth <= one.high for one in (failure_rate(k, trials) for k in range(trials + 1))]
    assert probability @ held >= 0.95


def test_the_interval_of_a_failure_rate_is_that_of_scipy():
    for failures, trials in ((0, 5), (2, 9), (7, 7)):
        expected = scipy.stats.binomtest(failures, trials).proportion_ci(0.95, method="exact")
        found = failure_rate(failures, trials)
        np.testing.assert_allclose((found.low, found.high), expected, rtol=1e-9, atol=1e-12)


def test_failures_beyond_the_trials_are_refused_and_none_at_all_say_nothing():
    with pytest.raises(ValueError, match="6 failures in 5 trials"):
        failure_rate(6, 5)
    assert np.isnan(failure_rate(0, 0).low)


def test_errors_of_zero_have_no_logarithm_and_say_so():
    assert log_interval([0.0, 1.0]).reason == "1 of 2 values not positive and finite"
    assert prediction_interval([1.0]).reason


def test_a_line_without_an_interval_leaves_the_difference_without_one():
    table = Complexities([10, 20], [[100.0, 90.0], [200.0, 180.0]], [["observed"] * 2] * 2)
    found = slope_difference(table, table)
    assert np.isnan(found.low) and "above: 2 size(s)" in found.reason
    assert found.detail["dof"] is None


def test_two_lines_of_one_scatter_have_the_degrees_of_freedom_of_both():
    table = next(iter(studies(np.random.default_rng(5), SIZES[6], 5, 1.0)))
    found = slope_difference(table, table)
    assert found.detail["dof"] == pytest.approx(2 * (len(SIZES[6]) - 2))


def test_a_theory_needs_a_number_for_every_size():
    table = Complexities([10, 20], [[100.0], [200.0]], [["observed"]] * 2)
    with pytest.raises(ValueError, match="for each of the 2 sizes"):
        over_theory(table, [1.0])
