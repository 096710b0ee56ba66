"""Kernels as polynomials of the angle: which are, and that a polynomial is the kernel."""

import numpy as np
import pytest

from hierlearn.kernels._angle import LARGEST_DEGREE, TOLERANCE, of_angle, polynomial
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
    coefficients = polynomial(kernel._of_cosine)
    assert len(coefficients) <= LARGEST_DEGREE + 1
    # Between the points of its grid as well, and densely near the ends; closer, the cosine does not hold the angle.
    angle = np.concatenate([np.random.default_rng(0).uniform(0, np.pi, 5000), np.logspace(-6, -1, 500)])
    angle = np.concatenate([angle, np.pi - angle[-500:]])
    values, largest = kernel.profile(np.cos(angle)), kernel.profile(np.array(1.0))
    assert np.max(np.abs(np.polyval(coefficients, np.pi / 2 - angle) - values)) < 1.5 * TOLERANCE * largest


def test_more_layers_cost_no_higher_degree():
    assert len(polynomial(Ntk(depth=8)._of_cosine)) <= len(polynomial(Ntk(depth=3)._of_cosine)) + 2


def test_two_layers_that_jump_are_none():
    assert polynomial(Recursive(base="arccos0", depth=1)._of_cosine) is not None
    assert polynomial(Recursive(base="arccos0", depth=2)._of_cosine) is None
    assert polynomial(Recursive(base="arcsin", depth=2)._of_cosine) is None


def test_horners_rule_takes_the_highest_power_first():
    cosine = np.cos(np.array([[0.1, 1.5], [2.0, 3.1]]))
    s, values = np.arcsin(cosine), np.empty_like(cosine)
    assert of_angle([3.0, -2.0, 1.0], cosine.copy(), values) is values
    np.testing.assert_allclose(values, 3.0 * s**2 - 2.0 * s + 1.0, rtol=1e-12)


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
