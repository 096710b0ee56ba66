"""Orthonormal polynomials, quadrature and spectra against scipy, adaptive integration and sampling."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import eval_gegenbauer, eval_hermitenorm, gammaln

from hierlearn.kernels.arcsin import Arcsin
from hierlearn.kernels.ntk_raw import NtkRaw
from hierlearn.kernels.rbf import Rbf
from hierlearn.theory.dimensions import harmonics
from hierlearn.theory.gegenbauer import hermite, orthonormal, quadrature, spectrum

T = np.linspace(-1.0, 1.0, 21)


def _mean(function, dimension):
    """E f(t) by adaptive integration over the angle, where the density is (sin)^{d-2}."""
    log_mass = 0.5 * np.log(np.pi) + gammaln((dimension - 1) / 2) - gammaln(dimension / 2)
    options = {"limit": 400, "epsabs": 1e-13, "epsrel": 1e-12}
    value, _ = quad(lambda a: function(np.cos(a)) * np.sin(a) ** (dimension - 2), 0, np.pi, **options)
    return value / np.exp(log_mass)


@pytest.mark.parametrize("dimension", [3, 6, 20])
@pytest.mark.parametrize("degree", [0, 1, 4, 7])
def test_orthonormal_is_the_normalised_gegenbauer_polynomial_of_scipy(degree, dimension):
    def classical(t):
        return eval_gegenbauer(degree, (dimension - 2) / 2, t)

    expected = classical(T) / np.sqrt(_mean(lambda t: classical(t) ** 2, dimension))
    np.testing.assert_allclose(orthonormal(degree, dimension, T), expected, rtol=1e-9, atol=1e-11)


def test_orthonormal_has_unit_second_moment_on_sampled_spheres():
    x = np.random.default_rng(3).standard_normal((400_000, 8))
    values = orthonormal(4, 8, x[:, 0] / np.linalg.norm(x, axis=1))
    for moment, expected in ((values, 0.0), (values**2, 1.0)):
        assert abs(np.mean(moment) - expected) < 5 * np.std(moment) / np.sqrt(len(values))


@pytest.mark.parametrize("dimension", [2, 3, 20, 320])
def test_orthonormal_at_one_is_the_root_of_the_dimension(dimension):
    for degree in (0, 1, 4, 12):
        assert orthonormal(degree, dimension, np.ones(1))[0] ** 2 == pytest.approx(
            harmonics(dimension, degree), rel=1e-11
        )


def test_hermite_is_that_of_scipy_and_the_limit_of_high_dimension():
    t = np.linspace(-3, 3, 13)
    np.testing.assert_allclose(hermite(5, t), eval_hermitenorm(5, t) / np.sqrt(120.0), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(orthonormal(5, 10**7, t / np.sqrt(10**7)), hermite(5, t), atol=1e-4)


@pytest.mark.parametrize("dimension", [2, 3, 6, 80, 320])
def test_quadrature_keeps_polynomials_orthonormal_up_to_high_degree(dimension):
    nodes, masses = quadrature(dimension, 2000)
    values = np.stack([orthonormal(k, dimension, nodes) for k in range(41)])
    np.testing.assert_allclose((values * masses) @ values.T, np.eye(41), atol=1e-11)
    assert np.all(np.diff(nodes) > 0)
    assert np.array_equal(nodes, -nodes[::-1])


@pytest.mark.parametrize("dimension", [6, 20])
@pytest.mark.parametrize("kernel", [NtkRaw(), NtkRaw(activation="relu"), Arcsin(), Rbf(bandwidth=0.8)], ids=str)
def test_spectrum_agrees_with_adaptive_integration(kernel, dimension):
    result = spectrum(kernel.profile, dimension, 6)
    for degree in range(7):
        mean = _mean(lambda t, k=degree: kernel.profile(np.array(t)) * orthonormal(k, dimension, t), dimension)
        assert result.eigenvalues[degree] * np.sqrt(harmonics(dimension, degree)) == pytest.approx(mean, abs=2e-10)


def test_spectrum_and_tail_add_up_to_the_trace():
    result = spectrum(NtkRaw().profile, 20, 5)
    assert np.sum(result.multiplicity * result.eigenvalues) + result.tail == pytest.approx(0.5, rel=1e-12)
    assert spectrum(NtkRaw().profile, 20, [0, 4]).eigenvalues[1] == result.eigenvalues[4]


def test_spectrum_sees_the_parity_holes():
    assert np.all(spectrum(Arcsin().profile, 10, 6).eigenvalues[::2] == 0)
    assert np.all(spectrum(Arcsin(bias=True).profile, 10, 6).eigenvalues > 0)
    assert spectrum(NtkRaw(activation="relu2", bias=False).profile, 10, 4).eigenvalues[4] == 0
    assert spectrum(NtkRaw(activation="relu", bias=False).profile, 10, 4).eigenvalues[3] == 0
    assert np.all(spectrum(NtkRaw(activation="relu2", bias=True).profile, 10, 6).eigenvalues > 0)


def test_spectrum_is_finite_and_positive_in_dimension_320():
    result = spectrum(NtkRaw().profile, 320, 6)
    assert np.all(result.eigenvalues > 0)
    trace = result.multiplicity * result.eigenvalues
    assert 0 < result.tail < trace[4]


def test_spectrum_refuses_a_profile_that_is_no_kernel():
    with pytest.raises(ValueError, match="degree 1; expected none below 0"):
        spectrum(lambda t: t**2 - t**3, 5, 3)
