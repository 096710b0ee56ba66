"""Recursive kernels against random networks of as many layers, and against kernels that are the same by theory."""

import numpy as np
import pytest

from hierlearn.kernels.arccos import Arccos
from hierlearn.kernels.ntk import Ntk
from hierlearn.kernels.rbf import Rbf
from hierlearn.kernels.recursive import Recursive

# One layer of a random network with unit second moment at unit variance: E phi(u)^2 = 1, u ~ N(0, 1).
LAYERS = {
    "arccos0": lambda u: np.sqrt(2.0) * (u > 0),
    "arccos1": lambda u: np.sqrt(2.0) * np.maximum(u, 0),
    "arccos2": lambda u: np.sqrt(2.0 / 3.0) * np.maximum(u, 0) ** 2,
    "arcsin": np.sign,
}
POINTS = np.array([[0.6, -0.8, 0.0], [0.3, 0.1, -1.2], [0.0, 0.4, 0.2], [-1.5, 0.2, 0.9]])
UNIT = POINTS / np.linalg.norm(POINTS, axis=1, keepdims=True)


def _lift(x, bias):
    x = np.concatenate([x, np.ones((len(x), 1))], axis=1) if bias else x
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def _features(base, x, generator, count):
    """Random features of one layer: (n, d) of near unit norm -> (n, count), near unit norm."""
    if base == "exponential":
        phases = x @ generator.standard_normal((x.shape[1], count // 2))
        return np.concatenate([np.cos(phases), np.sin(phases)], axis=1) / np.sqrt(count // 2)
    return LAYERS[base](x @ generator.standard_normal((x.shape[1], count))) / np.sqrt(count)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("base", [*LAYERS, "exponential"])
def test_two_layers_are_the_covariance_of_a_wide_random_network(base, bias):
    generator, count, draws = np.random.default_rng(7), 800, 40
    total = []
    for _ in range(draws):
        first = _features(base, _lift(POINTS, bias), generator, count)
        second = _features(base, first, generator, count)
        total.append(second @ second.T)
    error = np.std(total, axis=0, ddof=1) / np.sqrt(draws)
    # The bias of a finite first layer is of the order of 1 / count.
    assert np.all(
        np.abs(np.mean(total, axis=0) - Recursive(base=base, depth=2, bias=bias)(POINTS)) <= 5 * error + 10 / count
    )
    # ReLU squared has heavy tails.
    assert np.max(error) < (0.1 if base == "arccos2" else 0.03)


def test_relu_layers_are_the_conjugate_kernel_on_the_sphere():
    for depth in (1, 2, 5):
        conjugate = Ntk(depth=depth + 1, trained="last", bias=False)(UNIT)
        np.testing.assert_allclose(Recursive(base="arccos1", depth=depth)(UNIT), conjugate, rtol=1e-12)


def test_one_layer_is_the_base_kernel_on_the_sphere():
    np.testing.assert_allclose(Recursive(base="arccos0", depth=1)(UNIT), Arccos(order=0)(UNIT), rtol=1e-12)
    np.testing.assert_allclose(Recursive(base="arccos2", depth=1)(UNIT), Arccos(order=2)(UNIT) / 3, rtol=1e-12)
    np.testing.assert_allclose(Recursive(base="exponential", depth=1)(UNIT), Rbf(bandwidth=1.0)(UNIT), rtol=1e-12)


@pytest.mark.parametrize("base", [*LAYERS, "exponential"])
def test_layers_compose(base):
    t = np.linspace(-1.0, 1.0, 201)
    once = Recursive(base=base, depth=1)
    np.testing.assert_allclose(
        Recursive(base=base, depth=3).profile(t), once.profile(once.profile(once.profile(t))), atol=1e-12
    )


@pytest.mark.parametrize("depth", [1, 3, 20])
@pytest.mark.parametrize("base", [*LAYERS, "exponential"])
def test_it_is_a_kernel_of_the_directions_alone(base, depth):
    kernel, generator = Recursive(base=base, depth=depth), np.random.default_rng(1)
    x = generator.standard_normal((120, 4))
    gram = kernel(x)
    np.testing.assert_allclose(np.diag(gram), 1.0, rtol=1e-12)
    np.testing.assert_allclose(kernel(x * generator.uniform(0.1, 5.0, (120, 1))), gram, atol=1e-6)
    values = np.linalg.eigvalsh(gram)
    assert values[0] > -1e-12 * values[-1]


def test_without_a_bias_the_arc_sine_stays_odd():
    t = np.linspace(-1.0, 1.0, 51)
    odd, lifted = Recursive(base="arcsin", depth=2), Recursive(base="arcsin", depth=2, bias=True)
    np.testing.assert_allclose(odd.profile(-t), -odd.profile(t), atol=1e-14)
    assert np.max(np.abs(lifted.profile(-t) + lifted.profile(t))) > 0.1
