"""Gaps of trained randomised networks, on a small problem, against the learner trained by itself."""

from dataclasses import replace

import numpy as np
import pytest

from hierlearn.core.problem import ProblemFeatures, pose
from hierlearn.core.protocols import NullMonitor, TrainingData
from hierlearn.core.registry import build
from hierlearn.core.streams import Streams

PARAMETERS = {
    "name": "network_gap",
    "network": {"name": "randomised", "steps": 80},
    "widths": [8],
    "samples": [24, 48],
    "ridge": 1e-4,
    "noise": 5.0,
    "test": 3000,
}


def posed(dimension=6, spectrum="isotropic", noise=0.0, seeds=(3, 5)):
    inputs = build("inputs", {"name": "anisotropic_sphere", "spectrum": spectrum}, dimension=dimension)
    teacher = build("teachers", {"name": "ridge_polynomial", "basis": "monomial", "degree": 2})
    return pose(inputs, teacher, "unit", noise, Streams(("gap test",), seeds))


@pytest.fixture(scope="module")
def measured():
    return build("probes", PARAMETERS).measure(posed())


def test_the_target_has_no_part_in_it(measured):
    """Scaled to ten times its size and with noise of its own: the labels are noise alone in any case."""
    again = build("probes", PARAMETERS).measure(posed(noise=10.0))
    np.testing.assert_array_equal(again["gap"].values, measured["gap"].values)


def test_on_noise_the_gap_is_what_the_fit_gains_and_costs(measured):
    """Nothing can be learnt: test error exceeds that of the zero predictor, training error lies below it."""
    assert np.all(measured["gap"].values > 0)
    assert np.all(measured["train_error"].values < 40)


def test_shares_are_the_gap_over_the_bounds(measured):
    found = {name: variable.values for name, variable in measured.items()}
    n = np.array([24.0, 48.0])[None, :, None]
    bound = found["norm"] ** 2 / np.sqrt(n)
    np.testing.assert_allclose(found["isotropic_share"], found["gap"] / (bound * 6**-0.5))
    np.testing.assert_allclose(found["operator_share"], found["gap"] / (bound * found["operator_norm"]))


def test_the_network_is_the_learner_at_a_ridge_for_points_of_norm_one(measured):
    problem = posed()
    problem = replace(problem, held_out=2, factor=np.zeros(2), noise=5.0)
    raw = build("representations", {"name": "raw"})
    features = ProblemFeatures(problem, raw, raw.fit(None, problem.streams))
    learner = build("learners", {"name": "randomised", "steps": 80, "width": 8})
    sample = TrainingData(problem, features, 24, {"ridge": [1e-4 * 6.0**4]}, problem.streams.at("network_gap"))
    fit = learner.fit(sample, NullMonitor(), {})
    np.testing.assert_allclose(measured["train_error"].values[:, 0, 0], fit.train_risk, rtol=1e-6)


def test_a_network_without_signs_fits_more_noise():
    plain = PARAMETERS | {"network": {"name": "randomised", "steps": 80, "draws": "none"}}
    without, signed = (build("probes", one).measure(posed()) for one in (plain, PARAMETERS))
    assert np.all(without["train_error"].values < signed["train_error"].values)
