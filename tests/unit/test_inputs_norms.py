"""The scale of hypercube and normal points, and that what was drawn before is drawn still."""

import numpy as np
import pytest

from hierlearn.core.registry import build, defaults
from hierlearn.core.streams import BLOCK_ROWS, Streams
from hierlearn.pipeline.files.problems import essential

STREAMS = Streams(("norms",), (0, 3))
DRAWS = {
    "hypercube": lambda g, d: (g.integers(0, 2, (BLOCK_ROWS, d)) * 2 - 1) / np.sqrt(d),
    "gaussian": lambda g, d: g.standard_normal((BLOCK_ROWS, d)),
}


def drawn(name, count=BLOCK_ROWS, dimension=7, **parameters):
    inputs = build("inputs", {"name": name} | parameters, dimension=dimension)
    return inputs.sample(STREAMS, "test", 0, count)


@pytest.mark.parametrize("name", list(DRAWS))
def test_the_default_draws_the_numbers_that_it_drew_without_a_choice(name):
    wanted = np.stack([DRAWS[name](STREAMS.generator(seed, "block", 0), 7).astype(np.float32) for seed in (0, 3)])
    assert np.array_equal(drawn(name), wanted)


@pytest.mark.parametrize("name", list(DRAWS))
def test_the_default_does_not_enter_the_streams_and_another_norm_does(name):
    content = {"input": {"name": name}, "teacher": {"name": "parity"}, "dimension": 7}
    named = content | {"input": {"name": name} | defaults("inputs", name)}
    other = {"unit": "sqrt_dimension", "sqrt_dimension": "unit"}[defaults("inputs", name)["norm"]]
    assert essential(named) == content
    assert essential(content | {"input": {"name": name, "norm": other}})["input"]["norm"] == other


def test_corners_have_coordinates_of_one_or_norm_one():
    assert set(np.unique(drawn("hypercube", norm="sqrt_dimension"))) == {-1.0, 1.0}
    np.testing.assert_allclose(np.linalg.norm(drawn("hypercube", norm="unit"), axis=-1), 1.0, rtol=1e-6)


def test_normal_points_have_the_second_moment_that_is_asked_for():
    for norm, wanted in (("unit", 1.0), ("sqrt_dimension", 7.0)):
        squares = np.sum(drawn("gaussian", 20_000, norm=norm).astype(float) ** 2, axis=-1)
        assert np.all(np.abs(squares.mean(axis=1) - wanted) < 5 * squares.std(axis=1) / np.sqrt(squares.shape[1]))


@pytest.mark.parametrize("name", list(DRAWS))
def test_the_norms_of_a_law_share_their_directions(name):
    longer, shorter = drawn(name, norm="sqrt_dimension"), drawn(name, norm="unit")
    np.testing.assert_allclose(longer, np.sqrt(7) * shorter, rtol=1e-6)
