"""Products that shifts do not change, against all strings of signs."""

from itertools import product

import numpy as np
import pytest

from hierlearn.core.problem import pose
from hierlearn.core.registry import build
from hierlearn.core.streams import Streams

SEEDS = Streams(("a test",), (0, 1, 2, 3, 4, 5), 1)


def posed(dimension, alpha=0.5):
    inputs = build("inputs", {"name": "hypercube"}, dimension=dimension)
    return pose(inputs, build("teachers", {"name": "shift_products", "alpha": alpha}), "paper", 0.0, SEEDS)


def strings(dimension):
    return np.tile(np.array(list(product((-1, 1), repeat=dimension)), np.float32), (len(SEEDS.seeds), 1, 1))


# In 6 and 7 dimensions one distance may be twice the other, or its negative, and F is not orthogonal to the product.
@pytest.mark.parametrize("dimension", [5, 6, 7, 9])
def test_the_norm_is_that_over_all_strings(dimension):
    problem = posed(dimension)
    target = problem.teacher.target(problem.state, strings(dimension))
    np.testing.assert_allclose(problem.norm, np.sqrt(np.mean(np.sum(target**2, axis=-1), axis=1)), rtol=1e-12)


def test_the_two_features_are_orthonormal_and_no_shift_changes_the_target():
    problem, x = posed(9), strings(9)
    base = problem.teacher.bases(problem.state, x)
    np.testing.assert_allclose(np.swapaxes(base, 1, 2) @ base / x.shape[1], np.tile(np.eye(2), (6, 1, 1)), atol=1e-12)
    target = problem.teacher.target(problem.state, x)
    for shift in (1, 4):
        moved = problem.teacher.target(problem.state, np.roll(x, shift, axis=-1))
        np.testing.assert_allclose(moved, target, atol=1e-12)


def test_the_target_is_the_features_and_alpha_times_their_product():
    problem, x = posed(7, alpha=0.25), strings(7)
    base, parts = problem.teacher.bases(problem.state, x), problem.teacher.parts(problem.state, x)
    np.testing.assert_array_equal(parts["base"], base)
    np.testing.assert_allclose(parts["composite"][..., 1], 0.25 * base[..., 0] * base[..., 1])


def test_distances_differ_and_stay_below_half_the_circle():
    distances = posed(8).state["distances"]
    assert np.all(distances[:, 0] != distances[:, 1])
    assert distances.min() >= 1
    assert distances.max() <= 3


def test_too_few_coordinates_are_refused():
    with pytest.raises(ValueError, match="shift_products: dimension 4; expected at least 5"):
        posed(4)
