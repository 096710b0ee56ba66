"""Closed forms against neural-tangents, a published implementation; the values are stored, see tests/oracles."""

import json
from pathlib import Path

import netCDF4
import numpy as np
import pytest

from hierlearn.core.registry import build

ORACLE = Path(__file__).parents[1] / "oracles" / "neural_tangents.nc"


def _cases():
    with netCDF4.Dataset(ORACLE) as file:
        points = np.array(file["x"][:]), np.array(file["z"][:])
        for name, variable in file.variables.items():
            if name.startswith("case_"):
                description = {"name": variable.kernel} | json.loads(variable.parameters)
                words = "-".join(str(value) for value in description.values())
                yield pytest.param(description, *points, np.array(variable[:]), id=words)


@pytest.mark.parametrize("description, x, z, expected", list(_cases()))
def test_kernel_has_the_values_of_neural_tangents(description, x, z, expected):
    np.testing.assert_allclose(build("kernels", description)(x, z), expected, rtol=1e-11, atol=1e-13)
