"""Closed forms against numerical integration and against random networks of finite width."""

import numpy as np
import pytest
from scipy.integrate import dblquad

from hierlearn.kernels._arccos import moment
from hierlearn.kernels.arccos import Arccos
from hierlearn.kernels.arcsin import Arcsin
from hierlearn.kernels.ntk import Ntk
from hierlearn.kernels.ntk_neural import NtkNeural
from hierlearn.kernels.ntk_raw import NtkRaw
from hierlearn.kernels.rbf import Rbf

DERIVATIVES = {
    "relu": lambda t: (t > 0).astype(float),
    "relu2": lambda t: np.maximum(t, 0),
    "relu3": lambda t: np.maximum(t, 0) ** 2 / 2,
}
FEATURES = {
    "step": lambda t: (t >= 0).astype(float),
    "relu": lambda t: np.maximum(t, 0),
    "relu2": lambda t: np.maximum(t, 0) ** 2,
    "quadratic": np.square,
}
POINTS = np.array([[0.6, -0.8, 0.0], [0.3, 0.1, -1.2], [0.0, 0.4, 0.2], [-1.5, 0.2, 0.9]])


def _quadrant_moment(order, first, product, second):
    """E[u_+^a v_+^a], (u, v) ~ N(0, [[first, product], [product, second]]), by adaptive integration."""
    correlation = product / np.sqrt(first * second)
    rest = 1 - correlation**2

    def integrand(v, u):
        density = np.exp(-(u * u - 2 * correlation * u * v + v * v) / (2 * rest)) / (2 * np.pi * np.sqrt(rest))
        return (u * v) ** order * density

    value, _ = dblquad(integrand, 0, 12, 0, 12, epsabs=1e-12, epsrel=1e-12)
    return (first * second) ** (order / 2) * value


def _feature_moments(features, x, z):
    """S_11, S_12, S_22 of the features with a bias."""
    x, z = np.append(x, 1.0), np.append(z, 1.0)
    a, b, c = x @ x, x @ z, z @ z
    if features == "quadratic":
        nodes, weights = np.polynomial.hermite_e.hermegauss(8)
        weights = weights / weights.sum()
        u = np.sqrt(a) * nodes[:, None]
        v = b / np.sqrt(a) * nodes[:, None] + np.sqrt(c - b * b / a) * nodes
        means = [u**4 * np.ones_like(v), u**2 * v**2, v**4]
        return [float(weights @ mean @ weights) for mean in means]
    order = {"step": 0, "relu": 1, "relu2": 2}[features]
    one_sided = {0: 0.5, 1: 0.5, 2: 1.5}[order]
    return one_sided * a**order, _quadrant_moment(order, a, b, c), one_sided * c**order


@pytest.mark.parametrize("correlation", [-0.9, -0.3, 0.0, 0.5, 0.95])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_arc_cosine_moments_agree_with_integration(order, correlation):
    value = np.array([correlation])
    moment(order, value)
    assert value[0] == pytest.approx(_quadrant_moment(order, 1.0, correlation, 1.0), abs=1e-10)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("activation, order, factor", [("relu", 0, 1.0), ("relu2", 1, 1.0), ("relu3", 2, 0.25)])
def test_ntk_raw_agrees_with_integration(activation, order, factor, bias):
    x, z = POINTS[0], POINTS[1]
    lifted = [np.append(p, 1.0) / np.sqrt(2) if bias else p for p in (x, z)]
    inner = lifted[0] @ lifted[1]
    expected = factor * inner * _quadrant_moment(order, lifted[0] @ lifted[0], inner, lifted[1] @ lifted[1])
    assert NtkRaw(activation=activation, bias=bias)(x[None], z[None])[0, 0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("activation, order, factor", [("relu", 0, 1.0), ("relu2", 1, 1.0), ("relu3", 2, 0.25)])
def test_ntk_neural_agrees_with_integration(features, activation, order, factor):
    x, z = POINTS[1], POINTS[3]
    first, product, second = _feature_moments(features, x, z)
    expected = factor * product * _quadrant_moment(order, first, product, second)
    assert NtkNeural(features=features, activation=activation)(x[None], z[None])[0, 0] == pytest.approx(
        expected, rel=1e-9
    )


def _within_errors(draws, expected):
    """draws (batches, n, n): the mean lies within 5 standard errors of the closed form, entry by entry."""
    error = np.std(draws, axis=0, ddof=1) / np.sqrt(len(draws))
    assert np.all(np.abs(np.mean(draws, axis=0) - expected) <= 5 * error + 1e-12)
    assert np.max(error) < 0.1 * np.max(np.abs(expected))


def _batches(draw, count=50, seed=11):
    generator = np.random.default_rng(seed)
    return np.stack([draw(generator) for _ in range(count)])


def _lift(x, bias):
    return np.concatenate([x, np.ones((len(x), 1))], axis=1) / np.sqrt(2) if bias else x


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("activation", DERIVATIVES)
def test_ntk_raw_is_the_mean_over_wide_random_networks(activation, bias):
    x = _lift(POINTS, bias)

    def draw(generator):
        gates = DERIVATIVES[activation](x @ generator.standard_normal((x.shape[1], 4000)))
        return gates @ gates.T / 4000 * (x @ x.T)

    _within_errors(_batches(draw), NtkRaw(activation=activation, bias=bias)(POINTS))


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("activation", DERIVATIVES)
def test_ntk_neural_is_the_mean_over_wide_random_networks(features, activation):
    # Unit-norm points: with them the finite-width bias of the heavy-tailed squares stays far below the error bar.
    points = POINTS / np.linalg.norm(POINTS, axis=1, keepdims=True)
    count = 8000

    def draw(generator):
        g = FEATURES[features](points @ generator.standard_normal((3, count)) + generator.standard_normal(count))
        gates = DERIVATIVES[activation](g @ generator.standard_normal((count, 150)) / np.sqrt(count))
        return gates @ gates.T / 150 * (g @ g.T / count)

    _within_errors(_batches(draw, 40), NtkNeural(features=features, activation=activation)(points))


@pytest.mark.parametrize("order, bias", [(0, False), (1, True), (2, False)])
def test_arccos_is_the_mean_over_random_features(order, bias):
    x = _lift(POINTS, bias)

    def draw(generator):
        projections = x @ generator.standard_normal((x.shape[1], 8000))
        values = np.maximum(projections, 0) ** order * (projections > 0)
        return 2 * values @ values.T / 8000

    _within_errors(_batches(draw), Arccos(order=order, bias=bias)(POINTS))


@pytest.mark.parametrize("bias", [False, True])
def test_arcsin_is_the_mean_over_random_signs(bias):
    x = _lift(POINTS, bias)

    def draw(generator):
        signs = np.sign(x @ generator.standard_normal((x.shape[1], 4000)))
        return signs @ signs.T / 4000

    _within_errors(_batches(draw), Arcsin(bias=bias)(POINTS))


def test_rbf_is_the_mean_over_random_fourier_features():
    def draw(generator):
        phases = POINTS @ generator.standard_normal((3, 4000)) / 0.9
        return (np.cos(phases) @ np.cos(phases).T + np.sin(phases) @ np.sin(phases).T) / 4000

    _within_errors(_batches(draw), Rbf(bandwidth=0.9)(POINTS))


@pytest.mark.parametrize("trained", ["all", "hidden", "last"])
def test_deep_ntk_is_the_mean_gradient_product_of_wide_networks(trained):
    torch = pytest.importorskip("torch")
    torch.manual_seed(5)
    width, x = 300, torch.tensor(_lift(POINTS, True))

    def draw(_):
        shapes = [(width, x.shape[1]), (width, width), (1, width)]
        weights = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
        chosen = {"all": weights, "hidden": weights[:-1], "last": weights[-1:]}[trained]
        hidden = torch.relu(weights[0] @ x.T) * (2 / width) ** 0.5
        hidden = torch.relu(weights[1] @ hidden) * (2 / width) ** 0.5
        outputs = (weights[2] @ hidden)[0]
        gradients = [torch.autograd.grad(output, chosen, retain_graph=True) for output in outputs]
        rows = torch.stack([torch.cat([part.flatten() for part in gradient]) for gradient in gradients])
        return (rows @ rows.T).numpy()

    _within_errors(_batches(draw, 16), Ntk(depth=3, trained=trained, bias=True)(POINTS))
