"""Second moments of step features against Monte Carlo, scipy's bivariate normal law and quadrature over the sphere."""

from math import pi, sqrt

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import betainc, gammaln
from scipy.stats import multivariate_normal, norm

from hierlearn.theory.assumption2 import approximation_error, second_moment, second_moment_with_biases

LAWS = [("sphere", 3), ("sphere", 4), ("sphere", 9), ("gaussian", 5)]


def units(count, dimension, seed=0):
    generator = np.random.default_rng(seed)
    return generator.standard_normal((count, dimension)), generator.standard_normal(count)


def points(law, dimension, count=400_000):
    x = np.random.default_rng(7).standard_normal((count, dimension))
    return x / np.linalg.norm(x, axis=1, keepdims=True) if law == "sphere" else x


def sampled(rows, biases, x):
    on = (x @ rows.T + biases >= 0).astype(np.float32)
    return (on.T @ on) / len(x)


@pytest.mark.parametrize("order", [0, 1, 2, 3, 4, 7])
def test_the_unresolved_part_is_that_of_a_least_squares_fit_by_polynomials(order):
    """Normal equations in bare powers, the means over z >= 0 by adaptive quadrature."""
    powers = np.arange(order + 1)
    means = [quad(lambda z, j=j: z**j * norm.pdf(z), 0, np.inf)[0] for j in powers]
    moments = [quad(lambda z, j=j: z**j * norm.pdf(z), -np.inf, np.inf)[0] for j in range(2 * order + 1)]
    gram = np.array([[moments[i + j] for j in powers] for i in powers])
    assert approximation_error(order) == pytest.approx(0.5 - means @ np.linalg.solve(gram, means), abs=1e-9)


def test_the_first_unresolved_parts_are_the_known_ones():
    assert approximation_error(1) == approximation_error(2) == pytest.approx(0.25 - 1 / (2 * pi))
    assert approximation_error(3) == pytest.approx(0.0643, abs=1e-4)


@pytest.mark.parametrize(("law", "dimension"), LAWS)
def test_moments_agree_with_sampled_ones(law, dimension):
    rows, biases = units(7, dimension)
    x = points(law, dimension)
    error = 5 * 0.5 / sqrt(len(x))
    np.testing.assert_allclose(second_moment_with_biases(rows, biases, law), sampled(rows, biases, x), atol=error)
    np.testing.assert_allclose(second_moment(rows), sampled(rows, 0.0 * biases, x), atol=error)


def test_normal_moments_are_those_of_the_bivariate_normal_law():
    rows, biases = units(6, 4)
    moment = second_moment_with_biases(rows, biases, "gaussian")
    lengths = np.linalg.norm(rows, axis=1)
    for i in range(6):
        assert moment[i, i] == pytest.approx(norm.cdf(biases[i] / lengths[i]), abs=1e-12)
        for j in range(i):
            cosine = rows[i] @ rows[j] / (lengths[i] * lengths[j])
            law = multivariate_normal(cov=[[1, cosine], [cosine, 1]])
            assert moment[i, j] == pytest.approx(law.cdf([biases[i] / lengths[i], biases[j] / lengths[j]]), abs=1e-7)


@pytest.mark.parametrize("dimension", [4, 6, 30])
def test_moments_on_the_sphere_agree_with_a_quadrature_that_conditions_on_one_unit(dimension):
    """P = int over t = <v_i, x> of the chance that the rest of x, uniform on a smaller sphere, turns unit j on."""
    rows, biases = units(4, dimension, seed=3)
    lengths = np.linalg.norm(rows, axis=1)
    shift, unit = biases / lengths, rows / lengths[:, None]
    log_mass = 0.5 * np.log(pi) + gammaln((dimension - 1) / 2) - gammaln(dimension / 2)

    def below(t):
        """P(a coordinate of a uniform point of S^{d-2} <= t)."""
        t = np.clip(t, -1, 1)
        return 0.5 + 0.5 * np.sign(t) * betainc(0.5, (dimension - 2) / 2, t * t)

    def both(i, j):
        cosine = unit[i] @ unit[j]

        def density(angle):
            t, rest = np.cos(angle), np.sin(angle)
            reach = (shift[j] + t * cosine) / max(rest * sqrt(1 - cosine**2), 1e-300)
            return rest ** (dimension - 2) * below(reach)

        value, _ = quad(density, 0, np.arccos(np.clip(-shift[i], -1, 1)), limit=200, epsabs=1e-11)
        return value / np.exp(log_mass)

    moment = second_moment_with_biases(rows, biases, "sphere")
    for i, j in ((0, 1), (1, 2), (3, 0)):
        assert moment[i, j] == pytest.approx(both(i, j), abs=1e-8)


@pytest.mark.parametrize(("law", "dimension"), LAWS)
def test_without_biases_both_formulas_agree(law, dimension):
    rows, biases = units(12, dimension)
    moment = second_moment_with_biases(rows, 0.0 * biases, law)
    np.testing.assert_allclose(moment, second_moment(rows), atol=1e-7)


@pytest.mark.parametrize("law", ["sphere", "gaussian"])
def test_moments_are_symmetric_and_positive_semi_definite(law):
    rows, biases = units(60, 5)
    moment = second_moment_with_biases(rows, biases, law)
    np.testing.assert_array_equal(moment, moment.T)
    assert np.linalg.eigvalsh(moment)[0] > -1e-12


def test_a_unit_that_is_off_on_the_whole_sphere_makes_the_moment_singular():
    rows, biases = units(5, 4)
    biases[2] = -1.01 * np.linalg.norm(rows[2])
    moment = second_moment_with_biases(rows, biases, "sphere")
    np.testing.assert_allclose(moment[2], 0.0, atol=1e-15)
    assert second_moment_with_biases(rows, biases, "gaussian")[2, 2] > 0.1


def test_what_it_cannot_do_is_refused():
    rows, biases = units(3, 2)
    with pytest.raises(ValueError, match="dimension 2"):
        second_moment_with_biases(rows, biases, "sphere")
    with pytest.raises(ValueError, match="law 'cube'"):
        second_moment_with_biases(rows, biases, "cube")
