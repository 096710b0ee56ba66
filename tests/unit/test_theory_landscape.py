"""Landscapes against automatic differentiation and means over all sign vectors."""

from itertools import product

import numpy as np
import pytest

from hierlearn.solvers.losses import LOSSES
from hierlearn.theory.landscape import (
    PENALTY_CONSTANTS,
    RandomisedSquaredRisk,
    curvature_slack,
    eighth_power,
    eighth_power_product,
    equal_sign_expansion,
    equal_sign_slack,
    leading_reference,
    objective_bounds,
    penalty_terms,
    quadratic_expansion,
    quadratic_outputs,
    quartic_norm,
    randomised_expansion,
)


def case(n=11, dimension=3, width=4, seed=0):
    """features, w0 of the symmetric initialisation, signs, W, W*, labels."""
    generator = np.random.default_rng(seed)
    features = generator.standard_normal((n, dimension))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    first = np.tile(generator.standard_normal((width // 2, dimension)), (2, 1))
    weights, reference = generator.standard_normal((2, width, dimension))
    return features, first, np.repeat([1.0, -1.0], width // 2), weights, reference, generator.choice([-1.0, 1.0], n)


def all_signs(width):
    return np.array(list(product([-1.0, 1.0], repeat=width)))


def differentiated(function, weights, reference):
    """Value, <gradient, W> and the mean over all S of the Hessian's form at W* S, by torch."""
    torch = pytest.importorskip("torch")
    at = torch.tensor(weights, requires_grad=True)
    value = function(torch, at)
    gradient = torch.autograd.grad(value, at)[0].numpy()
    hessian = torch.autograd.functional.hessian(lambda w: function(torch, w), torch.tensor(weights))
    hessian = hessian.reshape(weights.size, weights.size).numpy()
    along = [(signs[:, None] * reference).ravel() for signs in all_signs(len(weights))]
    return value.item(), np.vdot(gradient, weights), np.mean([v @ hessian @ v for v in along])


def mean_loss(torch, name, outputs, labels):
    labels = torch.tensor(labels)
    if name == "squared":
        return ((outputs - labels) ** 2).mean()
    if name == "logistic":
        return torch.nn.functional.softplus(-labels * outputs).mean()
    ramp = torch.clamp(1.5 - labels * outputs, 0.0, 1.0)
    return (ramp**3 * (1.0 - 0.5 * ramp) + torch.relu(0.5 - labels * outputs)).mean()


def model(torch, weights, features, first, signs):
    x, w0, a = (torch.tensor(part) for part in (features, first, signs))
    return (torch.relu(x @ w0.T) * (x @ weights.T) ** 2) @ a / (2 * len(signs) ** 0.5)


def network(torch, weights, features, first, signs):
    x, w0, a = (torch.tensor(part) for part in (features, first, signs))
    return (torch.relu(x @ (w0 + weights).T) ** 3 / 6) @ a / len(signs) ** 0.5


def found(landscape):
    return landscape.risk, landscape.radial, landscape.curvature


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_models_landscape_agrees_with_automatic_differentiation(loss, seed):
    features, first, signs, weights, reference, labels = case(seed=seed)
    expected = differentiated(
        lambda torch, w: mean_loss(torch, loss, model(torch, w, features, first, signs), labels), weights, reference
    )
    gates = np.maximum(features @ first.T, 0.0)
    value = quadratic_expansion(features, gates, signs, labels, LOSSES[loss], weights, reference)
    np.testing.assert_allclose(found(value), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_lemma_1_holds_with_the_slack_and_its_gap_is_twice_the_bregman_divergence(loss, seed):
    features, first, signs, weights, reference, labels = case(width=6, seed=seed)
    gates, kind = np.maximum(features @ first.T, 0.0), LOSSES[loss]
    _, radial, curvature = differentiated(
        lambda torch, w: mean_loss(torch, loss, model(torch, w, features, first, signs), labels), weights, reference
    )
    here, there = (quadratic_outputs(features, gates, signs, w) for w in (weights, reference))
    excess = np.mean(kind.value(here, labels) - kind.value(there, labels))
    slack = curvature_slack(features, gates, weights, reference, kind.curvature(here, labels))
    bregman = -excess - np.mean(kind.gradient(here, labels) * (there - here))
    left = curvature - radial + 2 * excess
    assert left <= slack + 1e-12
    assert slack - left == pytest.approx(2 * bregman, abs=1e-10)


def test_the_slack_is_the_mean_of_the_squared_slope_of_the_outputs():
    """(f(W + t W* S) - f(W - t W* S)) / 2t is exact for a quadratic; its mean square over S, times l'', is s."""
    features, first, signs, weights, reference, labels = case()
    gates = np.maximum(features @ first.T, 0.0)
    curvature = 0.5 + np.arange(len(labels)) / 10.0
    slopes = []
    for draw in all_signs(4):
        up, down = (
            quadratic_outputs(features, gates, signs, weights + t * draw[:, None] * reference) for t in (0.5, -0.5)
        )
        slopes.append(np.mean(curvature * (up - down) ** 2))
    value = curvature_slack(features, gates, weights, reference, curvature)
    assert value == pytest.approx(np.mean(slopes), rel=1e-12)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_the_networks_landscape_agrees_with_automatic_differentiation_over_all_signs(loss):
    features, first, signs, weights, reference, labels = case()
    draws = all_signs(4)

    def risk(torch, w):
        outputs = [network(torch, torch.tensor(d)[:, None] * w, features, first, signs) for d in draws]
        return sum(mean_loss(torch, loss, f, labels) for f in outputs) / len(draws)

    expected = differentiated(risk, weights, reference)
    half = draws[: len(draws) // 2]
    value = randomised_expansion(features, first, signs, weights, reference, labels, LOSSES[loss], half)
    np.testing.assert_allclose(found(value), expected, rtol=1e-9, atol=1e-12)
    if loss == "squared":
        exact = RandomisedSquaredRisk(features, first, signs, labels).expansion(weights, reference)
        np.testing.assert_allclose(found(exact), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_without_signs_the_landscape_is_that_of_the_network_along_the_reference_itself(loss):
    features, first, signs, weights, reference, labels = case(seed=3)
    kind, step = LOSSES[loss], 1e-4

    def risk(w):
        outputs = np.maximum(features @ (first + w).T, 0) ** 3 @ signs / (6 * np.sqrt(len(signs)))
        return np.mean(kind.value(outputs, labels))

    def along(direction):
        return risk(weights + step * direction), risk(weights - step * direction)

    found = equal_sign_expansion(features, first, signs, weights, reference, labels, kind)
    (up, down), (ahead, behind) = along(weights), along(reference)
    assert found.risk == pytest.approx(risk(weights), rel=1e-12)
    assert found.radial == pytest.approx((up - down) / (2 * step), rel=1e-5)
    assert found.curvature == pytest.approx((ahead + behind - 2 * risk(weights)) / step**2, rel=1e-4, abs=1e-6)


def test_the_slack_without_signs_is_the_squared_slope_of_the_outputs_along_the_reference():
    features, first, signs, weights, reference, _ = case(seed=4)
    gates = np.maximum(features @ first.T, 0)
    step = 1e-6
    up, down = (quadratic_outputs(features, gates, signs, weights + t * reference) for t in (step, -step))
    expected = np.mean(2.0 * ((up - down) / (2 * step)) ** 2)
    found = equal_sign_slack(features, gates, signs, weights, reference, np.full(len(features), 2.0))
    assert found == pytest.approx(expected, rel=1e-6)


def test_gradient_and_hessian_products_of_the_exact_risk_agree_with_automatic_differentiation():
    torch = pytest.importorskip("torch")
    features, first, signs, weights, vector, labels = case(width=6, dimension=4)
    draws = [torch.tensor(d)[:, None] for d in all_signs(6)]

    def risk(w):
        losses = [mean_loss(torch, "squared", network(torch, d * w, features, first, signs), labels) for d in draws]
        return sum(losses) / len(draws)

    exact = RandomisedSquaredRisk(features, first, signs, labels)
    at = torch.tensor(weights, requires_grad=True)
    value = risk(at)
    found_risk, gradient = exact.risk_and_gradient(weights)
    assert found_risk == pytest.approx(value.item(), rel=1e-12)
    np.testing.assert_allclose(gradient, torch.autograd.grad(value, at)[0].numpy(), rtol=1e-9, atol=1e-12)
    _, product_ = torch.autograd.functional.hvp(risk, torch.tensor(weights), torch.tensor(vector))
    np.testing.assert_allclose(exact.hessian_product(weights, vector), product_.numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("power", [4, 8])
def test_penalty_terms_agree_with_automatic_differentiation(power):
    _, _, _, weights, reference, _ = case(seed=3)
    expected = differentiated(lambda torch, w: ((w**2).sum(1) ** 2).sum() ** (power // 4), weights, reference)
    np.testing.assert_allclose(found(penalty_terms(weights, reference, power)), expected, rtol=1e-10)
    assert penalty_terms(weights, reference, 4).risk == pytest.approx(quartic_norm(weights))


def test_the_eighth_power_has_the_derivatives_of_automatic_differentiation():
    torch = pytest.importorskip("torch")
    _, _, _, weights, _, _ = case(seed=5)
    at = torch.tensor(weights, requires_grad=True)
    value = ((at**2).sum(1) ** 2).sum() ** 2
    hessian = torch.autograd.functional.hessian(lambda w: ((w**2).sum(1) ** 2).sum() ** 2, torch.tensor(weights))
    found_value, gradient = eighth_power(weights)
    assert found_value == pytest.approx(value.item())
    np.testing.assert_allclose(gradient, torch.autograd.grad(value, at)[0].numpy(), rtol=1e-10)
    expected = hessian.reshape(weights.size, weights.size).numpy()
    columns = [eighth_power_product(weights, unit.reshape(weights.shape)).ravel() for unit in np.eye(weights.size)]
    np.testing.assert_allclose(columns, expected, rtol=1e-10)


@pytest.mark.parametrize("power", [4, 8])
def test_the_theorems_constant_is_the_largest_that_the_penalty_can_ask_for(power):
    generator = np.random.default_rng(0)
    for _ in range(200):
        weights, reference = generator.standard_normal((2, 3, 2)) * generator.exponential(2.0, (2, 1, 1))
        relaxed, sharp = objective_bounds(1.0, weights, reference, 0.1, power)
        assert sharp <= relaxed + 1e-9
    # One neuron along its reference at |w|^2 = 3 |w*|^2 or 7 |w*|^2 asks for all of it.
    reference = np.array([[1.0, 2.0], [0.0, 0.0]])
    relaxed, sharp = objective_bounds(0.0, np.sqrt({4: 3.0, 8: 7.0}[power]) * reference, reference, 1.0, power)
    assert sharp == pytest.approx(relaxed, rel=1e-12)
    assert relaxed == pytest.approx(PENALTY_CONSTANTS[power] * quartic_norm(reference) ** (power // 4))


def test_the_explicit_reference_of_a_2_xor_looks_along_its_two_diagonals():
    x = all_signs(5) / np.sqrt(5)
    targets = 5 * x[:, 1] * x[:, 3]
    first = np.tile(np.random.default_rng(0).standard_normal((500, 5)), (2, 1))
    gates, signs = np.maximum(x @ first.T, 0.0), np.repeat([1.0, -1.0], 500)
    reference = leading_reference(x, gates, signs, targets)
    unit = reference / np.linalg.norm(reference, axis=1, keepdims=True)
    np.testing.assert_allclose(np.abs(unit[:500] @ [0, 1, 0, 1, 0]), np.sqrt(2), rtol=1e-9)
    np.testing.assert_allclose(np.abs(unit[500:] @ [0, 1, 0, -1, 0]), np.sqrt(2), rtol=1e-9)
    # In the limit of many neurons |w_r|^2 = 4 sqrt(2 pi) (d / 2) / sqrt(m) makes f^Q the target.
    np.testing.assert_allclose(np.sum(reference**2, axis=1), 4 * np.sqrt(2 * np.pi) * 2.5 / np.sqrt(1000), rtol=0.1)
    assert np.mean((quadratic_outputs(x, gates, signs, reference) - targets) ** 2) < 0.01


def test_a_reference_that_no_length_makes_useful_is_refused():
    features = np.array([[1.0, 0.0], [0.0, 1.0]])
    with pytest.raises(ValueError, match="negative square length"):
        leading_reference(features, np.array([[0.0, 0.0], [0.0, 1.0]]), np.array([1.0, -1.0]), np.array([2.0, 1.0]))
