"""The complexity's closed form against direct maximisation over the ball, and its bounds against all signs."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize

from hierlearn.theory.rademacher import (
    extreme_eigenvalues,
    isotropic_edge,
    matrix_bound,
    operator_norm,
    symmetric_suprema,
)


def case(n=9, dimension=3, width=4, seed=0):
    generator = np.random.default_rng(seed)
    features = generator.standard_normal((n, dimension))
    gates = np.maximum(features @ generator.standard_normal((dimension, width // 2)), 0.0)
    signs = np.repeat([1.0, -1.0], width // 2)
    return features, np.tile(gates, (1, 2)), signs, generator.choice([-1.0, 1.0], (2, n))


def correlation(features, gates, signs, draw, weights):
    """(1/n) sum_i sigma_i f_W(x_i), written out."""
    outputs = gates * (features @ weights.T) ** 2 @ signs / (2 * np.sqrt(len(signs)))
    return draw @ outputs / len(draw)


def maximised(features, gates, signs, draw):
    """Over all directions: both sides grow as the square of W, so the ratio has no constraint left."""
    shape = (len(signs), features.shape[1])

    def ratio(flat):
        weights = flat.reshape(shape)
        size = np.sqrt(np.sum(np.sum(weights**2, axis=1) ** 2))
        return -correlation(features, gates, signs, draw, weights) / size

    starts = np.random.default_rng(1).standard_normal((6, shape[0] * shape[1]))
    return max(-minimize(ratio, start, method="BFGS").fun for start in starts)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_supremum_is_what_direct_maximisation_finds(seed):
    features, gates, signs, draws = case(seed=seed)
    closed = symmetric_suprema(extreme_eigenvalues(features, gates, draws), len(signs))
    for value, draw in zip(closed, draws, strict=True):
        assert maximised(features, gates, signs, draw) == pytest.approx(value, rel=1e-5)


def test_no_weights_in_the_ball_exceed_the_supremum():
    features, gates, signs, draws = case(width=6, seed=4)
    closed = symmetric_suprema(extreme_eigenvalues(features, gates, draws), len(signs))
    for weights in np.random.default_rng(2).standard_normal((300, 6, 3)):
        inside = weights / np.sum(np.sum(weights**2, axis=1) ** 2) ** 0.25
        assert correlation(features, gates, signs, draws[0], inside) <= closed[0] + 1e-12


def test_neurons_that_cannot_help_stay_out():
    """All draws +-1: every a_r A_r is negative for half of the neurons, whose best weights are 0."""
    features, gates, _, draws = case()
    for draw in (np.abs(draws), -np.abs(draws)):
        extremes = extreme_eigenvalues(features, gates, draw)
        largest = np.abs(extremes[:, :2]).max(axis=-1)
        np.testing.assert_allclose(symmetric_suprema(extremes, 4), np.sqrt(np.mean(largest**2, axis=1) / 8), rtol=1e-12)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_bound_holds_for_the_mean_over_all_signs(seed):
    generator = np.random.default_rng(seed)
    features = generator.standard_normal((8, 3)) * [3.0, 1.0, 0.3]
    gates = (features @ generator.standard_normal((3, 2)) >= 0).astype(float)
    draws = np.array(list(product([-1.0, 1.0], repeat=8)))
    complexity = np.mean(symmetric_suprema(extreme_eigenvalues(features, gates, draws), 4))
    norms = np.linalg.norm(features, axis=1)
    assert 0 < complexity <= matrix_bound(features, 4, norms.max())
    assert matrix_bound(features, 4, np.sqrt(np.mean(norms**2))) < matrix_bound(features, 4, norms.max())


def test_the_bound_is_linear_in_the_norm_and_falls_as_the_root_of_the_samples():
    features = np.random.default_rng(0).standard_normal((40, 5))
    assert matrix_bound(features, 8, 3.0) == pytest.approx(3 * matrix_bound(features, 8, 1.0))
    assert matrix_bound(np.tile(features, (4, 1)), 8, 1.0) == pytest.approx(0.5 * matrix_bound(features, 8, 1.0))


def test_the_operator_norm_is_the_largest_singular_value():
    features = np.random.default_rng(0).standard_normal((30, 6)).astype(np.float32)
    expected = np.linalg.svd(features.astype(np.float64), compute_uv=False)[0] ** 2 / 30
    assert operator_norm(features) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("dimension", [12, 40])
def test_random_matrix_theory_gives_the_complexity_of_isotropic_features(dimension):
    generator, count = np.random.default_rng(5), 60 * dimension
    values = []
    for _ in range(3):
        x = generator.standard_normal((count, dimension))
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        gates = x @ generator.standard_normal((dimension, 2)) >= 0
        extremes = extreme_eigenvalues(x, gates, generator.choice([-1.0, 1.0], (10, count)))
        values.append(symmetric_suprema(extremes, 4))
    assert np.mean(values) == pytest.approx(isotropic_edge(count, dimension), rel=0.04)
