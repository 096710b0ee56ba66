"""The fall of a risk with samples, the growth of a counting bound, and the largest ratio among several places."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
import xarray
from scipy import stats

from hierlearn.core.protocols import STATUS
from hierlearn.core.registry import build

SAMPLES, SEEDS = [100, 200, 400, 800, 1600], 4


def scores(risk, learners=("a",), scales=(1.0,)):
    """A cube of risks over (learner, dimension, scale, samples, seed) with all trainings sound."""
    axes = ("learner", "dimension", "scale", "samples", "seed")
    values = np.broadcast_to(risk, (len(learners), 1, len(scales), len(SAMPLES), SEEDS)).astype(float)
    coordinates = {"learner": list(learners), "dimension": [40], "scale": list(scales), "samples": SAMPLES}
    return xarray.Dataset(
        {"test_risk": (axes, values.copy()), "status": (axes, np.full(values.shape, STATUS["ok"]))},
        coords=coordinates | {"seed": range(SEEDS)},
    )


def test_a_power_of_the_samples_has_its_exponent_whatever_the_order_of_the_sizes():
    cube = scores(3.0 * np.array(SAMPLES)[:, None] ** -0.7 * np.array([0.8, 1.0, 1.0, 1.2]))
    for sizes in ([100, 400, 1600], [1600, 100, 400]):
        found = build("quantities", {"name": "samples_slope", "learner": "a", "sizes": sizes}).measure(cube, {})
        assert found.value == pytest.approx(-0.7)
        assert found.sizes == "n = 100–1600"


def test_the_interval_of_a_slope_in_samples_is_that_of_a_line_through_the_medians():
    noise = np.random.default_rng(1).normal(0, 0.2, (len(SAMPLES), SEEDS))
    cube = scores(np.exp(noise) / np.array(SAMPLES)[:, None])
    found = build("quantities", {"name": "samples_slope", "learner": "a", "sizes": SAMPLES}).measure(cube, {})
    line = stats.linregress(np.log(SAMPLES), np.median(noise, axis=1) - np.log(SAMPLES))
    half = stats.t.ppf(0.975, len(SAMPLES) - 2) * line.stderr
    assert (found.value, found.low, found.high) == pytest.approx((line.slope, line.slope - half, line.slope + half))


def test_a_failed_training_leaves_a_slope_in_samples_without_an_interval():
    cube = scores(1.0 / np.array(SAMPLES)[:, None])
    cube.status[0, 0, 0, 2, 1] = STATUS["diverged"]
    quantity = {"name": "samples_slope", "learner": "a", "sizes": SAMPLES}
    found = build("quantities", quantity).measure(cube, {})
    assert np.isnan(found.low)
    assert "training failed" in found.reason
    without = build("quantities", quantity | {"sizes": [100, 200, 800, 1600]}).measure(cube, {})
    assert np.isfinite(without.low)


def test_counting_grows_as_the_number_of_products():
    """N is a fixed share of the number of sets of k of d coordinates, so that the share has no part in the slope."""
    sizes = [8, 10, 12, 15]
    counts = [len(list(combinations(range(d), 3))) for d in sizes]
    line = stats.linregress(np.log(sizes), np.log(counts))
    for risk in (0.01, 0.1):
        quantity = {"name": "counting_exponent", "sizes": sizes, "order": 3, "alpha": 0.5, "risk": risk}
        found = build("quantities", quantity).measure(None, {})
        assert found.value == pytest.approx(line.slope)
        assert found.low < found.value < found.high
        assert np.exp(found.detail["medians"][0]) == pytest.approx((1 - risk / 0.75) * comb(8, 3))


def test_a_risk_that_zero_has_already_asks_for_no_points():
    quantity = {"name": "counting_exponent", "sizes": [8, 10, 12], "order": 3, "alpha": 0.5, "risk": 0.75}
    assert np.isnan(build("quantities", quantity).measure(None, {}).value)
    small = quantity | {"risk": 0.1, "sizes": [2, 10, 12]}
    assert "d is below k" in build("quantities", small).measure(None, {}).reason


def test_the_largest_ratio_is_that_of_the_worst_place_with_an_interval_for_all():
    base = np.array([1.0, 1.1, 0.9, 1.0])
    above = np.array([2.0, 2.4, 2.2, 1.9])
    cube = scores(1.0, ("a", "b"), (0.5, 1.0, 2.0))
    for i, values in enumerate((base, above, 0.5 * base)):
        cube.test_risk[0, 0, i] = values
    cube.test_risk[1] = base
    places = [{"scale": 0.5}, {"scale": 1.0}, {"scale": 2.0}]
    quantity = {"name": "largest_log_risk_ratio", "above": "a", "below": "b", "samples": 400, "places": places}
    found = build("quantities", quantity).measure(cube, {})
    logs = np.log(above / base)
    half = stats.t.ppf(1 - 0.025 / 3, SEEDS - 1) * stats.sem(logs)
    assert (found.value, found.low, found.high) == pytest.approx((logs.mean(), logs.mean() - half, logs.mean() + half))
    alone = build("quantities", quantity | {"places": places[1:2]}).measure(cube, {})
    assert alone.high < found.high


def test_a_failed_place_leaves_the_largest_ratio_without_an_interval():
    cube = scores(1.0, ("a", "b"), (0.5, 1.0))
    cube.status[0, 0, 1, 2, 0] = STATUS["diverged"]
    quantity = {"name": "largest_log_risk_ratio", "above": "a", "below": "b", "samples": 400}
    broken = build("quantities", quantity | {"places": [{"scale": 0.5}, {"scale": 1.0}]}).measure(cube, {})
    assert np.isnan(broken.high)
    sound = build("quantities", quantity | {"places": [{"scale": 0.5}]}).measure(cube, {})
    assert sound.high == pytest.approx(0)
