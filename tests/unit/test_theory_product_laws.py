"""Exact means under laws of independent coordinates: against integrals, enumeration and points."""

from math import factorial

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from hierlearn.theory.distributions import (
    grid,
    least_top_share,
    monic_norms,
    monomials,
    quadratic_feature_moments,
    rule,
)

LAWS = [("gaussian", 1), ("uniform", 1), ("skewed", 2), ("skewed", 4)]


def moment(law, power, order):
    """E x^order of one coordinate by adaptive integration."""
    if law == "gaussian":
        return quad(lambda t: t**order * norm.pdf(t), -12, 12)[0]
    if law == "uniform":
        return quad(lambda t: t**order / (2 * np.sqrt(3)), -np.sqrt(3), np.sqrt(3))[0]
    mean = 1 / (power + 1)
    deviation = np.sqrt(1 / (2 * power + 1) - mean**2)
    return quad(lambda u: ((u**power - mean) / deviation) ** order, 0, 1)[0]


@pytest.mark.parametrize(("law", "power"), LAWS)
def test_a_rule_is_exact_up_to_its_degree(law, power):
    nodes, masses = rule(law, 8, power)
    for order in range(9):
        assert masses @ nodes**order == pytest.approx(moment(law, power, order), abs=1e-8, rel=1e-8)


def test_a_law_of_dependent_coordinates_has_no_rule():
    with pytest.raises(ValueError, match="input law 'sphere'; expected one of gaussian, uniform, skewed"):
        rule("sphere", 4)


def test_monic_norms_are_factorials_for_hermite_and_those_of_legendre():
    np.testing.assert_allclose(monic_norms("gaussian", 5), [factorial(n) for n in range(6)])
    legendre = [3.0**n * (2**n * factorial(n) ** 2 / factorial(2 * n)) ** 2 / (2 * n + 1) for n in range(6)]
    np.testing.assert_allclose(monic_norms("uniform", 5), legendre, rtol=1e-10)


@pytest.mark.parametrize(("law", "power"), LAWS)
@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_the_least_share_of_the_top_degree_is_that_of_the_moment_matrix(law, power, degree):
    points, masses = grid(law, 2, 2 * degree, power)
    values, orders = monomials(points, degree)
    gram, top = values.T @ (values * masses[:, None]), orders == degree
    # The inverse of the lower right block of the inverse is the Schur complement.
    least = 1 / np.linalg.eigvalsh(np.linalg.inv(gram)[np.ix_(top, top)])[-1]
    assert least_top_share(law, degree, 2, power) == pytest.approx(least, rel=1e-6)


def test_normal_coordinates_enough_for_a_product_of_all_have_share_one():
    assert least_top_share("gaussian", 3, 3) == pytest.approx(1.0)
    assert least_top_share("gaussian", 3, 1) == pytest.approx(6.0)
    assert least_top_share("gaussian", 3, 2) == pytest.approx(2.0)


@pytest.mark.parametrize(("law", "power"), LAWS)
def test_moments_of_squared_features_are_sums_over_a_grid(law, power):
    generator = np.random.default_rng(1)
    linear, square = generator.standard_normal((2, 3, 3))
    points, masses = grid(law, 3, 8, power)
    features = points @ linear.T + (points**2 - 1) @ square.T
    covariance, fourth = quadratic_feature_moments(linear, square, *rule(law, 8, power))
    np.testing.assert_allclose(covariance, features.T @ (features * masses[:, None]), rtol=1e-9, atol=1e-9)
    assert fourth == pytest.approx(masses @ np.sum(features**2, axis=1) ** 2, rel=1e-9)


def test_normal_features_have_the_moments_of_isserlis():
    # S = x_1 + a (x_2^2 - 1): E S^2 = 1 + 2 a^2, E S^4 = 3 + 12 a^2 + 60 a^4
    a = 0.7
    covariance, fourth = quadratic_feature_moments(np.array([[1.0, 0.0]]), np.array([[0.0, a]]), *rule("gaussian", 8))
    assert covariance[0, 0] == pytest.approx(1 + 2 * a**2)
    assert fourth == pytest.approx(3 + 12 * a**2 + 60 * a**4)
