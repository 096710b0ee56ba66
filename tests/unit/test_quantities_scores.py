"""Means of scores, and norms at matched training error."""

import json

import numpy as np
import pytest
import xarray
from scipy import stats

from hierlearn.core.protocols import STATUS
from hierlearn.pipeline.quantities.scores import LowestScoreMean, NormAtError, PublishedRatio, ScoreMean, ScoreOverRoot
from hierlearn.statistics.learning_curves import value_at

RISKS = np.array([0.1, 0.2, 0.4, 0.3])


def cube(status="ok"):
    axes = ("learner", "samples", "seed")
    return xarray.Dataset(
        {"test_risk": (axes, RISKS[None, None]), "status": (axes, np.full((1, 1, 4), STATUS[status]))},
        coords={"learner": ["net"], "samples": [50], "seed": range(4)},
    )


@pytest.mark.parametrize("log", [False, True])
def test_a_mean_has_the_t_interval_of_scipy(log):
    measured = ScoreMean(learner="net", samples=50, log=log).measure(cube(), {})
    values = np.log(RISKS) if log else RISKS
    expected = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    assert measured.value == pytest.approx(np.mean(values))
    assert (measured.low, measured.high) == pytest.approx(expected)


def test_a_failed_training_leaves_no_interval():
    measured = ScoreMean(learner="net", samples=50).measure(cube("diverged"), {})
    assert not np.isfinite(measured.low)
    assert "training failed" in measured.reason


def among(*risks, **given):
    """The lowest mean of learners a, b, … with these risks (learners, seeds)."""
    axes, names = ("learner", "samples", "seed"), [chr(97 + i) for i in range(len(risks))]
    values = np.array(risks)[:, None]
    found = xarray.Dataset(
        {"test_risk": (axes, values), "status": (axes, np.full(values.shape, STATUS["ok"]))},
        coords={"learner": names, "samples": [50], "seed": range(values.shape[-1])},
    )
    found.status.loc[given.pop("failed", {"learner": []})] = STATUS["diverged"]
    return LowestScoreMean(predictors=names, samples=50, positive=True, **given).measure(found, {})


def test_the_best_of_several_learners_has_the_lowest_mean():
    low, high = stats.t.interval(0.95, 3, np.mean(np.log(RISKS)), stats.sem(np.log(RISKS)))
    found = among(2 * RISKS, RISKS, 3 * RISKS)
    assert found.value == pytest.approx(stats.gmean(RISKS))
    assert found.low == pytest.approx(np.exp(low))
    # The upper end holds for the three learners together, so that it is no lower than that of the best alone.
    wide = stats.t.interval(1 - 0.05 / 3, 3, np.mean(np.log(RISKS)), stats.sem(np.log(RISKS)))[1]
    assert np.exp(high) < found.high == pytest.approx(np.exp(wide))


def test_a_learner_of_wide_scatter_may_be_the_best():
    certain, scattered = np.array([0.3, 0.31, 0.3, 0.31]), np.array([0.1, 0.9, 0.2, 0.9])
    assert among(certain).low > 0.29
    assert among(certain, scattered).low < 0.1


def test_one_failed_training_among_several_learners_leaves_no_interval():
    diverged = np.where([False, True, False, False], np.nan, 2 * RISKS)
    found = among(RISKS, diverged, failed={"learner": ["b"], "seed": 1})
    assert not np.isfinite(found.low)
    assert "b: training failed" in found.reason
    assert found.detail["b"]["value"] is None
    json.dumps(found.detail, allow_nan=False)


def test_the_norm_is_read_where_a_power_law_crosses():
    steps = np.array([1.0, 10, 100, 1000])
    losses, norms = steps**-0.5, 3 * steps**0.25
    for error in (0.5, 0.2, 0.05):
        assert value_at(losses, norms, error) == pytest.approx(3 * error**-0.5)
    assert np.isnan(value_at(losses, norms, 1e-3))
    assert value_at(losses, norms, 2.0) == norms[0]


def test_a_seed_that_never_gets_there_is_named():
    steps = np.array([1, 10, 100])
    losses = np.array([[1.0, 0.5, 0.1]] * 3 + [[1.0, 0.9, 0.8]])
    axes = ("learner", "samples", "seed", "step")
    traces = xarray.Dataset(
        {"train_loss": (axes, losses[None, None]), "frobenius_norm": (axes, np.ones((1, 1, 4, 3)))},
        coords={"learner": ["net"], "samples": [50], "seed": range(4), "step": steps},
    )
    measured = NormAtError(learner="net", samples=50, error=0.2).measure(cube(), {}, traces)
    assert not np.isfinite(measured.low)
    assert "1 seeds stay above" in measured.reason
    assert NormAtError(learner="net", samples=50, error=0.95).measure(cube(), {}, traces).value == 1


def by_width(*risks):
    """One learner at some widths, each with the risks of two seeds; NaN where it was not trained."""
    axes = ("learner", "width", "samples", "seed")
    values = np.array(risks)[None, :, None]
    return xarray.Dataset(
        {"test_risk": (axes, values), "status": (axes, np.zeros(values.shape, np.int8))},
        coords={"learner": ["net"], "width": range(len(risks)), "samples": [50], "seed": range(2)},
    )


def test_the_lowest_over_an_axis_is_taken_for_every_seed_where_it_was_trained():
    scores = by_width([0.3, 0.2], [0.1, 0.5], [np.nan, np.nan])
    assert ScoreMean(learner="net", samples=50, lowest_over="width").measure(scores, {}).value == pytest.approx(0.15)
    assert ScoreMean(learner="net", samples=50, where={"width": 0}).measure(scores, {}).value == pytest.approx(0.25)
    assert np.isnan(
        ScoreMean(learner="net", samples=50, lowest_over="width").measure(by_width([0.3, np.nan]), {}).value
    )


def test_a_failed_training_at_one_width_leaves_no_interval_for_the_lowest_over_them():
    scores = by_width([0.3, 0.2], [0.1, 0.5])
    scores.status[0, 1, 0, 0] = STATUS["diverged"]
    assert not np.isfinite(ScoreMean(learner="net", samples=50, lowest_over="width").measure(scores, {}).low)


def test_the_lowest_over_an_axis_is_compared_with_the_lower_end_of_a_published_range():
    table = {"place": "Figure 7", "coordinates": {"beta": "b"}, "rows": [{"beta": 1, "low": 0.1, "high": 0.4}]}
    scores = by_width([0.3, 0.2], [0.2, 0.5]).expand_dims(beta=[1])
    ratio = PublishedRatio(published=table, learner="net", samples=50, where={"beta": 1}, lowest_over="width")
    assert ratio.measure(scores, {}).value == pytest.approx(2.0)
    with pytest.raises(ValueError, match="1 row without a value"):
        PublishedRatio(published=table, learner="net", samples=50, where={"beta": 1, "width": 0}).measure(scores, {})


def test_a_score_over_the_root_of_a_squared_error_is_a_geometric_mean_over_seeds():
    axes = ("learner", "samples", "seed")
    nothing, squared = np.full(4, np.nan), np.array([0.01, 0.04, 0.02, 0.05])
    scores = xarray.Dataset(
        {
            "cross_entropy": (axes, np.array([RISKS, nothing])[:, None]),
            "squared_error": (axes, np.array([nothing, squared])[:, None]),
            "status": (axes, np.full((2, 1, 4), STATUS["ok"])),
        },
        coords={"learner": ["classes", "values"], "samples": [50], "seed": range(4)},
    )
    measured = ScoreOverRoot(above="classes", below="values", samples=50).measure(scores, {})
    logs = np.log(RISKS) - np.log(squared) / 2
    expected = np.exp(stats.t.interval(0.95, 3, np.mean(logs), stats.sem(logs)))
    assert measured.value == pytest.approx(np.exp(np.mean(logs)))
    assert (measured.low, measured.high) == pytest.approx(expected)
