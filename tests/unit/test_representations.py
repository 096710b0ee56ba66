"""Whitening against its definition."""

import numpy as np
import pytest
from scipy.linalg import sqrtm

from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.representations.neural import Neural

STREAMS = Streams(("representations",), (0, 1))
SPHERE = build("inputs", {"name": "sphere"}, dimension=4)
ACTIVATIONS = {
    "step": lambda t: (t >= 0).astype(float),
    "relu": lambda t: np.where(t > 0, t, 0.0),
    "relu2": lambda t: np.where(t > 0, t, 0.0) ** 2,
    "quadratic": lambda t: t**2,
}


def points(count, role="unlabelled"):
    return SPHERE.sample(STREAMS, role, 0, count)


def random_features(name, state, x, seed):
    return ACTIVATIONS[name](x[seed].astype(float) @ state["V"][seed].T.astype(float) + state["b"][seed])


@pytest.mark.parametrize("name", ["step", "relu", "relu2"])
def test_full_whitening_is_the_symmetric_inverse_root_of_the_second_moment(name):
    neural = Neural(features=name, bias=False, count=9, unlabelled=3000)
    x = points(3000)
    state = neural.fit(x, STREAMS)
    for seed in range(2):
        g = random_features(name, state, x, seed)
        root = np.linalg.inv(np.real(sqrtm(g.T @ g / len(g))))
        np.testing.assert_allclose(state["whitening"][seed], root / 3, rtol=2e-3, atol=2e-4 * np.abs(root).max())
        new = random_features(name, state, points(50, "test"), seed) @ root / 3
        np.testing.assert_allclose(neural.apply(state, points(50, "test"))[seed], new, rtol=1e-2, atol=1e-2)


def test_full_whitening_makes_the_second_moment_the_identity():
    neural = Neural(features="relu", bias=False, count=8, unlabelled=1000)
    x = points(1000)
    h = neural.apply(neural.fit(x, STREAMS), x).astype(float)
    np.testing.assert_allclose(np.einsum("snd,sne->sde", h, h) / 1000 * 8, np.stack([np.eye(8)] * 2), atol=2e-3)


def test_truncated_whitening_keeps_the_leading_directions_as_identity():
    neural = Neural(features="relu", count=12, whiten="truncated", directions=5, unlabelled=1000)
    x = points(1000)
    state = neural.fit(x, STREAMS)
    h = neural.apply(state, x).astype(float)
    assert h.shape == (2, 1000, 5)
    np.testing.assert_allclose(np.einsum("snd,sne->sde", h, h) / 1000 * 5, np.stack([np.eye(5)] * 2), atol=2e-3)
    for seed in range(2):
        g = random_features("relu", state, x, seed)
        leading = np.linalg.svd(g / np.sqrt(1000), full_matrices=False)[1][:5]
        np.testing.assert_allclose(state["spectrum"][seed][:5], leading**2, rtol=1e-4)
        # the same space as that of the leading right singular vectors
        vectors = np.linalg.svd(g, full_matrices=False)[2][:5]
        outside = h[seed] - g @ vectors.T @ np.linalg.lstsq(g @ vectors.T, h[seed], rcond=None)[0]
        assert np.abs(outside).max() < 1e-3


def test_quadratic_features_with_a_bias_are_whitened_in_all_polynomials_of_degree_2():
    """(v.x + b)^2 on the sphere in R^4 span 1 + 4 + 9 polynomials: of the 15 directions kept, one is empty."""
    neural = Neural(features="quadratic", count=30, whiten="truncated", directions=15, unlabelled=800)
    x, new = points(800), points(500, "test").astype(float)
    state = neural.fit(x, STREAMS)
    assert np.abs(state["b"]).min() > 0
    assert state["rank"].tolist() == [14, 14]
    h, seen = neural.apply(state, x).astype(float), neural.apply(state, new).astype(float)
    assert h.shape == (2, 800, 15)
    assert np.array_equal(h[..., 14:], np.zeros((2, 800, 1)))
    np.testing.assert_allclose(
        np.einsum("snd,sne->sde", h, h)[:, :14, :14] / 800 * 14, np.stack([np.eye(14)] * 2), atol=5e-3
    )
    for seed in range(2):
        products = new[seed][:, :, None] * new[seed][:, None, :]
        polynomials = np.column_stack([np.ones(500), new[seed], products.reshape(500, -1)])
        # A combination of h gives each polynomial, and of polynomials each h.
        for target, source in ((polynomials, seen[seed]), (seen[seed], polynomials)):
            found = source @ np.linalg.lstsq(source, target, rcond=1e-5)[0]
            np.testing.assert_allclose(found, target, atol=5e-3)


@pytest.mark.parametrize("whiten", ["full", "truncated"])
def test_directions_without_signal_are_left_out_instead_of_blown_up(whiten):
    """Quadratic features without bias on the sphere in R^4 span 10 dimensions however many there are."""
    neural = Neural(features="quadratic", bias=False, count=30, whiten=whiten, unlabelled=800)
    state = neural.fit(points(800), STREAMS)
    assert state["rank"].tolist() == [10, 10]
    h = neural.apply(state, points(500, "test")).astype(float)
    assert np.isfinite(h).all()
    np.testing.assert_allclose(np.mean(np.sum(h**2, axis=-1), axis=1), 1.0, rtol=0.1)
    assert [np.linalg.matrix_rank(one, tol=1e-2) for one in h] == [10, 10]


def test_without_whitening_features_are_only_scaled():
    neural = Neural(features="relu", count=6, whiten="none", unlabelled=400)
    x = points(400)
    state = neural.fit(x, STREAMS)
    h = neural.apply(state, x)
    for seed in range(2):
        ratio = h[seed][h[seed] > 0.05] / random_features("relu", state, x, seed)[h[seed] > 0.05]
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-4)


def test_the_spectrum_falls_and_sums_to_the_mean_square():
    neural = Neural(features="step", count=10, unlabelled=500)
    x = points(500)
    state = neural.fit(x, STREAMS)
    assert np.all(np.diff(state["spectrum"], axis=1) <= 1e-12)
    squares = [np.mean(np.sum(random_features("step", state, x, seed) ** 2, axis=1)) for seed in range(2)]
    np.testing.assert_allclose(state["spectrum"].sum(axis=1), squares, rtol=1e-6)


def test_weights_and_biases_are_standard_normal():
    state = Neural(features="step", count=400, whiten="none").fit(points(20), STREAMS)
    for values in (state["V"], state["b"]):
        assert abs(values.mean()) < 5 / np.sqrt(values.size)
        assert abs(values.std() - 1) < 5 / np.sqrt(values.size)


def test_the_bias_can_be_left_out():
    assert not Neural(count=20, bias=False).fit(points(40), STREAMS)["b"].any()


def test_units_that_never_switch_are_no_directions_of_their_own():
    """With a bias beyond |v| a step feature is constant; several such units are one direction, not singular ones."""
    neural = Neural(features="step", count=40, unlabelled=500)
    state = neural.fit(points(500), STREAMS)
    assert np.all(state["rank"] < 40)
    h = neural.apply(state, points(500)).astype(float)
    np.testing.assert_allclose(np.mean(np.sum(h**2, axis=-1), axis=1), 1.0, rtol=1e-3)


def test_more_directions_than_features_are_refused():
    with pytest.raises(ValueError, match="directions 9; expected at most count = 8"):
        Neural(count=8, whiten="truncated", directions=9)


def test_full_whitening_ignores_a_number_of_directions():
    x = points(60)
    whole, cut = (Neural(count=8, directions=n, unlabelled=60).fit(x, STREAMS)["whitening"] for n in (0, 3))
    assert np.array_equal(whole, cut)
