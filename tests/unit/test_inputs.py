"""The laws of x."""

import numpy as np
import pytest

from hierlearn.core.registry import build
from hierlearn.core.streams import Streams

STREAMS = Streams(("inputs",), (0, 1))


def drawn(name, dimension, count=20_000):
    return build("inputs", {"name": name}, dimension=dimension).sample(STREAMS, "test", 0, count).astype(np.float64)


@pytest.mark.parametrize("name", ["sphere", "hypercube"])
def test_points_have_unit_norm(name):
    np.testing.assert_allclose(np.linalg.norm(drawn(name, 7), axis=-1), 1.0, rtol=1e-6)


@pytest.mark.parametrize(("name", "variance"), [("sphere", 1 / 5), ("hypercube", 1 / 5), ("gaussian", 1.0)])
def test_coordinates_are_centred_and_uncorrelated(name, variance):
    x = drawn(name, 5)
    moment = np.einsum("snd,sne->sde", x, x) / x.shape[1]
    np.testing.assert_allclose(
        moment, variance * np.stack([np.eye(5)] * 2), atol=5 * variance * np.sqrt(2 / x.shape[1])
    )
    np.testing.assert_allclose(x.mean(axis=1), 0.0, atol=5 * np.sqrt(variance / x.shape[1]))


def test_the_fourth_moment_tells_the_laws_apart():
    """E x_1^4 d^2: 1 on the hypercube, 3 d / (d + 2) on the sphere; 3 for a normal coordinate."""
    dimension = 5
    wanted = {"hypercube": 1.0, "sphere": 3 * dimension / (dimension + 2), "gaussian": 3.0}
    for name, value in wanted.items():
        scale = 1 if name == "gaussian" else dimension**2
        assert np.mean(drawn(name, dimension) ** 4) * scale == pytest.approx(value, rel=0.03), name


def test_corners_of_the_cube_are_equally_likely():
    corners = (drawn("hypercube", 3) > 0) @ np.array([1, 2, 4])
    counts = np.bincount(corners.ravel(), minlength=8)
    assert np.all(np.abs(counts - counts.mean()) < 5 * np.sqrt(counts.mean()))
