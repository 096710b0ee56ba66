"""The operator norm of features against its definition and its two extremes."""

import numpy as np
import pytest

from hierlearn.statistics.features import operator_norm


@pytest.mark.parametrize("shape", [(50, 7), (7, 50)])
def test_it_is_the_largest_singular_value_in_units_of_the_largest_norm(shape):
    h = np.random.default_rng(0).standard_normal((2, *shape)).astype(np.float32)
    for one, found in zip(h.astype(np.float64), operator_norm(h), strict=True):
        wanted = np.linalg.svd(one, compute_uv=False)[0] / np.sqrt(len(one)) / np.linalg.norm(one, axis=1).max()
        assert found == pytest.approx(wanted, rel=1e-10)


def test_isotropic_points_reach_the_least_value_and_one_direction_the_most():
    sphere = np.random.default_rng(1).standard_normal((1, 40_000, 5))
    sphere /= np.linalg.norm(sphere, axis=2, keepdims=True)
    assert operator_norm(sphere)[0] == pytest.approx(5**-0.5, rel=0.02)
    assert operator_norm(np.ones((1, 10, 3)))[0] == pytest.approx(1.0)
    assert np.isnan(operator_norm(np.zeros((1, 4, 3)))[0])
