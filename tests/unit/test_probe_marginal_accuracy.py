"""Labels that change without a layer: against thresholds that are drawn, and the bound on their share."""

import numpy as np
import pytest

from hierlearn.core.problem import pose
from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.pipeline.measurements.marginal_accuracy import MarginalAccuracy


def posed(teacher="quadratic_densenet", law="gaussian", **given):
    return pose(
        build("inputs", {"name": law}, dimension=10),
        build("teachers", {"name": teacher} | given),
        "unit",
        0.0,
        Streams(("accuracy",), (0, 1)),
    )


def test_shares_are_those_of_labels_with_a_threshold_that_is_a_coordinate():
    problem = posed(kind="classes", gap=0.3)
    found = MarginalAccuracy(layers=[2, 3], gaps=[0.3], points=50_000).measure(problem)
    x = problem.inputs.sample(problem.streams.at("other points"), "test", 0, 200_000)
    parts = {name: part[..., 0] for name, part in problem.teacher.parts(problem.state, x).items()}
    np.testing.assert_allclose(found["alpha"].values[:, :, 0], problem.state["alphas"], rtol=1e-9)
    whole = sum(parts.values())
    mean = (problem.state["alphas"] * problem.state["layer_means"])[:, 1, None]
    for name, i, without in (
        ("flip", 0, whole - parts["layer_2"]),
        ("flip", 1, whole - parts["layer_3"]),
        ("flip_centred", 1, whole - parts["layer_3"] + mean),
        ("flip_above", 0, parts["threshold"]),
    ):
        changed = np.mean(np.sign(whole) != np.sign(without), axis=1)
        error = np.sqrt(changed / whole.shape[1])
        assert np.all(np.abs(found[name].values[:, i, 0] - changed) < 6 * error), name


def test_no_share_exceeds_its_bound_and_rates_are_shares_per_weight():
    found = {k: v.values for k, v in MarginalAccuracy(layers=[2, 3, 4]).measure(posed(depth=4, law="uniform")).items()}
    assert found["flip"].shape == (2, 3, 3)
    assert np.all(found["flip"] <= found["flip_bound"])
    np.testing.assert_allclose(found["flip_above_rate"] * found["alpha"], found["flip_above"])
    np.testing.assert_allclose(found["squared_error_rate"] * found["alpha"], found["squared_error"])
    np.testing.assert_array_equal(found["flip"][:, 2], found["flip_above"][:, 2])


def test_a_small_layer_changes_labels_in_proportion_to_its_weight():
    found = MarginalAccuracy(gaps=[1e-3, 1e-4]).measure(posed())
    large, small = found["flip"].values[:, 0].T
    np.testing.assert_allclose(large / small, 10, rtol=0.02)


def test_the_squared_error_that_a_small_layer_causes_goes_as_its_weight_squared():
    found = MarginalAccuracy(gaps=[1e-3, 1e-4]).measure(posed())
    large, small = found["squared_error"].values[:, 0].T
    np.testing.assert_allclose(large / small, 100, rtol=0.02)


def test_other_teachers_and_layers_that_are_not_there_are_refused():
    with pytest.raises(ValueError, match="expected the teacher quadratic_densenet"):
        MarginalAccuracy().measure(posed("ridge_polynomial"))
    with pytest.raises(ValueError, match="layer 4; expected at most the depth 3"):
        MarginalAccuracy(layers=[4]).measure(posed())
