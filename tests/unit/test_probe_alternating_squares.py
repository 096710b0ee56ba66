"""Alternating least squares on three-layer quadratic targets."""

import numpy as np
import pytest

from hierlearn.core.problem import pose
from hierlearn.core.registry import build
from hierlearn.core.streams import Streams


def found(points=4000, rounds=4, **teacher):
    inputs = build("inputs", {"name": "gaussian"}, dimension=6)
    described = {"name": "quadratic_densenet", "widths": [2, 1]} | teacher
    problem = pose(inputs, build("teachers", described), "paper", 0.0, Streams(("alternating",), (3, 5)), 100)
    probe = build("probes", {"name": "alternating_squares", "points": points, "rounds": rounds})
    return {name: one.values for name, one in probe.measure(problem).items()}


def test_a_target_of_layer_2_alone_is_found_in_one_round():
    got = found(alphas=[1.0, 0.0])
    assert np.all(got["first_risk"] < 1e-15)
    assert np.all(got["first_feature_error"] < 1e-12)


def test_with_a_third_layer_the_error_falls_and_the_features_stay():
    got = found(gap=0.05)
    assert np.all(got["risk_fall"] < 0.5 * got["feature_fall"])
    np.testing.assert_allclose(got["risk_fall"], got["last_risk"] / got["first_risk"])
    np.testing.assert_allclose(got["last_feature_error"], got["first_feature_error"] * got["feature_fall"])


def test_the_first_features_are_off_as_the_weight_of_the_third_layer():
    errors = [found(gap=gap, rounds=2, points=8000)["first_feature_error"] for gap in (0.01, 0.1)]
    np.testing.assert_allclose(np.log(errors[1] / errors[0]) / np.log(10), 2, atol=0.3)


def test_another_depth_is_refused():
    with pytest.raises(ValueError, match="depth 3"):
        found(depth=2, widths=[2])
