"""Slopes along the share of a spike: in the largest eigenvalue of the inputs, and in the length of the direction."""

import numpy as np
import pytest
import xarray as xr

from hierlearn.core.protocols import STATUS
from hierlearn.core.registry import build

SHARES, GRID = [0.2, 0.4, 0.8], 2.0 ** np.arange(0, 14, 0.125)


def cube(crossings):
    """Risks that are 1 below a crossing and 0 above it, falling over an octave, two equal seeds."""
    risk = np.empty((len(crossings), len(SHARES), 2, len(GRID)))
    for i, places in enumerate(crossings.values()):
        for j, place in enumerate(places):
            steps = np.clip((np.log2(place) - np.log2(GRID)) + 0.3, 0.0, 1.0)
            risk[i, j] = steps
    dims = ("learner", "spike_share", "seed", "samples")
    status = np.full(risk.shape, STATUS["ok"])
    coords = {"learner": list(crossings), "spike_share": SHARES, "seed": [0, 1], "samples": GRID}
    return xr.Dataset({"test_risk": (dims, risk), "status": (dims, status)}, coords)


def moments(dimension, spikes, order):
    """E x_1^order of points that are drawn at every share."""
    laws = [{"name": "anisotropic_sphere", "spikes": spikes, "spike_share": share} for share in SHARES]
    generator = np.random.default_rng(0)
    drawn = [build("inputs", law, dimension=dimension).draw(generator, 20_000) for law in laws]
    return np.array([np.mean(points[:, :spikes] ** order) for points in drawn])


@pytest.mark.parametrize("power", [-1.0, 0.0])
def test_it_is_the_power_of_the_largest_eigenvalue_that_the_ratio_follows(power):
    largest = moments(32, 2, 2)
    places = {"ntk": 64 * (largest / largest[-1]) ** power * 4, "quad": np.full(3, 64.0)}
    parameters = {"name": "isotropy_slope", "above": "ntk", "below": "quad", "where": {"dimension": 32}}
    found = build("quantities", parameters).measure(cube(places).expand_dims(dimension=[32], axis=1), {})
    assert found.value == pytest.approx(power, abs=0.02)
    assert found.detail["sizes_fitted"] == SHARES


@pytest.mark.parametrize("power", [-1.0, 0.0])
def test_it_is_the_power_of_the_length_of_the_direction_that_samples_follow(power):
    """|beta|^4 E t^4 = 1 at a unit norm of the target <beta, x>^2."""
    inverse = np.sqrt(moments(8, 1, 4))
    places = {"quad": 64 * (inverse / inverse[-1]) ** power * 4}
    parameters = {"name": "direction_slope", "learner": "quad", "threshold": 0.3, "where": {"dimension": 8}}
    found = build("quantities", parameters).measure(cube(places).expand_dims(dimension=[8], axis=1), {})
    assert found.value == pytest.approx(power, abs=0.02)
    assert found.sizes == "spike share = 0.2–0.8"
