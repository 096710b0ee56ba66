"""The tangent model with fourth powers of norms as its penalty: the minimum of a long scipy run, and its limits."""

import numpy as np
import pytest
import scipy.optimize

from hierlearn.core.problem import ProblemFeatures, pose
from hierlearn.core.protocols import STATUS, NullMonitor, TrainingData
from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.learners import tangent_rows
from hierlearn.solvers.ridge import fit_rows

SEEDS = (2, 5)


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    features = rng.standard_normal((60, 6))
    gates = np.maximum(features @ rng.standard_normal((6, 10)), 0.0)
    return features, gates, np.sign(features[:, 0] * features[:, 1])


def objective(features, gates, targets, ridge):
    def value_and_gradient(flat):
        weights = flat.reshape(gates.shape[1], -1)
        residual = np.vecdot(gates, features @ weights.T) - targets
        norms = np.vecdot(weights, weights)
        slope = (2.0 / len(targets)) * (gates * residual[:, None]).T @ features + 4.0 * ridge * norms[:, None] * weights
        return np.mean(residual**2) + ridge * np.sum(norms**2), slope.ravel()

    return value_and_gradient


@pytest.mark.parametrize("ridge", [1.0, 1e-2, 1e-4, 1e-6])
def test_it_is_the_minimum_that_a_long_run_of_scipy_finds(data, ridge):
    found = fit_rows(*data, ridge, tolerance=1e-6)
    of = objective(*data, ridge)
    start = np.random.default_rng(0).standard_normal(found.weights.size)
    other = scipy.optimize.minimize(
        of,
        start,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 50000, "maxfun": 100000, "ftol": 1e-16, "gtol": 1e-12},
    )
    assert found.error <= 1e-6
    assert found.objective == pytest.approx(other.fun, rel=1e-6)
    assert of(found.weights.ravel())[0] == pytest.approx(found.objective, rel=1e-9)


def test_its_error_is_that_of_the_gradient(data):
    found = fit_rows(*data, 1e-3, most=3)
    value, gradient = objective(*data, 1e-3)(found.weights.ravel())
    rows = np.linalg.norm(gradient.reshape(found.weights.shape), axis=1) * np.linalg.norm(found.weights, axis=1)
    assert found.error > 1e-6
    assert found.error == pytest.approx(0.5 * rows.sum() / value, rel=1e-6)


def test_a_gate_that_is_never_on_has_no_weights(data):
    features, gates, targets = data
    gates[:, 4] = 0.0
    found = fit_rows(features, gates, targets, 1e-3)
    assert np.all(found.weights[4] == 0.0) and np.isfinite(found.weights).all()


def test_sizes_to_begin_with_change_steps_and_not_the_minimum(data):
    cold = fit_rows(*data, 1e-3, tolerance=1e-8)
    warm = fit_rows(*data, 1e-3, np.vecdot(cold.weights, cold.weights), tolerance=1e-8)
    assert warm.steps == 1 < cold.steps
    np.testing.assert_allclose(warm.weights, cold.weights, rtol=1e-4, atol=1e-9)


def fitted(learner, ridges):
    law, teacher = (
        build("inputs", {"name": "hypercube"}, dimension=6),
        build("teachers", {"name": "parity", "order": 2}),
    )
    problem = pose(law, teacher, "unit", 0.0, Streams(("a test",), SEEDS, 1), 30)
    raw = build("representations", {"name": "raw"})
    features = ProblemFeatures(problem, raw, raw.fit(None, problem.streams))
    sample = TrainingData(problem, features, 50, {"ridge": ridges}, problem.streams.at("learner", learner.stream_key))
    return learner.fit(sample, NullMonitor(), {}), features


def test_its_network_is_that_of_the_tangent_model_with_the_other_penalty():
    rows = build("learners", {"name": "tangent_rows", "activation": "relu3", "width": 12})
    plain = build("learners", {"name": "taylor", "order": 1, "activation": "relu3", "width": 12})
    (found, features), (other, _) = fitted(rows, [1e-3]), fitted(plain, [1e-3])
    assert {name: part.shape for name, part in found.state.items()} == {
        n: part.shape for n, part in other.state.items()
    }
    assert np.all(found.status == STATUS["ok"])
    np.testing.assert_array_equal(
        rows.predict(found.state, features, "test", 20, {}), plain.predict(found.state, features, "test", 20, {})
    )


def test_the_chosen_ridge_is_the_best_on_validation_points():
    learner = build("learners", {"name": "tangent_rows", "activation": "relu3", "width": 12})
    ridges = [1e-5, 1e1, 1e-2]
    together, _ = fitted(learner, ridges)
    alone = np.array([fitted(learner, [ridge])[0].validation_risk for ridge in ridges])
    np.testing.assert_allclose(together.choices["ridge"], np.array(ridges)[alone.argmin(axis=0)])
    np.testing.assert_allclose(together.validation_risk, alone.min(axis=0), rtol=0.05)


def test_too_few_steps_are_said():
    learner = build("learners", {"name": "tangent_rows", "width": 12, "steps": 1, "tolerance": 1e-6})
    assert np.all(fitted(learner, [1e-3])[0].status == STATUS["not_converged"])


def test_nothing_to_fit_is_fitted_by_nothing(data):
    features, gates, targets = data
    for nothing in ((gates, 0.0 * targets), (0.0 * gates, targets)):
        found = fit_rows(features, *nothing, 1e-3)
        again = fit_rows(features, *nothing, 1e-4, np.vecdot(found.weights, found.weights))
        assert np.all(found.weights == 0.0) and np.all(again.weights == 0.0) and found.error == again.error == 0.0


def test_a_singular_ridge_is_not_chosen_and_alone_it_is_said(monkeypatch):
    def singular_at(ridge):
        def fit(*given):
            if given[3] < ridge:
                raise np.linalg.LinAlgError
            return fit_rows(*given)

        return fit

    learner = build("learners", {"name": "tangent_rows", "activation": "relu3", "width": 12})
    monkeypatch.setattr(tangent_rows, "fit_rows", singular_at(1e-6))
    found, _ = fitted(learner, [1e-9, 1e-2])
    assert np.all(found.status == STATUS["ok"]) and np.all(found.choices["ridge"] == 1e-2)
    alone, _ = fitted(learner, [1e-9])
    assert np.all(alone.status == STATUS["singular"])
