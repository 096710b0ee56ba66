"""Linear learners against normal equations and optimality conditions."""

import numpy as np
import pytest

from hierlearn.core.problem import ProblemFeatures, pose
from hierlearn.core.protocols import STATUS, NullMonitor, TrainingData
from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.learners.linear import Linear

STREAMS = Streams(("linear learners",), (1, 2))


def posed(features=30, noise=0.2, kind="regression"):
    teacher = {"name": "ridge_polynomial", "degree": 2}
    law = "sphere"
    if kind == "classes":
        teacher, law = {"name": "parity", "kind": "classes"}, "hypercube"
    inputs = build("inputs", {"name": law}, dimension=6)
    problem = pose(inputs, build("teachers", teacher), "unit", noise, STREAMS, held_out=150)
    seen = build("representations", {"name": "neural", "features": "relu", "count": features, "whiten": "none"})
    return problem, ProblemFeatures(problem, seen, seen.fit(problem.unlabelled(256), STREAMS))


def fitted(learner, problem, features, ridges, samples=60):
    return learner.fit(TrainingData(problem, features, samples, {"ridge": ridges}, STREAMS), NullMonitor(), {})


@pytest.mark.parametrize("features", [30, 90])
def test_ridge_solves_the_normal_equations(features):
    """With fewer features than points, and with more."""
    problem, seen = posed(features)
    fit, h, y = fitted(Linear(), problem, seen, [1e-2]), seen.draw("training", 60), problem.draw("training", 60).labels
    for seed in range(2):
        x = h[seed].astype(float)
        strength = 60 * 1e-2 * np.mean(np.sum(x**2, axis=1))
        wanted = np.linalg.solve(x.T @ x + strength * np.eye(features), x.T @ y[seed])
        np.testing.assert_allclose(fit.state["weights"][seed], wanted, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("features", [30, 90])
def test_lasso_meets_its_optimality_conditions(features):
    """(2/n) h_d . r = s sign(w_d) where w_d is not 0, and at most s elsewhere."""
    problem, seen = posed(features)
    learner, ridges = Linear(penalty="lasso", tolerance=1e-9), [0.3, 0.02]
    h, y = seen.draw("training", 60), problem.draw("training", 60).labels
    for ridge in ridges:
        fit = fitted(learner, problem, seen, [ridge])
        assert fit.status.tolist() == [STATUS["ok"]] * 2
        for seed in range(2):
            x, labels, w = h[seed].astype(float), y[seed, :, 0], fit.state["weights"][seed, :, 0]
            strength = ridge * np.max(np.abs(2 / 60 * x.T @ labels))
            slope = 2 / 60 * x.T @ (labels - x @ w)
            used = w != 0
            assert 0 < used.sum() < features
            np.testing.assert_allclose(slope[used], strength * np.sign(w[used]), rtol=2e-3)
            assert np.all(np.abs(slope[~used]) <= strength * (1 + 1e-3))


def test_the_largest_strength_of_a_lasso_leaves_nothing():
    problem, seen = posed()
    assert not np.any(fitted(Linear(penalty="lasso"), problem, seen, [1.001]).state["weights"])
    assert np.all(np.any(fitted(Linear(penalty="lasso"), problem, seen, [0.99]).state["weights"], axis=(1, 2)))


@pytest.mark.parametrize("penalty", ["ridge", "lasso"])
def test_the_strength_with_the_least_validation_risk_is_kept(penalty):
    problem, seen = posed(90, noise=0.5)
    strengths = [1e-4, 0.5, 1e-2]
    fit = fitted(Linear(penalty=penalty), problem, seen, strengths)
    singles = np.array([fitted(Linear(penalty=penalty), problem, seen, [s]).validation_risk for s in strengths])
    np.testing.assert_allclose(fit.validation_risk, singles.min(axis=0), rtol=1e-3)
    assert fit.choices["ridge"].tolist() == [strengths[i] for i in singles.argmin(axis=0)]


def test_a_lasso_that_is_stopped_early_says_so():
    problem, seen = posed(90)
    fit = fitted(Linear(penalty="lasso", tolerance=1e-12, max_iterations=1), problem, seen, [1e-3])
    assert fit.status.tolist() == [STATUS["not_converged"]] * 2
    assert np.isfinite(fit.state["weights"]).all()


def test_several_outputs_are_fitted_one_by_one():
    x = np.random.default_rng(0).standard_normal((40, 8))
    y = np.stack([x[:, 0], np.zeros(40), x[:, 1] - x[:, 2]], axis=1)
    for path in (Linear()._ridge, Linear(penalty="lasso")._lasso):
        together, _, _ = path(x, y, np.array([0.1, 0.01]))
        for j in range(3):
            alone, _, _ = path(x, y[:, [j]], np.array([0.1, 0.01]))
            np.testing.assert_allclose(together[:, :, [j]], alone, rtol=1e-8, atol=1e-12)


def test_classes_are_scored_by_the_share_of_wrong_signs():
    problem, seen = posed(90, noise=0.1, kind="classes")
    fit = fitted(Linear(), problem, seen, [1e-1, 1e-3], samples=120)
    predicted, labels = Linear().predict(fit.state, seen, "validation", 150, {}), problem.draw("validation", 150).labels
    np.testing.assert_allclose(fit.validation_risk, np.mean(predicted * labels <= 0, axis=(1, 2)))
    assert np.all(fit.validation_risk < 0.45)
