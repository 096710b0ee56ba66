"""The fall of a risk with samples, a counting bound over samples, and the largest ratio among several places."""

from itertools import combinations

import numpy as np
import pytest
import xarray
from scipy import stats

from hierlearn.core.protocols import STATUS
from hierlearn.core.registry import build
from hierlearn.pipeline.quantities._tables import complexities

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


@pytest.mark.parametrize(("common", "apart"), [(0.3, 0.0), (0.0, 0.4)])
def test_the_interval_of_a_slope_in_samples_has_that_of_the_line_and_that_of_the_seeds(common, apart):
    """common: scatter about the line that all seeds share; apart: of the seeds' own slopes."""
    rng, x = np.random.default_rng(1), np.log(SAMPLES)
    logs = rng.normal(0, 0.01, (len(SAMPLES), SEEDS)) + common * rng.standard_normal((len(SAMPLES), 1))
    logs -= x[:, None] * (1 + apart * rng.standard_normal(SEEDS))
    found = build("quantities", {"name": "samples_slope", "learner": "a", "sizes": SAMPLES}).measure(
        scores(np.exp(logs)), {}
    )
    line = stats.linregress(x, np.median(logs, axis=1))
    half = stats.t.ppf(0.975, len(SAMPLES) - 2) * line.stderr
    own = [stats.linregress(x, one).slope for one in logs.T]
    seeds = stats.t.interval(0.95, SEEDS - 1, np.mean(own), stats.sem(own))
    wanted = min(line.slope - half, seeds[0]), max(line.slope + half, seeds[1])
    assert (found.value, found.low, found.high) == pytest.approx((line.slope, *wanted))
    # Either may be the wider one.
    assert (wanted == pytest.approx(seeds)) == (apart > 0)


def test_one_seed_leaves_a_slope_in_samples_without_an_interval():
    cube = scores(1.0 / np.array(SAMPLES)[:, None]).isel(seed=[0])
    found = build("quantities", {"name": "samples_slope", "learner": "a", "sizes": SAMPLES}).measure(cube, {})
    assert found.value == pytest.approx(-1.0) and np.isnan(found.low) and found.reason


def test_a_failed_training_leaves_a_slope_in_samples_without_an_interval():
    cube = scores(1.0 / np.array(SAMPLES)[:, None])
    cube.status[0, 0, 0, 2, 1] = STATUS["diverged"]
    quantity = {"name": "samples_slope", "learner": "a", "sizes": SAMPLES}
    found = build("quantities", quantity).measure(cube, {})
    assert np.isnan(found.low)
    assert "training failed" in found.reason
    without = build("quantities", quantity | {"sizes": [100, 200, 800, 1600]}).measure(cube, {})
    assert np.isfinite(without.low)


def growing(samples_of):
    """n* is samples_of(d, seed) at three dimensions, by risks that fall from 1 to 0.01 there."""
    sizes, grid = [8, 10, 12], [10, 20, 40, 80, 160, 320]
    risks = np.ones((1, len(sizes), len(grid), SEEDS))
    for i, d in enumerate(sizes):
        for s in range(SEEDS):
            risks[0, i, :, s] = np.where(np.array(grid) >= samples_of(d, s), 0.01, 1.0)
    dims = ("learner", "dimension", "samples", "seed")
    coords = {"learner": ["a"], "dimension": sizes, "samples": grid, "seed": range(SEEDS)}
    status = np.full(risks.shape, STATUS["ok"], np.int8)
    return xarray.Dataset({"test_risk": (dims, risks), "status": (dims, status)}, coords)


def test_counting_over_samples_is_that_of_the_largest_dimension_with_a_crossing():
    """A kernel of N functions misses 1 - N / C(d, k) of a product of k signs."""
    quantity = {"name": "counting_log_ratio", "learner": "a", "order": 3, "alpha": 0.5, "threshold": 0.1}
    cube = growing(lambda d, seed: 10 * d if d < 12 else 999)
    found = build("quantities", quantity).measure(cube, {})
    crossing = np.log(complexities(cube, "a", {}, 0.1, axis="dimension").samples[1])
    needed = (1 - 0.1 / 0.75) * len(list(combinations(range(10), 3)))
    assert found.sizes == "d = 10"
    assert found.value == pytest.approx(np.mean(np.log(needed) - crossing))


def test_a_risk_that_zero_has_already_asks_for_no_points():
    quantity = {"name": "counting_log_ratio", "learner": "a", "order": 3, "alpha": 0.5, "threshold": 0.75}
    found = build("quantities", quantity).measure(growing(lambda d, seed: 10 * d), {})
    assert np.isnan(found.value)
    assert "nothing is counted" in found.reason


def test_dimensions_below_the_order_are_not_counted():
    quantity = {"name": "counting_log_ratio", "learner": "a", "order": 11, "alpha": 0.5, "threshold": 0.1}
    cube = growing(lambda d, seed: 10 * d if d < 12 else 999)
    assert "from k = 11 on" in build("quantities", quantity).measure(cube, {}).reason


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


def test_the_largest_mean_is_that_of_the_worst_place_with_an_interval_for_all():
    cube = scores(1.0, ("a",), (0.5, 1.0, 2.0))
    worst = np.array([2.0, 2.4, 2.2, 1.9])
    for i, values in enumerate((0.5 * worst, worst, np.ones(SEEDS))):
        cube.test_risk[0, 0, i] = values
    places = [{"scale": 0.5}, {"scale": 1.0}, {"scale": 2.0}]
    quantity = {"name": "largest_score_mean", "learner": "a", "samples": 400, "places": places}
    found = build("quantities", quantity).measure(cube, {})
    half = stats.t.ppf(1 - 0.025 / 3, SEEDS - 1) * stats.sem(worst)
    assert (found.value, found.low, found.high) == pytest.approx(
        (worst.mean(), worst.mean() - half, worst.mean() + half)
    )
    positive = build("quantities", quantity | {"positive": True}).measure(cube, {})
    assert positive.value == pytest.approx(stats.gmean(worst))


def test_a_failed_place_leaves_the_largest_ratio_without_an_interval():
    cube = scores(1.0, ("a", "b"), (0.5, 1.0))
    cube.status[0, 0, 1, 2, 0] = STATUS["diverged"]
    quantity = {"name": "largest_log_risk_ratio", "above": "a", "below": "b", "samples": 400}
    broken = build("quantities", quantity | {"places": [{"scale": 0.5}, {"scale": 1.0}]}).measure(cube, {})
    assert np.isnan(broken.high)
    sound = build("quantities", quantity | {"places": [{"scale": 0.5}]}).measure(cube, {})
    assert sound.high == pytest.approx(0)
