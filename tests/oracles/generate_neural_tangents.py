"""Writes neural_tangents.nc: kernels of wide networks by an independent implementation.

Run once, in an environment of its own (Python 3.11; the library needs a jax of its time):

    python -m venv ntenv
    ntenv/bin/pip install neural-tangents==0.6.5 jax==0.4.35 jaxlib==0.4.35 numpy==1.26.4 scipy==1.13.1 netCDF4
    ntenv/bin/python tests/oracles/generate_neural_tangents.py

Every variable is K(x, z) (x, z) float64 for one kernel of this package, whose name and parameters are its attributes.
The library's networks divide by the square root of the width and by that of the input dimension; the factors here undo
that. Rerunning gives the same bytes.
"""

import json
from math import sqrt
from pathlib import Path

import jax
import jaxlib
import netCDF4
import neural_tangents
import numpy as np
from neural_tangents import stax

COMMAND = "python tests/oracles/generate_neural_tangents.py"
TARGET = Path(__file__).with_name("neural_tangents.nc")
DIMENSION, COUNT_X, COUNT_Z = 5, 4, 3
# Half of the points on the sphere, half with norms far from 1.
NORMS_X, NORMS_Z = (1.0, 1.0, 0.2, 3.0), (1.0, 0.5, 2.0)
FEATURES = {"step": (0, "rectified"), "relu": (1, "rectified"), "relu2": (2, "rectified"), "quadratic": (2, "full")}
ACTIVATIONS = {"relu": (0, 1.0), "relu2": (1, 1.0), "relu3": (2, 0.25)}
# E[(u_+^a)^2] of a standard normal u.
DIAGONAL = (0.5, 0.5, 1.5)


def points(seed: int, norms) -> np.ndarray:
    x = np.random.default_rng(seed).standard_normal((len(norms), DIMENSION))
    return x / np.linalg.norm(x, axis=1, keepdims=True) * np.array(norms)[:, None]


def lifted(x: np.ndarray, bias: bool, scale: float) -> np.ndarray:
    return np.concatenate([x, np.ones((len(x), 1))], axis=1) * scale if bias else x


def nngp(layers, x, z) -> np.ndarray:
    return np.asarray(stax.serial(*layers)[2](x, z, "nngp"))


def dense_of_inner_products(x: np.ndarray, factor: float = 1.0):
    """A layer whose pre-activations have covariance factor <x, z>."""
    return stax.Dense(1, W_std=sqrt(factor * x.shape[1]))


def power(order: int, kind: str = "rectified"):
    return stax.RectifiedMonomial(order) if kind == "rectified" else stax.Monomial(order)


def ntk_raw(x, z, activation, bias):
    order, factor = ACTIVATIONS[activation]
    x, z = lifted(x, bias, sqrt(0.5)), lifted(z, bias, sqrt(0.5))
    return factor * nngp([dense_of_inner_products(x), power(order)], x, z) * (x @ z.T)


def ntk_neural(x, z, features, activation, bias):
    order, factor = ACTIVATIONS[activation]
    x, z = lifted(x, bias, 1.0), lifted(z, bias, 1.0)
    inner, kind = FEATURES[features]
    seen = stax.serial(dense_of_inner_products(x))[2](x, z)
    second = power(inner, kind)[2](seen)
    if kind == "rectified":
        # The library's variances are NaN, as its formula is singular where two points coincide. They are elementary.
        variances = [DIAGONAL[inner] * variance**inner for variance in (seen.cov1, seen.cov2)]
        second = second.replace(cov1=variances[0], cov2=variances[1])
    outer = power(order)[2](stax.Dense(1)[2](second))
    return factor * np.asarray(outer.nngp) * np.asarray(second.nngp)


def arccos(x, z, order, bias):
    x, z = lifted(x, bias, sqrt(0.5)), lifted(z, bias, sqrt(0.5))
    return 2 * nngp([dense_of_inner_products(x), power(order)], x, z)


def arcsin(x, z, bias):
    x, z = lifted(x, bias, 1.0), lifted(z, bias, 1.0)
    return nngp([dense_of_inner_products(x), stax.Sign()], x, z)


def rbf(x, z, bandwidth):
    return nngp([dense_of_inner_products(x), stax.Rbf(gamma=0.5 / bandwidth**2)], x, z)


def ntk(x, z, depth, trained, bias):
    x, z = lifted(x, bias, sqrt(0.5)), lifted(z, bias, sqrt(0.5))
    layers = [dense_of_inner_products(x, 2.0), stax.Relu()]
    for _ in range(depth - 2):
        layers += [stax.Dense(1, W_std=sqrt(2.0)), stax.Relu()]
    conjugate, tangent = stax.serial(*layers, stax.Dense(1))[2](x, z, ("nngp", "ntk"))
    chosen = {"all": tangent, "hidden": tangent - conjugate, "last": conjugate}
    return np.asarray(chosen[trained])


def cases():
    for bias in (False, True):
        for activation in ACTIVATIONS:
            yield ntk_raw, {"activation": activation, "bias": bias}
            for features in FEATURES:
                yield ntk_neural, {"features": features, "activation": activation, "bias": bias}
        for order in (0, 1, 2):
            yield arccos, {"order": order, "bias": bias}
        yield arcsin, {"bias": bias}
        for depth in (2, 3, 4):
            for trained in ("all", "hidden", "last"):
                yield ntk, {"depth": depth, "trained": trained, "bias": bias}
    for bandwidth in (0.7, 2.0):
        yield rbf, {"bandwidth": bandwidth}


def main() -> None:
    jax.config.update("jax_enable_x64", True)
    x, z = points(1, NORMS_X), points(2, NORMS_Z)
    with netCDF4.Dataset(TARGET, "w", format="NETCDF3_CLASSIC") as file:
        file.title = "Kernels of wide networks by neural-tangents, float64"
        file.command = COMMAND
        libraries = {"neural-tangents": neural_tangents, "jax": jax, "jaxlib": jaxlib, "numpy": np}
        file.versions = json.dumps({name: library.__version__ for name, library in libraries.items()})
        file.createDimension("x_point", COUNT_X)
        file.createDimension("z_point", COUNT_Z)
        file.createDimension("coordinate", DIMENSION)
        file.createVariable("x", "f8", ("x_point", "coordinate"))[:] = x
        file.createVariable("z", "f8", ("z_point", "coordinate"))[:] = z
        for number, (kernel, parameters) in enumerate(cases()):
            variable = file.createVariable(f"case_{number:02d}", "f8", ("x_point", "z_point"))
            variable.kernel = kernel.__name__
            variable.parameters = json.dumps(parameters)
            values = kernel(x, z, **parameters)
            if values.dtype != np.float64 or not np.all(np.isfinite(values)):
                raise ValueError(f"{kernel.__name__} {parameters}: expected finite float64 values")
            variable[:] = values


if __name__ == "__main__":
    main()
