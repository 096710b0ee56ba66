"""The slope of a ratio of sample complexities in the largest eigenvalue of the inputs."""

import numpy as np
import pytest
import xarray as xr

from hierlearn.core.protocols import STATUS
from hierlearn.core.registry import build

SHARES, GRID = [0.2, 0.4, 0.8], 2.0 ** np.arange(0, 14)


def cube(crossings):
    """Risks that are 1 below a crossing and 0 above it, log-linear between the two sizes around it, two equal seeds."""
    risk = np.empty((len(crossings), len(SHARES), 2, len(GRID)))
    for i, places in enumerate(crossings.values()):
        for j, place in enumerate(places):
            steps = np.clip((np.log2(place) - np.log2(GRID)) + 0.3, 0.0, 1.0)
            risk[i, j] = steps
    dims = ("learner", "spike_share", "seed", "samples")
    status = np.full(risk.shape, STATUS["ok"])
    coords = {"learner": list(crossings), "spike_share": SHARES, "seed": [0, 1], "samples": GRID}
    return xr.Dataset({"test_risk": (dims, risk), "status": (dims, status)}, coords)


@pytest.mark.parametrize("power", [-1.0, 0.0])
def test_it_is_the_power_of_the_largest_eigenvalue_that_the_ratio_follows(power):
    """Shares above 2/d: two equal directions have half the share each."""
    largest = np.array(SHARES) / 2
    places = {"ntk": 64 * (largest / 0.4) ** power * 4, "quad": np.full(3, 64.0)}
    parameters = {"name": "isotropy_slope", "above": "ntk", "below": "quad", "where": {"dimension": 32}}
    found = build("quantities", parameters).measure(cube(places).expand_dims(dimension=[32], axis=1), {})
    assert found.value == pytest.approx(power, abs=0.02)
    assert found.detail["sizes_fitted"] == SHARES
