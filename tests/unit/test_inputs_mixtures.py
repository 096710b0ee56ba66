"""Uniform, skewed and mixed normal points: moments against integrals and matrices."""

import numpy as np
import pytest
from scipy.integrate import quad

from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.inputs.gaussian_mixture import GaussianMixture

STREAMS = Streams(("inputs",), (0, 1))


def drawn(name, dimension, count=40_000, **parameters):
    law = build("inputs", {"name": name, **parameters}, dimension=dimension)
    return law.sample(STREAMS, "test", 0, count).astype(np.float64)


def agrees(sample, expected):
    """Whether means over the last axis are within five standard errors of what is expected."""
    error = sample.std(axis=-1) / np.sqrt(sample.shape[-1])
    return np.all(np.abs(sample.mean(axis=-1) - expected) < 5 * error)


def test_uniform_coordinates_are_bounded_with_the_moments_of_their_density():
    x = drawn("uniform", 4)
    assert np.abs(x).max() <= np.sqrt(3) * (1 + 1e-6)
    for power in (1, 2, 3, 4):
        moment, _ = quad(lambda t, p=power: t**p / (2 * np.sqrt(3)), -np.sqrt(3), np.sqrt(3))
        assert agrees(np.moveaxis(x, 1, 2) ** power, moment)
    assert agrees(x[..., 0] * x[..., 1], 0.0)


@pytest.mark.parametrize("power", [1, 2, 4])
def test_skewed_coordinates_have_the_moments_of_a_power_of_a_uniform_variable(power):
    x = np.moveaxis(drawn("skewed", 3, power=power), 1, 2)
    mean = quad(lambda u: u**power, 0, 1)[0]
    deviation = np.sqrt(quad(lambda u: (u**power - mean) ** 2, 0, 1)[0])
    for order in (1, 2, 3, 4):
        assert agrees(x**order, quad(lambda u, k=order: ((u**power - mean) / deviation) ** k, 0, 1)[0])


def test_skewness_is_that_of_the_docstring():
    for power, expected in ((1, 0.0), (2, 0.64), (4, 1.38)):
        assert np.mean(drawn("skewed", 20, power=power) ** 3) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("dimension", [2, 3, 17])
def test_components_have_equal_rows_and_the_condition_that_is_asked_for(dimension):
    covariances = GaussianMixture(dimension, components=3, condition=6).covariances()
    np.testing.assert_allclose(np.diagonal(covariances, axis1=1, axis2=2), 1.0, atol=1e-12)
    spectra = np.linalg.eigvalsh(covariances)
    np.testing.assert_allclose(spectra[:, -1] / spectra[:, 0], 6.0, rtol=1e-9)
    assert not np.allclose(covariances[0], covariances[1])


def test_unequal_rows_average_to_variance_one_with_the_condition_that_is_asked_for():
    for components in (2, 3):
        covariances = GaussianMixture(9, components=components, condition=4, row_norms="unequal").covariances()
        np.testing.assert_allclose(np.mean(np.diagonal(covariances, axis1=1, axis2=2), axis=0), 1.0)
        assert set(np.round(np.diagonal(covariances[0]), 9)) <= {0.4, 1.6}


@pytest.mark.parametrize("row_norms", ["equal", "unequal"])
def test_mixed_points_have_the_moments_of_their_components(row_norms):
    law = GaussianMixture(4, components=3, condition=9, row_norms=row_norms)
    x, sigma = law.sample(STREAMS, "test", 0, 60_000).astype(np.float64), law.covariances()
    for i in range(4):
        for j in range(i, 4):
            assert agrees(x[..., i] * x[..., j], np.mean(sigma[:, i, j]))
            # Isserlis: E x_i^2 x_j^2 = S_ii S_jj + 2 S_ij^2 under a normal law
            fourth = np.mean(sigma[:, i, i] * sigma[:, j, j] + 2 * sigma[:, i, j] ** 2)
            assert agrees(x[..., i] ** 2 * x[..., j] ** 2, fourth)


def test_all_seeds_have_one_law_and_variants_have_others():
    one, other = GaussianMixture(5), GaussianMixture(5, variant=1)
    assert np.array_equal(one.covariances(), GaussianMixture(5).covariances())
    assert not np.allclose(one.covariances(), other.covariances())
    x = one.sample(STREAMS, "test", 0, 60_000).astype(np.float64)
    moments = np.einsum("snd,sne->sde", x, x) / x.shape[1]
    np.testing.assert_allclose(moments[0], moments[1], atol=0.06)
