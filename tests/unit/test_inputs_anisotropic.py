"""Points of the sphere that prefer some directions."""

import numpy as np
import pytest
from scipy.integrate import quad

from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.theory.spectra import eigenvalues

STREAMS = Streams(("inputs",), (0, 1))


def drawn(dimension, count=40_000, **parameters):
    law = build("inputs", {"name": "anisotropic_sphere", **parameters}, dimension=dimension)
    return law.sample(STREAMS, "test", 0, count).astype(np.float64)


def second_moments(spectrum):
    """E x_j^2 of x = Sigma^{1/2} u / |Sigma^{1/2} u| as an integral.

    1/q = int_0^inf exp(-t q) dt turns E[l_j u_j^2 / sum l u^2] into int l_j / (1 + 2 t l_j) prod (1 + 2 t l_i)^{-1/2}.
    """

    def integrand(t, j):
        return spectrum[j] / (1 + 2 * t * spectrum[j]) * np.prod(1 + 2 * t * spectrum) ** -0.5

    return np.array([quad(integrand, 0, np.inf, args=(j,))[0] for j in range(len(spectrum))])


PARAMETERS = [
    {"spectrum": "isotropic"},
    {"spectrum": "power", "exponent": 1.5},
    {"spectrum": "spiked", "spikes": 2, "spike_share": 0.7},
]


@pytest.mark.parametrize("parameters", PARAMETERS, ids=lambda p: p["spectrum"])
def test_points_are_on_the_unit_sphere_with_the_covariance_of_the_law(parameters):
    x = drawn(7, **parameters)
    np.testing.assert_allclose(np.linalg.norm(x, axis=-1), 1.0, rtol=1e-6)
    moment = np.einsum("snd,sne->de", x, x) / (x.shape[0] * x.shape[1])
    expected = np.diag(second_moments(eigenvalues(dimension=7, name=parameters["spectrum"], **without(parameters))))
    # A product of two coordinates has variance below E x_j^2 x_k^2 <= 1/4.
    np.testing.assert_allclose(moment, expected, atol=5 * 0.5 / np.sqrt(x.shape[0] * x.shape[1]))
    np.testing.assert_allclose(x.mean(axis=(0, 1)), 0.0, atol=5 / np.sqrt(x.shape[0] * x.shape[1]))


def without(parameters):
    return {key: value for key, value in parameters.items() if key != "spectrum"}


def test_isotropic_is_the_uniform_law_up_to_its_fourth_moment():
    dimension = 5
    x = drawn(dimension, spectrum="isotropic")
    assert np.mean(x**4) == pytest.approx(3 / (dimension * (dimension + 2)), rel=0.03)
    np.testing.assert_allclose(np.mean(x**2, axis=(0, 1)), 1 / dimension, rtol=0.03)


def test_the_spectra_have_trace_one_and_the_shape_that_they_are_named_for():
    for name in ("isotropic", "power", "spiked"):
        values = eigenvalues(name, 9)
        assert np.sum(values) == pytest.approx(1.0)
        assert np.all(np.diff(values) <= 0)
    power = eigenvalues("power", 9, exponent=2.0)
    np.testing.assert_allclose(power[0] / power, np.arange(1, 10) ** 2.0)
    spiked = eigenvalues("spiked", 100, spikes=4, spike_share=0.25)
    np.testing.assert_allclose(spiked[:4], 0.0625)
    np.testing.assert_allclose(spiked[4:], 0.75 / 96)
    np.testing.assert_allclose(eigenvalues("spiked", 3, spikes=3), 1 / 3)


def test_the_largest_direction_of_a_spiked_law_does_not_thin_out_with_the_dimension():
    small, large = (np.mean(drawn(d, 4000, spectrum="spiked")[..., 0] ** 2) for d in (20, 320))
    assert large == pytest.approx(small, rel=0.1)
    assert np.mean(drawn(320, 4000, spectrum="isotropic")[..., 0] ** 2) == pytest.approx(1 / 320, rel=0.2)


def test_an_unknown_spectrum_and_too_many_spikes_are_refused():
    with pytest.raises(ValueError, match="spectrum 'flat'; expected one of isotropic, power, spiked"):
        eigenvalues("flat", 4)
    with pytest.raises(ValueError, match="spikes 5; expected at most the dimension 4"):
        eigenvalues("spiked", 4, spikes=5)
