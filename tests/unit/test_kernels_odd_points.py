"""Kernels at zero, single, equal, opposite, far-away and tiny points, against their definitions in 60 digits."""

import runpy
import warnings
from pathlib import Path

import mpmath
import numpy as np
import pytest

from hierlearn.core.registry import available, build

KERNELS = runpy.run_path(str(Path(__file__).parents[1] / "oracles" / "definitions.py"))["KERNELS"]
NORMAL = np.random.default_rng(0).standard_normal((3, 4))
POINTS = {
    "ordinary": NORMAL,
    "zero": np.concatenate([np.zeros((1, 4)), NORMAL[:2]]),
    "one": NORMAL[:1],
    "equal": np.repeat(NORMAL[:1], 2, axis=0),
    "opposite": np.array([[1.0, 2.0, 3.0, 4.0], [-1.0, -2.0, -3.0, -4.0], [2.0, 4.0, 6.0, 8.0]]),
    "far": 1e8 * NORMAL,
    "far and close together": 1e8 + NORMAL,
    "tiny": 1e-12 * NORMAL,
    "tiny and far": np.concatenate([1e-12 * NORMAL[:1], NORMAL[1:2], 1e8 * NORMAL[2:]]),
}
# Close to cosine 1 double precision tells an angle to 1e-7, and single precision no better than its rounding.
ROUNDING = {np.float64: 1e-7, np.float32: 5e-7}
DESCRIBED = [
    *({"name": name} for name in available("kernels")),
    {"name": "arccos", "order": 0, "bias": True},
    {"name": "arccos", "order": 2},
    {"name": "ntk", "depth": 5, "bias": False},
    {"name": "ntk_raw", "activation": "relu3", "bias": False},
    {"name": "ntk_neural", "features": "relu2", "activation": "relu", "bias": False},
    {"name": "ntk_convolutional", "places": 2, "patch": 1, "pooling": True},
    {"name": "ntk_convolutional", "patch": 2, "depth": 2},
    {"name": "ntk_pictures", "height": 2, "width": 1, "pooling": True},
    {"name": "rbf", "bandwidth": 0.3},
    {"name": "recursive", "base": "exponential"},
]
ANGULAR = ("arccos", "arcsin", "ntk", "ntk_raw", "ntk_neural", "recursive")


@pytest.mark.parametrize("points", POINTS)
@pytest.mark.parametrize("described", DESCRIBED, ids=lambda described: "-".join(str(v) for v in described.values()))
def test_values_are_those_of_the_definition_in_both_precisions(described, points):
    """Relative to sqrt(K(x, x) K(z, z)); what a precision does not hold is refused or, below its least number, 0."""
    x, kernel = POINTS[points], build("kernels", described)
    parameters = {key: value for key, value in described.items() if key != "name"}
    exact = [[KERNELS[described["name"]](left, right, **parameters) for right in x] for left in x]
    own = [mpmath.sqrt(exact[i][i]) for i in range(len(x))]
    for dtype, tolerance in ROUNDING.items():
        limits = np.finfo(dtype)
        for z in (None, x.copy()):
            if max(own) ** 2 > float(limits.max):
                with pytest.raises(ValueError, match=f"kernel values beyond .* that {np.dtype(dtype)} holds"):
                    kernel(x, z, dtype=dtype)
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                values = kernel(x, z, dtype=dtype)
            for i, j in np.ndindex(values.shape):
                allowed = tolerance * own[i] * own[j] + float(limits.smallest_normal)
                assert abs(mpmath.mpf(float(values[i, j])) - exact[i][j]) <= allowed, (i, j)


@pytest.mark.parametrize("name", ANGULAR)
@pytest.mark.parametrize("x", [[[2.0, 3.0]], [[1.0, 23.0]], [[3.0]]])
def test_a_cosine_that_rounding_puts_above_one_is_one(name, x):
    kernel = build("kernels", {"name": name})
    np.testing.assert_allclose(kernel(np.array(x), dtype=np.float32), kernel(np.array(x)), rtol=1e-6)


def test_the_arc_cosine_kernel_of_a_point_with_itself_is_its_square():
    assert build("kernels", {"name": "arccos"})(np.array([[2.0, 3.0]]), dtype=np.float32)[0, 0] == np.float32(13)


@pytest.mark.parametrize("name", available("kernels"))
@pytest.mark.parametrize("count", [129, 513])
def test_a_tile_of_one_point_is_as_the_others(name, count):
    x = np.random.default_rng(count).standard_normal((count, 2))
    kernel = build("kernels", {"name": name})
    double, single = kernel(x), kernel(x, dtype=np.float32)
    scale = np.sqrt(np.multiply.outer(np.diag(double), np.diag(double)))
    assert np.max(np.abs(single - double) / scale) < 1e-5
    assert np.max(np.abs(kernel(x, x[-1:].copy()) - double[:, -1:]) / scale[:, -1:]) < 1e-12


@pytest.mark.parametrize("name", available("kernels"))
def test_no_points_have_an_empty_gram_matrix(name):
    kernel = build("kernels", {"name": name})
    assert kernel(np.zeros((0, 3))).shape == (0, 0)
    assert kernel(np.zeros((0, 3)), np.ones((2, 3)), dtype=np.float32).shape == (0, 2)


@pytest.mark.parametrize("bandwidth", [1e-3, 1.0, 7.0])
@pytest.mark.parametrize("shift", [0.0, 1e4, 1e7, 1e8])
def test_a_shift_of_all_points_leaves_the_gaussian_kernel_as_it_is(bandwidth, shift):
    # Multiples of 2^-10 keep their differences at any of these shifts.
    steps = np.round(bandwidth * np.random.default_rng(1).standard_normal((40, 3)) * 2**10) / 2**10
    kernel, moved = build("kernels", {"name": "rbf", "bandwidth": bandwidth}), steps + shift
    squares = np.sum((moved[:, None] - moved) ** 2, axis=-1)
    np.testing.assert_allclose(kernel(moved), np.exp(-squares / (2 * bandwidth**2)), rtol=0, atol=1e-10)
    assert np.linalg.eigvalsh(kernel(moved))[0] > -1e-9


def test_the_gaussian_kernel_of_two_far_points_is_that_of_their_distance():
    value = build("kernels", {"name": "rbf"})(np.array([[1e7], [1e7 + 1]]))
    assert value[0, 1] == pytest.approx(0.6065306597126334, abs=1e-15)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
def test_the_gaussian_kernel_holds_where_squares_of_coordinates_do_not(size):
    x = np.array([[1.0, 2.0], [1.0, 2.0], [2.0, 1.0], [-1.0, 0.0]]) * size
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values = build("kernels", {"name": "rbf"})(x)
    far = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    assert np.array_equal(values, far if size > 1 else np.ones((4, 4)))
