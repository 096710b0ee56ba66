"""Complexities by Gaussian matrices against those of drawn features, gates and signs, and against the edge's law."""

import numpy as np
import pytest

from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.theory.rademacher import extreme_eigenvalues, gaussian_complexities, isotropic_edge, symmetric_suprema


def drawn(law, variances, width, samples, draws):
    """Complexities of features, gates and signs that are drawn afresh every time, (draws,)."""
    dimension = len(variances)
    inputs = build("inputs", {"name": law}, dimension=dimension)
    values = []
    for k in range(draws):
        generator = np.random.default_rng((k, dimension))
        x = inputs.sample(Streams(("matrices",), (k,)), "training", 0, samples)[0].astype(float)
        h = x * np.sqrt(variances)
        gates = h @ generator.standard_normal((dimension, width // 2)) >= 0
        signs = generator.choice([-1.0, 1.0], (1, samples))
        values.append(symmetric_suprema(extreme_eigenvalues(h, gates, signs), width)[0])
    return np.array(values)


@pytest.mark.parametrize("law", ["sphere", "hypercube"])
@pytest.mark.parametrize("share", [0.1, 0.5], ids=["isotropic", "spiked"])
def test_they_are_those_of_drawn_features(law, share):
    """share: of the variance in the first of ten directions."""
    variances = 10 * np.array([share, *[(1 - share) / 9] * 9])
    found = drawn(law, variances, width=8, samples=4000, draws=60)
    theory = gaussian_complexities(variances, [8], law, samples=4000)[0]
    error = found.std(ddof=1) / np.sqrt(len(found))
    assert theory == pytest.approx(found.mean(), abs=3 * error + 0.015 * theory)


def test_they_near_the_edge_of_the_semicircle_in_many_dimensions():
    for dimension, tolerance in ((20, 0.05), (120, 0.02)):
        found = gaussian_complexities(np.ones(dimension), [4], "sphere", samples=100)[0]
        assert found == pytest.approx(isotropic_edge(100, dimension), rel=tolerance)


def test_they_fall_as_the_root_of_the_number_of_points_and_know_each_width_by_itself():
    one, many = (gaussian_complexities(np.ones(6), [4, 8], "sphere", samples=n) for n in (1, 400))
    np.testing.assert_allclose(one / 20, many, rtol=1e-12)


def test_a_direction_with_half_of_the_variance_leaves_no_gain_from_more_features():
    sizes = np.array([8, 32, 128])
    spiked = [gaussian_complexities(d * np.array([0.5, *[0.5 / (d - 1)] * (d - 1)]), [8], "sphere")[0] for d in sizes]
    flat = [gaussian_complexities(np.ones(d), [8], "sphere")[0] for d in sizes]
    assert np.log(spiked[-1] / spiked[0]) / np.log(16) == pytest.approx(0.0, abs=0.12)
    assert np.log(flat[-1] / flat[0]) / np.log(16) == pytest.approx(-0.44, abs=0.05)
