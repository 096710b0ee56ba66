"""Kernels of networks at their start: against gradients by automatic differentiation, and a linear system."""

import numpy as np
import pytest
import torch

from hierlearn.core.problem import ProblemFeatures, pose
from hierlearn.core.protocols import STATUS, NullMonitor, TrainingData
from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.learners.network_kernel import NetworkKernel
from hierlearn.solvers.networks import last_features

STREAMS = Streams(("network kernels",), (1, 2))
ARCHITECTURES = ("two_layer", "three_layer", "resnet")


def posed(noise=0.0):
    """Two outputs in five dimensions."""
    teacher = build("teachers", {"name": "residual_composition", "instance": "product", "order": 2, "alpha": 0.5})
    cube = build("inputs", {"name": "hypercube"}, dimension=5)
    problem = pose(cube, teacher, "paper", noise, STREAMS, held_out=60)
    problem.pools["test"] = problem.draw("test", 40)
    raw = build("representations", {"name": "raw"})
    return problem, ProblemFeatures(problem, raw, raw.fit(None, STREAMS))


def fitted(learner, choices, samples=30, noise=0.0, cache=None):
    problem, features = posed(noise)
    fit = learner.fit(
        TrainingData(problem, features, samples, choices, STREAMS), NullMonitor(), {} if cache is None else cache
    )
    return problem, features, fit


def start_of(learner, fit, problem, seed):
    """The weights at the start, with a run of one in front."""
    return learner._start(fit.state["key"][seed], problem.inputs.dimension, problem.outputs)


def network(architecture, weights, x):
    """The network in torch, (n, k); weights of one seed."""
    hidden = torch.relu(x @ weights["first"].T)
    if architecture == "two_layer":
        return hidden @ weights["last"].T
    below = hidden if architecture == "three_layer" else hidden @ weights["last"].T
    bias = weights.get("second_bias", 0.0)
    top = torch.relu(below @ weights["second"].T + bias) @ weights["last"].T
    return top if architecture == "three_layer" else below + top


def gradients(architecture, start, x):
    """(k, n, P): of every output at every point in W, V and V's bias."""
    weights = {name: torch.tensor(values[0], dtype=torch.float64) for name, values in start.items()}
    moving = [name for name in weights if name != "last"]
    for name in moving:
        weights[name].requires_grad_()
    out = network(architecture, weights, torch.tensor(x, dtype=torch.float64))
    rows = [
        [torch.cat([g.reshape(-1) for g in torch.autograd.grad(one, [weights[n] for n in moving], retain_graph=True)])]
        for one in out.T.reshape(-1)
    ]
    return np.array([row[0].numpy() for row in rows]).reshape(out.shape[1], len(x), -1)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_tangent_kernel_is_that_of_the_gradients(architecture, bias):
    learner = NetworkKernel(architecture=architecture, width=7, bias=bias)
    problem, _, fit = fitted(learner, {"ridge": [0.1]})
    start = start_of(learner, fit, problem, 0)
    x = np.random.default_rng(0).standard_normal((1, 9, 5 + bias)).astype(np.float32)
    ours = list(learner._kernels(start, x))
    assert len(ours) == problem.outputs
    jacobian = gradients(architecture, start, x[0])
    for j, gram in enumerate(ours):
        np.testing.assert_allclose(gram, jacobian[j] @ jacobian[j].T, rtol=2e-5, atol=2e-6)
        np.testing.assert_array_equal(gram, gram.T)


@pytest.mark.parametrize("ridges", [1, 40])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_outputs_are_sums_of_kernels_whether_by_displacements_or_by_kernels(architecture, ridges):
    learner = NetworkKernel(architecture=architecture, width=7)
    problem, _, fit = fitted(learner, {"ridge": [0.1]})
    start, rng = start_of(learner, fit, problem, 0), np.random.default_rng(0)
    x, *others = (rng.standard_normal((1, count, 6)).astype(np.float32) for count in (30, 9, 4))
    alphas = rng.standard_normal((ridges, 30, problem.outputs))
    jacobian = gradients(architecture, start, x[0])
    for outputs, other in zip(learner._outputs(start, x, alphas, others), others, strict=True):
        across = gradients(architecture, start, other[0]) @ np.swapaxes(jacobian, 1, 2)
        np.testing.assert_allclose(outputs, np.einsum("kab,rbk->rak", across, alphas), rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_last_layer_alone_is_ridge_regression_on_what_it_sees(architecture):
    learner, ridge = NetworkKernel(architecture=architecture, trained="last", width=40), 1e-2
    problem, features, fit = fitted(learner, {"ridge": [ridge]}, noise=0.2)
    prediction = learner.predict(fit.state, features, "test", 25, {})
    for seed in range(2):
        start = start_of(learner, fit, problem, seed)

        def seen(role, count, start=start, seed=seed):
            x = np.concatenate([features.draw(role, count)[[seed]], np.ones((1, count, 1))], axis=-1)
            return last_features(architecture, start, x.astype(np.float32))[0].astype(float)

        h, labels = seen("training", 30), problem.draw("training", 30).labels[seed]
        scale = 30 * ridge * np.mean(np.sum(h**2, axis=1))
        weights = np.linalg.solve(h.T @ h + scale * np.eye(40), h.T @ labels)
        np.testing.assert_allclose(prediction[seed], seen("test", 25) @ weights, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_output_has_a_displacement_of_its_own_and_all_the_same_ridge(architecture):
    learner, ridge = NetworkKernel(architecture=architecture, width=6), 1e-2
    problem, features, fit = fitted(learner, {"ridge": [ridge]})
    prediction = learner.predict(fit.state, features, "test", 25, {})
    start = start_of(learner, fit, problem, 0)

    def jacobian(role, count):
        return gradients(architecture, start, np.c_[features.draw(role, count)[0], np.ones(count)])

    training, test, labels = jacobian("training", 30), jacobian("test", 25), problem.draw("training", 30).labels[0]
    scale = 30 * ridge * np.mean(np.sum(training**2, axis=-1))
    for j in range(problem.outputs):
        phi = training[j]
        delta = np.linalg.solve(phi.T @ phi + scale * np.eye(phi.shape[1]), phi.T @ labels[:, j])
        np.testing.assert_allclose(prediction[0, :, j], test[j] @ delta, rtol=1e-3, atol=1e-4)


def test_the_ridge_is_chosen_on_validation_or_on_test_points_for_all_outputs_together():
    learner, ridges = NetworkKernel(width=20), [1.0, 1e-1, 1e-2, 1e-3, 1e-5]
    errors = {"validation": [], "test": []}
    for ridge in ridges:
        problem, features, fit = fitted(learner, {"ridge": [ridge]}, noise=0.5)
        labels = problem.draw("test", 40).labels
        missed = learner.predict(fit.state, features, "test", 40, {}) - labels
        errors["test"].append(np.mean(np.sum(missed**2, axis=-1), axis=-1))
        errors["validation"].append(fit.validation_risk)
    cache = {}
    for position, (rule, found) in enumerate(errors.items()):
        _, _, fit = fitted(learner, {"ridge": ridges, "selected_on": [rule]}, noise=0.5, cache=cache)
        best = np.array(found).argmin(axis=0)
        assert fit.choices["ridge"].tolist() == [ridges[i] for i in best]
        assert fit.choices["selected_on"].tolist() == [position] * 2
        np.testing.assert_allclose(fit.validation_risk, np.array(errors["validation"])[best, [0, 1]], rtol=1e-9)


def test_few_neurons_without_enough_ridge_are_singular_and_say_so():
    learner = NetworkKernel(trained="last", width=3)
    _, _, fit = fitted(learner, {"ridge": [1e-30]})
    assert fit.status.tolist() == [STATUS["singular"]] * 2
    assert np.isnan(fit.validation_risk).all()


def test_weights_are_those_of_the_seed_and_of_no_other():
    learner = NetworkKernel(architecture="three_layer", width=5)
    problem, _, fit = fitted(learner, {"ridge": [0.1]})
    one, two = (start_of(learner, fit, problem, seed) for seed in (0, 1))
    again = start_of(learner, fitted(learner, {"ridge": [0.1]}, samples=12)[2], problem, 0)
    for name in one:
        np.testing.assert_array_equal(one[name], again[name])
        assert not np.isclose(one[name], two[name]).any()
    assert not np.isclose(one["first"][0, :, :5], one["second"][0]).any()
