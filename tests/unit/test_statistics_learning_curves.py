"""Where a learning curve crosses a threshold."""

from typing import NamedTuple

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from hierlearn.statistics.learning_curves import (
    LEFT_CENSORED,
    MISSING,
    OBSERVED,
    RIGHT_CENSORED,
    crossings,
    non_increasing,
)

GRID = np.array([10, 20, 40, 80])
NAN = np.nan


class Crossing(NamedTuple):
    samples: float
    status: str


def crossing(samples, risk, threshold):
    """n* of one curve (N,), and on which side of it n* lies."""
    values, status = crossings(samples, np.asarray(risk, dtype=float), threshold)
    return Crossing(float(values), str(status))


def test_the_crossing_is_interpolated_in_log_n_and_log_risk():
    found = crossing(GRID, [1.0, 0.8, 0.8 / 4, 0.1], 0.4)
    assert found.status == OBSERVED
    assert found.samples == pytest.approx(20 * 2**0.5)


def test_a_power_law_is_crossed_exactly_where_it_equals_the_threshold():
    n = np.geomspace(10, 10_000, 17)
    assert crossing(n, (n / 50.0) ** -1.3, 0.1).samples == pytest.approx(50 * 10 ** (1 / 1.3))


def test_a_risk_equal_to_the_threshold_counts_as_reached():
    assert crossing(GRID, [1.0, 0.5, 0.3, 0.2], 0.5).samples == pytest.approx(20)
    first = crossing(GRID, [0.5, 0.4, 0.3, 0.2], 0.5)
    assert (first.samples, first.status) == (10, OBSERVED)


def test_a_curve_that_never_falls_to_the_threshold_is_right_censored_at_its_last_visited_size():
    assert crossing(GRID, [1.0, 0.9, 0.8, 0.7], 0.5).samples == 80
    found = crossing(GRID, [1.0, 0.9, NAN, NAN], 0.5)
    assert (found.samples, found.status) == (20, RIGHT_CENSORED)


def test_a_curve_already_below_at_its_first_visited_size_is_left_censored_there():
    found = crossing(GRID, [NAN, 0.4, 0.3, 0.2], 0.5)
    assert (found.samples, found.status) == (20, LEFT_CENSORED)


def test_a_curve_without_a_visited_cell_is_missing():
    found = crossing(GRID, [NAN] * 4, 0.5)
    assert found.status == MISSING
    assert np.isnan(found.samples)


def test_cells_that_were_not_visited_change_nothing_about_the_others():
    with_gap = crossing(GRID, [1.0, NAN, 0.25, NAN], 0.5)
    without = crossing(GRID[[0, 2]], [1.0, 0.25], 0.5)
    assert with_gap == without


def test_a_dip_below_the_threshold_that_does_not_last_is_not_a_crossing():
    found = crossing(GRID, [1.0, 0.45, 0.9, 0.2], 0.5)
    assert 40 < found.samples < 80


def test_a_rise_after_the_crossing_that_the_fit_evens_out_keeps_it():
    assert 10 < crossing(GRID, [1.0, 0.3, 0.35, 0.2], 0.5).samples < 20


def test_noise_on_a_plateau_above_the_threshold_does_not_cross_it():
    n = 2.0 ** np.arange(4, 14)
    risk = np.array([1.0, 0.62, 0.58, 0.47, 0.63, 0.6, 0.57, 0.61, 0.2, 0.05])
    assert 2**11 < crossing(n, risk, 0.5).samples < 2**12


def test_an_exploded_or_a_vanished_risk_counts_for_no_more_than_a_decade():
    assert crossing(GRID, [1.0, np.inf, 0.25, 0.1], 0.5) == crossing(GRID, [1.0, 5.0, 0.25, 0.1], 0.5)
    assert crossing(GRID, [1.0, 0.6, 0.0, 0.0], 0.5) == crossing(GRID, [1.0, 0.6, 0.05, 0.05], 0.5)
    assert crossing(GRID, [np.inf] * 4, 0.5).status == RIGHT_CENSORED


def test_scaling_risk_and_threshold_together_changes_nothing():
    risk = np.array([0.9, 0.7, 0.72, 0.1])
    assert crossing(GRID, risk, 0.5).samples == pytest.approx(crossing(GRID, 1e-7 * risk, 0.5e-7).samples)


def test_many_curves_at_once_give_what_each_gives_alone():
    generator = np.random.default_rng(0)
    n = np.unique(np.round(2 ** (np.arange(4, 24) / 2)))
    middle = np.exp(np.log(60) + 2 * generator.normal(size=(3, 40, 1)))
    risk = middle / n * np.exp(0.4 * generator.normal(size=(3, 40, len(n))))
    risk[generator.random(risk.shape) < 0.4] = NAN
    values, status = crossings(n, risk, 0.5)
    assert values.shape == status.shape == (3, 40)
    assert set(status.flat) == {OBSERVED, LEFT_CENSORED, RIGHT_CENSORED}
    for index in np.ndindex(3, 40):
        alone = crossing(n, risk[index], 0.5)
        assert alone.samples == values[index]
        assert alone.status == status[index]


def test_the_monotone_fit_is_the_isotonic_regression_of_scipy():
    generator = np.random.default_rng(1)
    for length in (1, 2, 7, 30):
        values = generator.normal(size=(50, length)) - 0.05 * np.arange(length)
        expected = [isotonic_regression(row, increasing=False).x for row in values]
        np.testing.assert_allclose(non_increasing(values), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("samples", "risk", "threshold", "complaint"),
    [
        ([10, 10], [1.0, 0.5], 0.5, "increases"),
        ([0, 10], [1.0, 0.5], 0.5, "positive"),
        ([10, 20], [1.0, -0.5], 0.5, "negative"),
        ([10, 20], [1.0, 0.5], 0.0, "threshold"),
        ([10, 20], [1.0, 0.5, 0.2], 0.5, "shape"),
    ],
)
def test_input_that_is_no_learning_curve_is_refused(samples, risk, threshold, complaint):
    with pytest.raises(ValueError, match=complaint):
        crossing(samples, risk, threshold)
