"""Complexities of functions against decimal arithmetic of many digits, rational recurrences and closed forms."""

from decimal import Decimal, localcontext
from fractions import Fraction
from math import cosh, exp, factorial, log, pi, sinh, sqrt, tan

import numpy as np
import pytest

from hierlearn.theory.function_complexity import (
    log_complexities,
    log_sample_complexity,
    log_smooth_complexity,
    polynomial,
    series,
    sufficient_degree,
)


def exact_tanh(degree):
    """Taylor coefficients of tanh from tanh' = 1 - tanh^2."""
    c = [Fraction(0)]
    for i in range(degree):
        square = sum((c[j] * c[i - j] for j in range(i + 1)), Fraction(0))
        c.append(((1 if i == 0 else 0) - square) / (i + 1))
    return c


def exact(function, degree):
    if function == "tanh":
        return exact_tanh(degree)
    present = {"sin": lambda i: i % 2 == 1, "cos": lambda i: i % 2 == 0, "exponential": lambda i: i > 0}[function]
    return [Fraction(int(present(i)), factorial(i)) for i in range(degree + 1)]


def decimal_log_sample_complexity(coefficients, epsilon, constant):
    """log C_eps by summing it as it is written."""
    with localcontext() as context:
        context.prec, context.Emax = 50, 10**9
        root = (-Decimal(epsilon).ln()).sqrt()
        total = Decimal(0)
        for i, c in enumerate(coefficients):
            size = abs(Decimal(c.numerator) / Decimal(c.denominator))
            second = (root / Decimal(i).sqrt() * constant) ** i if i else Decimal(1)
            total += (Decimal(constant) ** i + second) * size
        return float(total.ln())


@pytest.mark.parametrize("function", ["sin", "cos", "exponential", "tanh"])
def test_coefficients_are_those_of_exact_arithmetic(function):
    found = np.exp(series(function, 40))
    np.testing.assert_allclose(found, [float(abs(c)) for c in exact(function, 40)], rtol=1e-12)
    np.testing.assert_allclose(np.exp(series(function, 40, 0.5)), found * 0.5 ** np.arange(41), rtol=1e-12)


@pytest.mark.parametrize("function", ["sin", "cos", "exponential"])
@pytest.mark.parametrize(("epsilon", "constant"), [(0.1, 2), (1e-30, 1), (1e-3, 40)])
def test_entire_functions_have_the_complexity_of_a_long_decimal_sum(function, epsilon, constant):
    found, _ = log_complexities(function, epsilon, constant=constant)
    assert found == pytest.approx(decimal_log_sample_complexity(exact(function, 400), epsilon, constant), rel=1e-11)


def test_the_papers_constant_does_not_overflow():
    """The first sum is e^C - 1, the second is below it by far: log C_eps = C* for e^z - 1 at C* = 10^4."""
    found, _ = log_complexities("exponential", 1e-3, constant=1e4)
    assert found == pytest.approx(1e4, rel=1e-9)
    assert log_complexities("sin", 1e-3, constant=1e4)[0] == pytest.approx(1e4 - log(2), rel=1e-9)


def test_a_polynomial_has_the_complexity_of_its_terms():
    coefficients = [3.0, 0.0, -2.0, 0.5]
    logs, root = polynomial(coefficients), sqrt(log(1 / 0.01))
    wanted = 2 * 3 + ((10) ** 2 + (10 * root / sqrt(2)) ** 2) * 2 + (10**3 + (10 * root / sqrt(3)) ** 3) * 0.5
    assert log_sample_complexity(logs, 0.01, 10) == pytest.approx(log(wanted), rel=1e-12)
    assert log_smooth_complexity(logs, 10) == pytest.approx(log(10 * (3 + 3 * 2 + 4 * 0.5)), rel=1e-12)


@pytest.mark.parametrize("c", [0.4, 1.0, 3.0])
def test_smooth_complexities_are_derivatives_of_the_series_of_absolute_values(c):
    closed = {
        "exponential": (c + 1) * exp(c) - 1,
        "sin": sinh(c) + c * cosh(c),
        "cos": cosh(c) + c * sinh(c),
    }
    for function, value in closed.items():
        _, found = log_complexities(function, 0.01, scale=c, constant=5.0)
        assert found == pytest.approx(log(5 * value), rel=1e-12), function


def test_the_smooth_complexity_of_tanh_is_that_of_the_tangent():
    for c in (0.3, 1.0, 1.4):
        _, found = log_complexities("tanh", 1e-15, scale=c, constant=1.0)
        assert found == pytest.approx(log(tan(c) + c / np.cos(c) ** 2), rel=1e-10)


def test_tanh_is_cut_where_its_rest_falls_to_epsilon():
    for epsilon in (1e-1, 1e-3, 1e-6):
        degree = sufficient_degree("tanh", epsilon)
        coefficients = [float(c) for c in exact_tanh(degree + 2)]
        z = np.linspace(-1, 1, 201)
        kept = np.polynomial.polynomial.polyval(z, coefficients[: degree + 1])
        assert np.max(np.abs(np.tanh(z) - kept)) <= epsilon
        rest = tan(1) - np.sum(np.abs(coefficients[: degree + 1]))
        assert rest <= epsilon < rest + abs(coefficients[degree])
        wanted = decimal_log_sample_complexity(exact_tanh(degree), epsilon, 30)
        assert log_complexities("tanh", epsilon, constant=30)[0] == pytest.approx(wanted, rel=1e-11)


def test_complexities_grow_with_epsilon_as_the_example_says():
    """Entire functions: o(1/eps), local slopes in log(1/eps) that fall below 1; tanh: a power of 1/eps."""

    def slopes(function, constant):
        steps = [10.0**-e for e in (20, 40, 80, 160, 300)]
        values = [log_complexities(function, epsilon, constant=constant)[0] for epsilon in steps]
        return np.diff(values) / np.diff([-log(epsilon) for epsilon in steps])

    for function in ("sin", "cos", "exponential"):
        found = slopes(function, 3.0)
        assert np.all(np.diff(found) < 0) and found[-1] < 0.5
    found = slopes("tanh", 3.0)
    # The power is that of C* at degree log(1/eps) / log(pi / 2).
    np.testing.assert_allclose(found, found[-1], rtol=0.03)
    assert found[-1] == pytest.approx(log(3.0 * 2 / pi) / log(pi / 2), rel=0.03)
    degrees = [sufficient_degree("tanh", 10.0**-e) for e in (50, 100, 200)]
    assert np.diff(degrees)[1] / np.diff(degrees)[0] == pytest.approx(2, rel=0.03)


def test_what_has_no_complexity_is_refused():
    with pytest.raises(ValueError, match="function 'relu'; expected one of sin"):
        log_complexities("relu", 0.1)
    with pytest.raises(ValueError, match=r"epsilon 1\.0; expected between 0 and 1"):
        log_complexities("sin", 1.0)
    with pytest.raises(ValueError, match=r"tanh with scale 1\.6; expected below pi/2"):
        log_complexities("tanh", 0.1, scale=1.6)
    with pytest.raises(ValueError, match="scale 0; expected above 0"):
        series("sin", 3, 0)
