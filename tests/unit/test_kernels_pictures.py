"""Kernels of wide convolutional networks on pictures: against neural-tangents, the definition, and a wide network."""

import json
from pathlib import Path

import netCDF4
import numpy as np
import pytest

from hierlearn.core.registry import build
from hierlearn.estimators import NTKClassifier

ORACLE = Path(__file__).parents[1] / "oracles" / "neural_tangents_pictures.nc"


def stored():
    with netCDF4.Dataset(ORACLE) as file:
        points = np.array(file["x"][:]), np.array(file["z"][:])
        for name, variable in file.variables.items():
            if name.startswith("case_"):
                parameters = json.loads(variable.parameters)
                words = "-".join(f"{key}={value}" for key, value in parameters.items())
                yield pytest.param(parameters, *points, np.array(variable[:]), id=words)


@pytest.mark.parametrize("parameters, x, z, expected", list(stored()))
def test_kernel_has_the_values_of_neural_tangents(parameters, x, z, expected):
    kernel = build("kernels", {"name": "ntk_pictures", "height": x.shape[2], "width": x.shape[3]} | parameters)
    found = kernel(x.reshape(len(x), -1), z.reshape(len(z), -1))
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("pooling", [False, True])
def test_the_last_layer_is_what_a_wide_network_makes(pooling):
    generator, (height, width, channels) = np.random.default_rng(0), (4, 5, 4000)
    x = generator.standard_normal((3, height, width))
    values, shape = np.pad(x, ((0, 0), (1, 1), (1, 1)))[..., None] * np.sqrt(height * width), (3, 3, 1, channels)
    filters = generator.standard_normal(shape) * np.sqrt(2 / 9)
    patches = [values[:, a : a + height, b : b + width] @ filters[a, b] for a in range(3) for b in range(3)]
    hidden = np.maximum(sum(patches), 0.0).reshape(3, height * width, channels) / np.sqrt(channels)
    hidden = hidden.mean(axis=1) if pooling else hidden.reshape(3, -1) / np.sqrt(height * width)
    given = {"height": height, "width": width, "depth": 1, "pooling": pooling, "trained": "last"}
    kernel = build("kernels", {"name": "ntk_pictures"} | given)
    np.testing.assert_allclose(kernel(x.reshape(3, -1)), hidden @ hidden.T, rtol=0.08, atol=0.3)


def test_filters_of_one_pixel_and_pictures_of_one_pixel_are_fully_connected():
    x = np.random.default_rng(0).standard_normal((5, 7))
    dense = build("kernels", {"name": "ntk", "depth": 3, "bias": False})
    one = build("kernels", {"name": "ntk_pictures", "height": 1, "width": 1, "patch": 1, "depth": 2})
    np.testing.assert_allclose(one(x), dense(x), rtol=1e-12)
    # A filter of 3 x 3 sees one pixel and eight beyond the edge.
    wide = build("kernels", {"name": "ntk_pictures", "height": 1, "width": 1, "patch": 3, "depth": 2})
    np.testing.assert_allclose(wide(x), dense(x) / 81, rtol=1e-12)


def test_pixels_that_do_not_fit_are_refused():
    kernel = build("kernels", {"name": "ntk_pictures", "height": 3, "width": 2})
    with pytest.raises(ValueError, match="dimension 10; expected a multiple of the 3 x 2 pixels"):
        kernel(np.ones((2, 10)))
    with pytest.raises(ValueError, match="no function of the inner product"):
        kernel.profile(np.ones(3))


def test_digits_are_learned_by_the_estimator():
    from hierlearn.datasets import make_pictures

    X, y = make_pictures(200, random_state=0)
    model = NTKClassifier(kernel={"name": "ntk_pictures", "depth": 1}, alphas=[1e-2, 1e-4, 1e-6]).fit(X[:150], y[:150])
    assert model.score(X[150:], y[150:]) > 0.8
