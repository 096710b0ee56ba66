"""Kernels as polynomials of the angle: which are, and that a polynomial is the kernel."""

import numpy as np
import pytest

from hierlearn.kernels._angle import LARGEST_DEGREE, TOLERANCE, Polynomial, by_range, fitted, of_angle
from hierlearn.kernels.ntk import Ntk
from hierlearn.kernels.ntk_neural import NtkNeural
from hierlearn.kernels.ntk_raw import NtkRaw
from hierlearn.kernels.recursive import Recursive


@pytest.mark.parametrize(
    "kernel",
    [
        NtkRaw(activation="relu3", bias=False),
        *(Ntk(depth=depth, trained="all", bias=False) for depth in (2, 3, 10, 20)),
    ],
    ids=str,
)
def test_layers_of_powers_are_one_polynomial_of_the_angle(kernel):
    polynomial = fitted(kernel._of_cosine)
    assert polynomial.middle == 0
    assert len(polynomial.coefficients) <= LARGEST_DEGREE + 1
    # Between the points of its grid as well, and densely near the ends; closer, the cosine does not hold the angle.
    angle = np.concatenate([np.random.default_rng(0).uniform(0, np.pi, 5000), np.logspace(-6, -1, 500)])
    angle = np.concatenate([angle, np.pi - angle[-500:]])
    values, largest = kernel.profile(np.cos(angle)), kernel.profile(np.array(1.0))
    assert np.max(np.abs(np.polyval(polynomial.coefficients, np.pi / 2 - angle) - values)) < 1.5 * TOLERANCE * largest


def test_more_layers_cost_no_higher_degree():
    three, eight = (fitted(Ntk(depth=depth)._of_cosine).coefficients for depth in (3, 8))
    assert len(eight) <= len(three) + 2


@pytest.mark.parametrize("base", ["arccos0", "arcsin"])
def test_two_layers_that_jump_are_none_where_the_angle_is_0(base):
    two = Recursive(base=base, depth=2)._of_cosine
    assert fitted(Recursive(base=base, depth=1)._of_cosine) is not None
    assert fitted(two) is None
    assert fitted(two, 0.0, np.pi / 2) is None
    assert fitted(two, 0.0, 1.4) is not None


KERNELS = [
    NtkRaw(activation="relu2", bias=False),
    Ntk(depth=2, bias=False),
    Ntk(depth=5, bias=False),
    NtkNeural(features="step", bias=False),
    Recursive(base="arcsin", depth=3),
    Recursive(base="exponential", depth=2),
]


@pytest.mark.parametrize("least, largest", [(0.1, 0.9), (-0.9, 0.9), (-0.3, -0.3), (0.8, 0.92), (-0.98, -0.5)])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_range_of_cosines_has_a_polynomial_of_its_own(kernel, least, largest):
    """In single precision, as tiles are."""
    polynomial = by_range(kernel._of_cosine, 0.98)(least, largest)
    cosine = np.linspace(least, largest, 4001)
    values = of_angle(polynomial, cosine.astype(np.float32), np.empty(4001, np.float32))
    assert values.dtype == np.float32
    assert np.max(np.abs(values - kernel.profile(cosine))) < 5 * TOLERANCE * kernel.profile(np.array(1.0))


@pytest.mark.parametrize("kernel", KERNELS[:3], ids=str)
def test_half_of_all_angles_has_a_lower_degree(kernel):
    half, whole = fitted(kernel._of_cosine, 0.0, np.pi / 2), fitted(kernel._of_cosine)
    assert len(half.coefficients) < len(whole.coefficients)


def test_ranges_that_share_cells_share_a_polynomial():
    of_cosines = by_range(Ntk()._of_cosine)
    assert of_cosines(0.1, 0.9) is of_cosines(0.11, 0.905)
    assert of_cosines(-1.0000001, 1.0000001) is of_cosines(-1.0, 1.0)
    assert of_cosines(1.0, 1.0) is of_cosines(0.97, 1.0)
    assert by_range(Ntk()._of_cosine, 0.5)(0.5, 0.5).middle < np.arcsin(0.5)


def test_horners_rule_takes_the_highest_power_first():
    cosine = np.cos(np.array([[0.1, 1.5], [2.0, 3.1]]))
    s, values = np.arcsin(cosine), np.empty_like(cosine)
    assert of_angle(Polynomial(0.5, (3.0, -2.0, 1.0)), cosine.copy(), values) is values
    np.testing.assert_allclose(values, 3.0 * (s - 0.5) ** 2 - 2.0 * (s - 0.5) + 1.0, rtol=1e-12)


@pytest.mark.parametrize("dimension", [1, 2, 3, 5, 20])
@pytest.mark.parametrize(
    "kernel",
    [NtkRaw(activation="relu2"), NtkRaw(activation="relu", bias=False), Ntk(depth=4), NtkNeural(features="step")],
    ids=str,
)
def test_single_precision_holds_for_points_however_close_or_opposite(kernel, dimension):
    x = np.random.default_rng(0).standard_normal((300, dimension))
    x[1], x[2], x[3] = x[0], -x[0], x[0] + 1e-5 * x[4]
    exact = kernel(x)
    scale = np.sqrt(np.diag(exact))
    assert np.max(np.abs(kernel(x, dtype=np.float32) - exact) / (scale * scale[:, None])) < 1e-6


@pytest.mark.parametrize("spread", [0.0, 1e-8, 1e-6, 0.5])
def test_single_precision_holds_over_many_tiles_whether_or_not_norms_are_alike(spread):
    generator = np.random.default_rng(1)
    x = generator.standard_normal((700, 8))
    x *= 3.0 * (1.0 + spread * generator.uniform(-1, 1, (700, 1))) / np.linalg.norm(x, axis=1, keepdims=True)
    for kernel in (Ntk(depth=3), NtkRaw(activation="relu3", bias=False)):
        exact = kernel(x)
        scale = np.sqrt(np.diag(exact))
        single, across = kernel(x, dtype=np.float32), kernel(x[:100], x[100:], np.float32)
        assert np.array_equal(single, single.T)
        assert np.max(np.abs(single - exact) / (scale * scale[:, None])) < 1e-6
        assert np.max(np.abs(across - exact[:100, 100:]) / (scale[100:] * scale[:100, None])) < 1e-6
