"""Explicit weights of a quadratic model, against quadrature, explicit networks and the paper's numbers."""

from math import factorial, pi

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import eval_hermitenorm
from scipy.stats import norm

from hierlearn.core.problem import pose
from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.pipeline.measurements.expressivity import Expressivity
from hierlearn.solvers.taylor.training import predict
from hierlearn.theory.activations import hermite_coefficient
from hierlearn.theory.expressivity import expressible, norm_bound, scales


def problem(dimension=5, seeds=(0, 1), law="sphere"):
    kind = {"name": "parity"} if law == "hypercube" else {"name": "ridge_polynomial", "degree": 2}
    inputs = build("inputs", {"name": law}, dimension=dimension)
    return pose(inputs, build("teachers", kind), "unit", 0.0, Streams(("fit",), seeds))


def measured(dimension=5, seeds=(0, 1), law="sphere", **parameters):
    return build("probes", {"name": "expressivity", **parameters}).measure(problem(dimension, seeds, law))


def normal_mean(function):
    return quad(lambda g: function(g) * np.exp(-(g**2) / 2) / np.sqrt(2 * pi), -12, 12, points=[0], limit=200)[0]


@pytest.mark.parametrize("degree", range(9))
def test_the_components_of_relu_are_those_of_quadrature(degree):
    expected = normal_mean(lambda g: max(g, 0) * eval_hermitenorm(degree, g) / np.sqrt(factorial(degree)))
    assert hermite_coefficient("relu", degree) == pytest.approx(expected, abs=1e-10)


def test_their_squares_are_the_coefficients_of_the_kernel():
    """K(u) = (u (pi - arccos u) + sqrt(1 - u^2)) / (2 pi) = sum_q s_q^2 u^q (bai2020, Lemma 9)."""
    u = np.linspace(-0.6, 0.6, 7)
    series = sum(hermite_coefficient("relu", q) ** 2 * u**q for q in range(40))
    np.testing.assert_allclose(series, (u * (pi - np.arccos(u)) + np.sqrt(1 - u**2)) / (2 * pi), atol=1e-12)


@pytest.mark.parametrize("degree", [2, 3, 4, 6])
@pytest.mark.parametrize("cosine", [-0.8, 0.0, 0.35, 1.0])
def test_the_mean_over_w0_is_the_power(degree, cosine):
    """E[relu(<w0, x>)(c+^2 - c-^2)] sqrt(m) / 4 = <b, x>^{p-2}.

    Given <w0, b> = g, <w0, x> ~ N(c g, s^2), whose relu has the mean c g Phi(c g / s) + s phi(c g / s).
    """

    def integrand(g):
        plus, minus = scales(degree, np.array(g), width=16)
        mean, spread = cosine * g, np.sqrt(1 - cosine**2)
        relu = mean * norm.cdf(mean / spread) + spread * norm.pdf(mean / spread) if spread else max(mean, 0)
        return relu * (plus**2 - minus**2)

    assert normal_mean(integrand) * np.sqrt(16) / 4 == pytest.approx(cosine ** (degree - 2), abs=1e-7)


def test_outputs_and_norms_are_those_of_the_explicit_network():
    """The network of Theorem 7 written out: w0 with its copy, a = +-1, W* in full, predicted by the solver."""
    dimension, width, points, degree = 5, 12, 7, 4
    found = measured(dimension, (3,), degrees=[degree], widths=[width], points=points, draws=1)
    streams = Streams(("fit",), (3,)).at("expressivity")
    x = build("inputs", {"name": "sphere"}, dimension=dimension).sample(streams.at("points"), "points", 0, points)
    x = x[0].astype(np.float64)
    beta = streams.at("direction").generators()[0].standard_normal(dimension)
    beta /= np.linalg.norm(beta)
    rows = streams.at("w0", 0).rows(0, width // 2, lambda g, count: g.standard_normal((count, dimension)))[0]
    # E[relu(g)(g^2 - 1)] = 1/sqrt(2 pi) and E (g^2 - 1)^2 = 2: the amplitude sqrt(2 pi) (g^2 - 1) gives <b, x>^2.
    amplitude = np.sqrt(2 * pi) * ((rows @ beta) ** 2 - 1)
    weights = np.concatenate([np.sqrt(np.maximum(s * amplitude, 0))[:, None] * beta for s in (1, -1)])
    weights *= 2 * width**-0.25
    gates = np.maximum(x @ np.concatenate([rows, rows]).T, 0)
    signs = np.repeat([1.0, -1.0], width // 2)
    outputs = predict(x, gates, signs, weights, 2)
    target = (x @ beta) ** degree
    expected = np.sqrt(np.mean((outputs - target) ** 2) / np.mean(target**2))
    assert found["fit_error"].values.item() == pytest.approx(expected, rel=1e-6)
    assert found["norm"].values.item() == pytest.approx(np.sum(np.sum(weights**2, axis=1) ** 2) ** 0.25, rel=1e-9)


def test_the_error_has_the_variance_of_independent_neurons():
    """p = 2: Var f^Q = (2/m) <b, x>^4 (2 pi E relu(g)^2 - 1) = (2/m)(pi - 1) <b, x>^4, so the ratio is constant."""
    widths = [10, 100]
    found = measured(4, (0, 1, 2), degrees=[2], widths=widths, points=40, draws=300)["fit_error"].values[:, 0]
    np.testing.assert_allclose(found, np.broadcast_to(np.sqrt(2 * (pi - 1) / np.array(widths)), (3, 2)), rtol=0.15)


def test_the_norm_approaches_that_of_infinitely_many_neurons_below_the_bound():
    """8 E a^2 = 8 / s_{p-2}^2; the bound of the paper, with failure 1, is at least twice that."""
    degrees = [2, 3, 4, 6]
    found = measured(4, (0, 1), degrees=degrees, widths=[20000], points=1, draws=2, failure=1.0)
    expected = np.array([(8 / hermite_coefficient("relu", p - 2) ** 2) ** 0.25 for p in degrees])
    # a^4 has heavy tails at p = 6.
    for position, room in enumerate([1e-9, 0.03, 0.05, 0.25]):
        np.testing.assert_allclose(found["norm"].values[:, position, 0], expected[position], rtol=room)
    assert np.all(found["norm_bound"].values[:, 0] >= expected * 2**0.25 * (1 - 1e-12))
    assert norm_bound(6, 0.1) == pytest.approx((32 * pi * 64 / 0.1) ** 0.25)


def test_the_share_of_draws_within_the_bound_is_that_of_one_normal_variable():
    """p = 4, one pair: |W*|^4 = 8 * 2 pi (g^2 - 1)^2 <= 32 pi 8 / delta while g^2 <= 5, at delta = 1."""
    found = measured(3, (0, 1, 2), degrees=[4], widths=[2], points=1, draws=1000, failure=1.0)
    share = found["share_within_bound"].values
    assert share.mean() == pytest.approx(norm.cdf(5**0.5) - norm.cdf(-(5**0.5)), abs=0.01)
    assert np.all(share < 1)
    # The largest draw is within the bound only where all of them are.
    assert np.all(found["norm"].values[:, 0, 0] > found["norm_bound"].values[0])


def test_a_power_that_is_left_out_keeps_the_error_of_the_nearest_cube():
    """p = 5 on the sphere: with E t^{2k} = (2k-1)!! / (d (d+2) ...) the best c t^3 leaves 1 - 7 (d+8) / 9 (d+6) of
    E t^10, whatever the width; the weights' fourth power is c^2 = (7 / (d+6))^2 times that of p = 3."""
    dimension = 5
    found = measured(dimension, degrees=[3, 5], widths=[400, 40000], points=3000, draws=2)
    left = np.sqrt(1 - 7 * (dimension + 8) / (9 * (dimension + 6)))
    np.testing.assert_allclose(found["fit_error"].values[:, 1, 1], left, rtol=0.1)
    norms = found["norm"].values[:, :, 1]
    np.testing.assert_allclose((norms[:, 1] / norms[:, 0]) ** 4, (7 / (dimension + 6)) ** 2, rtol=0.2)
    for name in ("norm_bound", "share_within_bound", "share_without_degree"):
        assert np.isnan(found[name].values[..., 1, :]).all() and np.isfinite(found[name].values[..., 0, :]).all()


def test_the_norms_of_degree_six_are_not_within_a_bound_that_does_not_grow_with_the_degree():
    found = measured(4, degrees=[2, 6], widths=[2000], points=1, draws=20)
    np.testing.assert_allclose(found["norm_bound_without_degree"].values[:, 0], norm_bound(2, 0.1))
    assert np.all(found["share_within_bound"].values == 1)
    assert np.all(found["share_without_degree"].values[:, 1, 0] < 0.9)


def test_a_width_has_its_values_whatever_is_measured_beside_it():
    options = {"degrees": [3, 6], "points": 6, "draws": 2}
    together = measured(seeds=(0, 4), widths=[60, 8, 30], **options)
    alone = measured(seeds=(4,), widths=[30], **options)
    for name in ("fit_error", "norm", "share_within_bound"):
        np.testing.assert_allclose(alone[name].values[0, :, 0], together[name].values[1, :, 2], rtol=1e-10)
    assert np.all(together["fit_error"].values[0] != together["fit_error"].values[1])


def test_variables_are_named_and_counted():
    found = measured(degrees=[2, 4], widths=[8, 20], points=6, draws=3, law="hypercube")
    assert set(Expressivity.MEASURES) < set(found)
    assert found["norm"].dimensions == ("seed", "degree", "width")
    assert found["norm_bound"].dimensions == ("degree", "width")
    # 3 draws of 10 pairs at 6 points: products with 5 coordinates and with 2 amplitudes.
    assert np.array_equal(found["flops"].values, np.full(2, 2 * 3 * 10 * 6 * 7))


def test_powers_beyond_the_lemma_and_other_norms_are_refused():
    assert [p for p in range(1, 9) if expressible(p)] == [2, 3, 4, 6, 8]
    with pytest.raises(ValueError, match="input law 'gaussian'; expected one of sphere"):
        measured(law="gaussian")
