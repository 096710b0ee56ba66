"""The table of activations against automatic differentiation, finite differences and quadrature."""

import numpy as np
import pytest
import torch
from scipy.integrate import quad
from scipy.special import eval_hermitenorm, factorial

from hierlearn.theory.activations import (
    ACTIVATIONS,
    ANALYTIC_GATES,
    BLOCK,
    LARGEST_ORDER,
    ONE_SIDED,
    POWERS,
    derivative,
    hermite_coefficient,
    monic,
    monic_moment,
    one_sided,
    relu,
)

# Off 0, where a power of relu has its kink.
T = np.array([-7.3, -2.1, -0.9, -0.4, -0.01, 0.02, 0.3, 0.8, 1.7, 4.6])
REFERENCE = {
    "step": lambda t: (t >= 0).double(),
    "relu": torch.relu,
    "relu2": lambda t: torch.relu(t) ** 2 / 2,
    "relu3": lambda t: torch.relu(t) ** 3 / 6,
    "erf": torch.erf,
    "sin": torch.sin,
    "softplus": lambda t: torch.log1p(torch.exp(t)),
    "tanh": torch.tanh,
    "quadratic": torch.square,
    "exponential": torch.expm1,
}
EVERY = [(name, k) for name in ACTIVATIONS for k in range(ACTIVATIONS[name].largest_order + 1)]


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_every_order_is_that_of_automatic_differentiation(name):
    t = torch.tensor(T, requires_grad=True)
    value = REFERENCE[name](t)
    for k in range(ACTIVATIONS[name].largest_order + 1):
        np.testing.assert_allclose(derivative(name, k)(T), value.detach().numpy(), rtol=1e-9, atol=1e-12)
        if k < ACTIVATIONS[name].largest_order and value.requires_grad:
            (value,) = torch.autograd.grad(value.sum(), t, create_graph=True)


@pytest.mark.parametrize(("name", "k"), [(name, k) for name, k in EVERY if k])
def test_every_order_is_the_slope_of_the_one_before(name, k):
    step = 1e-5
    before = derivative(name, k - 1)
    slope = (before(T + step) - before(T - step)) / (2 * step)
    np.testing.assert_allclose(derivative(name, k)(T), slope, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(("name", "k"), EVERY)
def test_single_precision_stays_single_and_close_to_double(name, k):
    t = np.concatenate([T, np.linspace(-12, 12, 49) + 0.013]).astype(np.float32).reshape(1, -1)
    single, double = derivative(name, k)(t), derivative(name, k)(t.astype(np.float64))
    assert single.dtype == np.float32
    assert double.dtype == np.float64
    assert single.shape == t.shape
    np.testing.assert_allclose(single, double, rtol=1e-3, atol=3e-6)


@pytest.mark.parametrize("name", [*ANALYTIC_GATES, "tanh"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_far_from_zero_nothing_overflows(name, dtype):
    t = np.array([-1e30, -1e4, -90.0, 90.0, 1e4, 1e30], dtype=dtype)
    with np.errstate(over="raise", invalid="raise"):
        values = [derivative(name, k)(t) for k in range(LARGEST_ORDER + 1)]
    assert np.all(np.isfinite(values))
    if name == "softplus":
        np.testing.assert_allclose(values[0], np.maximum(t, 0), atol=1e-30)
        np.testing.assert_allclose(values[1], t > 0, atol=1e-30)


def test_small_tails_keep_their_digits():
    """s(1 - s) at t = 40 is e^-40, which 1 - s in double precision would give as 0."""
    for t in (-40.0, 40.0):
        assert derivative("softplus", 2)(np.array([t]))[0] == pytest.approx(np.exp(-40.0), rel=1e-12)


def test_the_last_derivative_of_a_relu_power_is_a_step_that_is_one_at_zero():
    t = np.array([-1.0, 0.0, 2.0])
    for name, power in ONE_SIDED.items():
        assert ACTIVATIONS[name].largest_order == power
        assert np.array_equal(derivative(name, power)(t), [0.0, 1.0, 1.0])
        assert not ACTIVATIONS[name].analytic
    assert all(ACTIVATIONS[name].analytic for name in ANALYTIC_GATES)


def normal_mean(function):
    return quad(lambda g: function(g) * np.exp(-(g**2) / 2) / np.sqrt(2 * np.pi), -12, 12, points=[0], limit=200)[0]


@pytest.mark.parametrize("name", ONE_SIDED)
def test_a_derivative_of_a_relu_power_is_a_factor_times_a_one_sided_power(name):
    for k in range(ACTIVATIONS[name].largest_order + 1):
        power, factor = one_sided(name, k)
        np.testing.assert_allclose(derivative(name, k)(T), factor * np.where(T > 0, T**power, 0.0), rtol=1e-14)


@pytest.mark.parametrize("name", ONE_SIDED)
def test_hermite_coefficients_are_those_of_quadrature(name):
    sigma = derivative(name, 0)
    for degree in range(9):
        expected = normal_mean(lambda g, q=degree: sigma(np.array(g)) * eval_hermitenorm(q, g) / np.sqrt(factorial(q)))
        assert hermite_coefficient(name, degree) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", POWERS)
def test_a_power_without_its_factor_has_leading_coefficient_one_and_the_moment_of_quadrature(name):
    phi = monic(name)
    assert phi(np.array(3.0)) == 3.0 ** POWERS[name]
    assert monic_moment(name) == pytest.approx(normal_mean(lambda g: phi(np.array(g)) ** 2), rel=1e-9)


def test_orders_that_do_not_exist_are_refused():
    for name, order in (("relu2", 3), ("relu3", 4), ("erf", LARGEST_ORDER + 1), ("sin", -1)):
        with pytest.raises(
            ValueError, match=rf"order {order} of {name}; expected 0 to {ACTIVATIONS[name].largest_order}"
        ):
            derivative(name, order)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_relu_is_the_positive_part_of_every_entry_whatever_the_shape_and_passes_nan_on(dtype):
    t = np.random.default_rng(0).standard_normal((3, BLOCK // 2 + 1)).astype(dtype)
    expected = np.where(t > 0, t, 0)
    np.testing.assert_array_equal(relu(t), expected)
    np.testing.assert_array_equal(relu(t.T), expected.T)
    assert relu(t[0, 0]).shape == ()
    t[1, 5], expected[1, 5] = np.nan, np.nan
    assert relu(t, out=t) is t
    np.testing.assert_array_equal(t, expected)
    assert t.dtype == dtype
