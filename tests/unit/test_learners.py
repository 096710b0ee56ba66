"""Learners against what their definition says, computed another way."""

import numpy as np
import pytest

from hierlearn.core.problem import ProblemFeatures, pose
from hierlearn.core.protocols import STATUS, NullMonitor, TrainingData
from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.learners._dual import cross_gram_matrix, fit_dual, gram_matrix
from hierlearn.learners.kernel_ridge import KernelRidge
from hierlearn.learners.taylor import Taylor

STREAMS = Streams(("learners",), (1, 2))


def posed(noise=0.0):
    problem = pose(
        build("inputs", {"name": "sphere"}, dimension=4),
        build("teachers", {"name": "ridge_polynomial", "degree": 2}),
        "unit",
        noise,
        STREAMS,
        held_out=80,
    )
    raw = build("representations", {"name": "raw"})
    return problem, ProblemFeatures(problem, raw, raw.fit(None, STREAMS))


def trained(learner, ridges, noise=0.0, samples=30):
    problem, features = posed(noise)
    fit = learner.fit(TrainingData(problem, features, samples, {"ridge": ridges}, STREAMS), NullMonitor(), {})
    return problem, fit, learner.predict(fit.state, features, "test", 25, {})


def test_kernel_ridge_solves_its_linear_system():
    kernel, ridge = build("kernels", {"name": "rbf"}), 1e-2
    problem, _, prediction = trained(KernelRidge(kernel=kernel), [ridge])
    training, test = problem.draw("training", 30), problem.draw("test", 25)
    for seed in range(2):
        gram = kernel(training.x[seed])
        system = gram + 30 * ridge * np.mean(np.diag(gram)) * np.eye(30)
        wanted = kernel(test.x[seed], training.x[seed]) @ np.linalg.solve(system, training.labels[seed])
        np.testing.assert_allclose(prediction[seed], wanted, rtol=1e-8, atol=1e-10)


def test_the_ridge_with_the_least_validation_risk_is_chosen():
    kernel, ridges = build("kernels", {"name": "rbf"}), [1e2, 1e-2, 1e-6]
    _, fit, _ = trained(KernelRidge(kernel=kernel), ridges, noise=0.3)
    singles = np.array([trained(KernelRidge(kernel=kernel), [ridge], noise=0.3)[1].validation_risk for ridge in ridges])
    np.testing.assert_allclose(fit.validation_risk, singles.min(axis=0), rtol=1e-9)
    assert fit.choices["ridge"].tolist() == [ridges[i] for i in singles.argmin(axis=0)]


@pytest.mark.parametrize("bandwidth", [0.5, 2.0])
def test_a_bandwidth_divides_the_input(bandwidth):
    """For the Gaussian kernel it is the kernel's own; a homogeneous kernel without a bias does not see it."""
    plain = build("kernels", {"name": "rbf", "bandwidth": bandwidth})
    _, own, wanted = trained(KernelRidge(kernel=plain), [1e-2])
    problem, features = posed()
    choices = {"ridge": [1e-2], "bandwidth": [bandwidth]}
    learner = KernelRidge(kernel=build("kernels", {"name": "rbf"}))
    fit = learner.fit(TrainingData(problem, features, 30, choices, STREAMS), NullMonitor(), {})
    np.testing.assert_allclose(learner.predict(fit.state, features, "test", 25, {}), wanted, rtol=1e-6, atol=1e-9)
    assert fit.choices["bandwidth"].tolist() == [bandwidth] * 2
    assert "bandwidth" not in own.choices
    learner = KernelRidge(kernel=build("kernels", {"name": "arccos", "order": 1}))
    _, _, wanted = trained(learner, [1e-2])
    fit = learner.fit(TrainingData(problem, features, 30, choices, STREAMS), NullMonitor(), {})
    np.testing.assert_allclose(learner.predict(fit.state, features, "test", 25, {}), wanted, rtol=1e-6, atol=1e-9)


def test_the_bandwidth_with_the_least_validation_risk_is_chosen_for_each_seed():
    learner, grid = KernelRidge(kernel=build("kernels", {"name": "rbf"})), [4.0, 0.2, 1.0]
    problem, features = posed(0.3)

    def fitted(bandwidths, cache):
        choices = {"ridge": [1e-1, 1e-4], "bandwidth": bandwidths}
        return [
            learner.fit(TrainingData(problem, features, n, choices, STREAMS), NullMonitor(), cache) for n in (10, 30)
        ][1]

    fit, singles = fitted(grid, {}), [fitted([b], {}) for b in grid]
    risks = np.array([single.validation_risk for single in singles])
    np.testing.assert_array_equal(fit.validation_risk, risks.min(axis=0))
    assert fit.choices["bandwidth"].tolist() == [grid[i] for i in risks.argmin(axis=0)]
    np.testing.assert_array_equal(fit.flops, np.sum([single.flops for single in singles], axis=0))
    # Predictions of fits with other bandwidths from one cache are those of each alone.
    cache = {}
    for single in singles:
        known = learner.predict(single.state, features, "test", 25, cache)
        np.testing.assert_array_equal(known, learner.predict(single.state, features, "test", 25, {}))


def test_kernel_matrices_beyond_what_is_kept_are_computed_again(monkeypatch):
    learner, choices = KernelRidge(kernel=build("kernels", {"name": "rbf"})), {"ridge": [1e-2], "bandwidth": [0.5, 2.0]}
    problem, features = posed(0.3)
    kept, none = {}, {}

    def fitted(cache):
        return [
            learner.fit(TrainingData(problem, features, n, choices, STREAMS), NullMonitor(), cache) for n in (10, 30)
        ][1]

    before = fitted(kept)
    monkeypatch.setattr("hierlearn.learners.kernel_ridge.KEPT_BYTES", 8 * 2 * 30 * 30)
    after = fitted(none)
    assert kept
    assert not none
    np.testing.assert_allclose(after.state["coefficients"], before.state["coefficients"], rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(after.choices["bandwidth"], before.choices["bandwidth"])


def test_the_first_order_model_is_ridge_regression_on_its_gradient():
    """NTK-h is linear in the weights: its primal solution on the gradient's features gives the same predictions."""
    learner, ridge = Taylor(order=1, width=6), 1e-2
    problem, fit, prediction = trained(learner, [ridge])
    training, test = problem.draw("training", 30), problem.draw("test", 25)
    for seed in range(2):
        w0 = np.concatenate([fit.state["w0"][seed]] * 2).astype(float)
        signs = np.repeat([1.0, -1.0], 3)

        def gradient(x, w0=w0, signs=signs):
            x = x.astype(float)
            return ((np.maximum(x @ w0.T, 0) * signs / np.sqrt(6))[:, :, None] * x[:, None, :]).reshape(len(x), -1)

        phi = gradient(training.x[seed])
        scale = 30 * ridge * np.mean(np.sum(phi**2, axis=1))
        weights = np.linalg.solve(phi.T @ phi + scale * np.eye(phi.shape[1]), phi.T @ training.labels[seed])
        np.testing.assert_allclose(prediction[seed], gradient(test.x[seed]) @ weights, rtol=1e-3, atol=1e-4)


def test_gram_matrices_that_grow_are_those_computed_at_once():
    kernel, cache = build("kernels", {"name": "ntk"}), {}
    x, z = np.random.default_rng(0).standard_normal((2, 20, 3))
    for n in (3, 9, 9, 20, 5):
        np.testing.assert_allclose(gram_matrix(kernel, x[:n], cache, "a"), kernel(x[:n]), rtol=1e-10)
        np.testing.assert_allclose(cross_gram_matrix(kernel, z, x[:n], cache, "b"), kernel(z, x[:n]), rtol=1e-10)
    np.testing.assert_allclose(gram_matrix(kernel, z[:4], cache, "c"), kernel(z[:4]), rtol=1e-10)


def test_a_singular_gram_matrix_still_gives_numbers():
    fit = fit_dual(np.ones((5, 5)), np.ones((5, 1)), np.ones((3, 5)), np.ones((3, 1)), [1e-12])
    assert np.isfinite(fit.coefficients).all()
    assert fit.validation_risk == pytest.approx(0.0, abs=1e-6)


def test_the_train_risk_is_that_of_the_chosen_ridge():
    generator = np.random.default_rng(1)
    points = generator.standard_normal((12, 4))
    gram, labels = points @ points.T, generator.standard_normal((12, 1))
    fit = fit_dual(gram, labels, gram, labels, [0.1])
    wanted = np.mean(np.sum((gram @ fit.coefficients - labels) ** 2, axis=1))
    assert fit.train_risk == pytest.approx(wanted, rel=1e-8)


def test_a_first_order_model_of_another_loss_is_refused():
    with pytest.raises(ValueError, match="loss 'logistic' with order 1; expected squared"):
        Taylor(order=1, loss="logistic")


def test_a_ridge_that_leaves_a_singular_matrix_is_dropped_alone(caplog):
    x = np.random.default_rng(0).standard_normal((60, 2)) / 20
    kernel, labels = build("kernels", {"name": "rbf"}), x[:, :1]
    gram, both = kernel(x), [1e-18, 0.1]
    assert fit_dual(gram, labels, gram, labels, [1e-18]).status == STATUS["singular"]
    caplog.clear()
    alone, fit = (fit_dual(gram, labels, gram, labels, ridges) for ridges in ([0.1], both))
    assert fit.status == STATUS["ok"]
    assert fit.ridge == 0.1
    np.testing.assert_array_equal(fit.coefficients, alone.coefficients)
    assert fit.train_risk == alone.train_risk
    (record,) = caplog.records
    assert "n = 60: the ridges [1e-18] leave a singular matrix; use larger ones" in record.getMessage()


@pytest.mark.parametrize("learner", [KernelRidge(kernel=build("kernels", {"name": "rbf"})), Taylor(order=1, width=6)])
def test_the_residual_of_the_chosen_ridge_is_reported(learner):
    problem, fit, _ = trained(learner, [1e-2])
    seen = learner.predict(fit.state, posed()[1], "training", 30, {})
    labels = problem.draw("training", 30).labels
    assert set(fit.measures) == {"ridge_residual"}
    assert np.all(fit.measures["ridge_residual"] < 1e-8)
    # The dual solution leaves the labels by n ridge alpha, a hundredth of them or more: no residual of rounding's size.
    assert np.all(np.linalg.norm(seen - labels, axis=(1, 2)) > 1e-3)


def test_a_second_order_model_solves_no_system():
    _, fit, _ = trained(Taylor(order=2, width=4), [1e-2])
    assert fit.measures == {}


def test_a_kernel_that_is_not_positive_is_a_status_and_no_crash():
    gram = np.diag([1.0, 1.0, -1.0])
    fit = fit_dual(gram, np.ones((3, 1)), np.ones((2, 3)), np.ones((2, 1)), [1e-3])
    assert fit.status == STATUS["singular"]
    assert np.isnan(fit.coefficients).all()
