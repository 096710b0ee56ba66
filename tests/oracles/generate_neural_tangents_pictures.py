"""Writes neural_tangents_pictures.nc: kernels of wide convolutional networks on pictures by an independent library.

Run once, in an environment such as generate_neural_tangents.py describes (jax 0.4.30 serves as well):

    ntenv/bin/python tests/oracles/generate_neural_tangents_pictures.py

Every variable is K(x, z) (x, z) float64 for one kernel of this package, whose parameters are its attribute. The library
takes channels last, divides by the number of what a filter sees, and its pictures are padded with zeros, as here; the
factor 2 of a layer stands in the variance of its weights. Rerunning gives the same bytes.
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

COMMAND = "python tests/oracles/generate_neural_tangents_pictures.py"
TARGET = Path(__file__).with_name("neural_tangents_pictures.nc")
CHANNELS, HEIGHT, WIDTH, COUNT_X, COUNT_Z = 3, 6, 5, 4, 3


def pictures(seed: int, count: int) -> np.ndarray:
    """Points (count, channels, height, width), one of them with pixels of 0."""
    x = np.random.default_rng(seed).standard_normal((count, CHANNELS, HEIGHT, WIDTH))
    x[0, :, 4:] = 0.0
    return x


def kernel(x, z, patch, depth, pooling, trained):
    """The kernel of this package from the library's, whose first layer divides by the channels."""
    layers = []
    for layer in range(depth):
        deviation = sqrt(CHANNELS * HEIGHT * WIDTH) if layer == 0 else sqrt(2.0)
        # The factor 2 of a layer of ReLUs stands in the weights behind it.
        layers += [stax.Conv(1, (patch, patch), padding="SAME", W_std=deviation), stax.Relu()]
    end = stax.GlobalAvgPool() if pooling else stax.Flatten()
    network = stax.serial(*layers, end, stax.Dense(1, W_std=sqrt(2.0)))
    conjugate, tangent = network[2](np.moveaxis(x, 1, -1), np.moveaxis(z, 1, -1), ("nngp", "ntk"))
    return np.asarray(tangent if trained == "all" else conjugate)


def cases():
    for patch, depth in ((3, 1), (3, 2), (3, 4), (5, 2)):
        for pooling in (False, True):
            for trained in ("all", "last"):
                yield {"patch": patch, "depth": depth, "pooling": pooling, "trained": trained}


def main() -> None:
    jax.config.update("jax_enable_x64", True)
    x, z = pictures(1, COUNT_X), pictures(2, COUNT_Z)
    with netCDF4.Dataset(TARGET, "w", format="NETCDF3_CLASSIC") as file:
        file.title = "Kernels of wide convolutional networks on pictures by neural-tangents, float64"
        file.command = COMMAND
        libraries = {"neural-tangents": neural_tangents, "jax": jax, "jaxlib": jaxlib, "numpy": np}
        file.versions = json.dumps({name: library.__version__ for name, library in libraries.items()})
        sizes = {"x_point": COUNT_X, "z_point": COUNT_Z, "channel": CHANNELS, "row": HEIGHT, "column": WIDTH}
        for name, size in sizes.items():
            file.createDimension(name, size)
        file.createVariable("x", "f8", ("x_point", "channel", "row", "column"))[:] = x
        file.createVariable("z", "f8", ("z_point", "channel", "row", "column"))[:] = z
        for number, parameters in enumerate(cases()):
            variable = file.createVariable(f"case_{number:02d}", "f8", ("x_point", "z_point"))
            variable.parameters = json.dumps(parameters)
            values = kernel(x, z, **parameters)
            if values.dtype != np.float64 or not np.all(np.isfinite(values)):
                raise ValueError(f"{parameters}: expected finite float64 values")
            variable[:] = values


if __name__ == "__main__":
    main()
