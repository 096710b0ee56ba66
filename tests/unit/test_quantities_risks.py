"""Quantities on risks at given numbers of samples."""

import numpy as np
import pytest
import xarray

from hierlearn.core.protocols import STATUS
from hierlearn.core.registry import build
from hierlearn.theory.dimensions import harmonics

DIMENSIONS, SAMPLES, SEEDS, RIDGES = [6, 9, 12], [10, 20, 40], [0, 1, 2, 3], [0.1, 0.01]
SPREAD = np.array([0.8, 0.9, 1.1, 1.3])


def cube(**laws):
    """Scores of learners whose risk is law(d, n, ridge) times a factor of the seed that all learners share."""
    axes = ("learner", "dimension", "degree", "ridge", "samples", "seed")
    risk = np.array(
        [[[[[law(d, n, r) * SPREAD for n in SAMPLES] for r in RIDGES]] for d in DIMENSIONS] for law in laws.values()]
    )
    return xarray.Dataset(
        {
            "test_risk": (axes, risk),
            "train_risk": (axes, risk / 2),
            "status": (axes, np.zeros(risk.shape, np.int8)),
        },
        {
            "learner": list(laws),
            "dimension": DIMENSIONS,
            "degree": [2],
            "ridge": RIDGES,
            "samples": SAMPLES,
            "seed": SEEDS,
        },
    )


def measured(scores, **description):
    return build("quantities", description).measure(scores, {})


def test_the_ratio_of_risks_is_paired_by_seed():
    scores = cube(a=lambda d, n, r: 3.0, b=lambda d, n, r: 1.0 + (r == 0.1))
    where = {"dimension": 9, "ridge": 0.01}
    found = measured(scores, name="log_risk_ratio", above="a", below="b", where=where, samples=20)
    assert (found.value, found.low, found.high) == pytest.approx((np.log(3),) * 3)
    other = measured(
        scores, name="log_risk_ratio", above="a", below="b", where=where, below_where={"ridge": 0.1}, samples=20
    )
    assert other.value == pytest.approx(np.log(1.5))


def test_what_only_the_other_learner_sweeps_needs_no_value():
    scores = cube(a=lambda d, n, r: 3.0, b=lambda d, n, r: 1.0 + (r == 0.1))
    given = {"name": "log_risk_ratio", "above": "a", "below": "b", "where": {"dimension": 9}, "samples": 20}
    assert measured(scores, **given, below_where={"ridge": 0.1}).value == pytest.approx(np.log(1.5))
    with pytest.raises(ValueError, match="learner b: the claim leaves ridge open"):
        measured(scores, **given, above_where={"ridge": 0.1})


def test_a_ratio_that_rests_on_a_failed_training_has_no_interval():
    scores = cube(a=lambda d, n, r: 3.0, b=lambda d, n, r: 1.0)
    scores.status.loc[{"learner": "b", "seed": 2}] = STATUS["diverged"]
    where = {"dimension": 9, "ridge": 0.01}
    found = measured(scores, name="log_risk_ratio", above="a", below="b", where=where, samples=20)
    assert np.isnan(found.low)
    assert "b: training failed at n = 20" in found.reason


def test_the_slope_of_a_risk_is_along_the_named_axis():
    scores = cube(a=lambda d, n, r: d**1.5 / n)
    found = measured(scores, name="risk_slope", learner="a", axis="dimension", samples=40, where={"ridge": 0.1})
    assert found.value == pytest.approx(1.5)


def test_the_slope_of_what_a_risk_explains_is_that_of_what_it_lacks_to_one():
    scores = cube(a=lambda d, n, r: 0.0)
    scores["test_risk"] = scores.test_risk + 1.0 - 2.0 * scores.dimension.astype(float) ** -0.5
    given = {"name": "risk_slope", "learner": "a", "samples": 20, "where": {"ridge": 0.1}}
    assert measured(scores, **given, explained=True).value == pytest.approx(-0.5)
    assert measured(scores, **given).value > 0.1


def test_the_slope_of_a_risk_is_along_the_values_named_beforehand_alone():
    scores = cube(a=lambda d, n, r: d**1.5 if d < 12 else d**3)
    given = {"name": "risk_slope", "learner": "a", "samples": 40, "where": {"ridge": 0.1}}
    found = measured(scores, **given, values=[6, 9])
    assert found.value == pytest.approx(1.5)


def test_the_largest_samples_are_those_trained_at_each_place():
    scores = cube(a=lambda d, n, r: n)
    for d, most in zip(DIMENSIONS, SAMPLES, strict=True):
        beyond = {"dimension": d, "samples": [n for n in SAMPLES if n > most]}
        scores.test_risk.loc[beyond], scores.status.loc[beyond] = np.nan, STATUS["over_cap"]
    found = measured(scores, name="risk_slope", learner="a", samples="largest", where={"ridge": 0.1})
    wanted = np.polyfit(np.log(DIMENSIONS), np.log(SAMPLES), 1)[0]
    assert found.value == pytest.approx(wanted)


def test_a_training_that_failed_at_the_largest_samples_is_not_replaced_by_one_at_fewer():
    scores = cube(a=lambda d, n, r: d**2.0 / n)
    for broken in (SEEDS[:1], SEEDS[:3]):
        here = {"dimension": 9, "samples": 40, "seed": broken}
        scores.test_risk.loc[here], scores.status.loc[here] = np.nan, STATUS["diverged"]
        found = measured(scores, name="risk_slope", learner="a", samples="largest", where={"ridge": 0.1})
        assert np.isnan(found.low) and "a: training failed at n = largest" in found.reason


def bound(d, n):
    return 1 - n / harmonics(d, 2)


def test_the_counting_bound_is_checked_cell_by_cell_against_the_mean_over_seeds():
    scores = cube(a=lambda d, n, r: bound(d, n) * (1.02 - 0.1 * r) / SPREAD.mean(), b=lambda d, n, r: 1.0)
    found = measured(scores, name="counting_bound", predictors=["a", "b"])
    below = sum(n < harmonics(d, 2) for d in DIMENSIONS for n in SAMPLES)
    # What only the other learner sweeps adds no cells.
    assert (found.value, found.detail["cases"]) == (pytest.approx(1 / 1.01), (2 + 1) * below)
    assert found.value == pytest.approx(1 / 1.01)


def test_labels_that_choose_among_kernels_have_the_spans_of_all():
    scores = cube(a=lambda d, n, r: max(bound(d, 2 * n), 1e-9) * 1.01 / SPREAD.mean())
    found = measured(scores, name="counting_bound", predictors=["a"], spans=2)
    below = sum(2 * n < harmonics(d, 2) for d in DIMENSIONS for n in SAMPLES)
    assert (found.value, found.detail["cases"]) == (pytest.approx(1 / 1.01), below)
    assert found.value == pytest.approx(1 / 1.01)
    assert measured(scores, name="counting_bound", predictors=["a"]).value > 1


def test_one_cell_below_the_bound_is_found():
    scores = cube(a=lambda d, n, r: 1.05 if (d, n, r) != (9, 20, 0.1) else bound(9, 20) * 0.9)
    found = measured(scores, name="counting_bound", predictors=["a"])
    assert found.value > 1


def test_cells_beyond_the_count_are_no_cases():
    scores = cube(a=lambda d, n, r: 1.0).sel(samples=[40], dimension=[6])
    found = measured(scores, name="counting_bound", predictors=["a"])
    assert np.isnan(found.value)
    assert "no cell" in found.reason


def test_a_slope_may_take_another_value_of_a_coordinate_at_every_value_of_its_axis():
    scores = cube(a=lambda d, n, r: d**3 if (r == 0.1) == (d == 9) else 1.0)
    where = {"degree": 2, "ridge": [0.01, 0.1, 0.01]}
    found = measured(scores, name="risk_slope", learner="a", samples=40, where=where)
    assert found.value == pytest.approx(3)


def test_the_lowest_slope_is_that_of_the_measure_that_falls_least():
    scores = cube(a=lambda d, n, r: d**-2.0)
    scores["other"] = scores.test_risk**0.5 * np.array([1.0, 1.1, 1.0])[:, None, None, None, None]
    given = {"name": "lowest_risk_slope", "learner": "a", "samples": 20, "where": {"ridge": 0.1, "degree": 2}}
    both = measured(scores, **given, risks=["test_risk", "other"])
    alone = measured(scores, name="risk_slope", learner="a", samples=20, where=given["where"], risk="test_risk")
    # That of the other is -1 about, which is higher; the lower end is the steeper one's.
    assert both.value == pytest.approx(alone.value) == pytest.approx(-2)
    steep = measured(scores, **given, risks=["other"])
    assert (both.low, both.value) == pytest.approx((min(alone.low, steep.low), min(alone.value, steep.value)))
    assert both.high <= measured(scores, **given, risks=["other", "test_risk"]).high


def test_a_fall_before_a_place_is_compared_with_the_fall_after_it():
    levels = {10: 1.0, 20: 0.1, 40: 0.05}
    scores = cube(a=lambda d, n, r: levels[n] * (1 if d == 6 else r))
    scores = scores.sel(samples=20, drop=True).expand_dims(samples=[7]).copy()
    scores["test_risk"] = scores.test_risk * scores.dimension**-1.0
    places = [[{"dimension": d} for _ in range(2)] for d in DIMENSIONS]
    for part, ridge in zip(places, (0.1, 0.01, 0.1), strict=True):
        part[1] = part[1] | {"ridge": ridge}
        part[0] = part[0] | {"ridge": 0.1}
    keys = dict(zip(("first", "middle", "last"), places, strict=True))
    found = measured(scores, name="log_fall_ratio", of=["a", "a"], samples=7, where={"degree": 2}, **keys)
    risk = scores.test_risk.sel(learner="a", degree=2, samples=7).mean("seed")
    falls = []
    for case in range(2):
        a, b, c = (np.log(float(risk.sel(part[case]))) for part in places)
        falls.append((a - b) - (b - c))
    # The factor of a seed is that of all three places.
    assert (found.value, found.low, found.high) == pytest.approx((min(falls),) * 3)
