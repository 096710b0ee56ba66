"""Kernels that are a function of the cosine times powers of the two norms."""

from collections.abc import Callable

import numpy as np
from numpy.typing import DTypeLike

from hierlearn.kernels._angle import of_angle, polynomial
from hierlearn.kernels._tiles import directions, gram, pair, snap, with_constant

# f in place of cosines in [-1, 1], those within rounding of an end at the end.
OfCosine = Callable[[np.ndarray], None]


def cosine_gram(
    x: np.ndarray,
    z: np.ndarray | None,
    dtype: DTypeLike,
    of_cosine: OfCosine,
    power: float,
    constant: float = 0.0,
    scale: float = 1.0,
) -> np.ndarray:
    """K(x, z) = |x'|^power |z'|^power f(cos(x', z')), x' = scale (x, constant).

    x (n, d), z (n', d) or None for x itself -> (n, n') of dtype float64, or float32 with deviations below 1e-6 of
    |x'|^power |z'|^power max|f|. of_cosine: f. constant 0 leaves x as it is. A zero vector is orthogonal to everything,
    itself included. Raises ValueError for wrong shapes, values that are not finite or another dtype.
    """
    x, z = pair(x, z)
    # Single precision would not tell cosines near 1 apart, so angles are computed in double precision throughout.
    coefficients = polynomial(of_cosine) if np.dtype(dtype) == np.float32 else None
    precision = np.float64 if coefficients is None else np.float32
    left, left_scale = _prepared(x, power, constant, scale, precision)
    right, right_scale = (None, left_scale) if z is None else _prepared(z, power, constant, scale, precision)

    def finish(tile, rows, columns):
        snap(tile)
        if coefficients is None:
            of_cosine(tile)
        else:
            tile = of_angle(coefficients, tile)
        if power:
            tile *= left_scale[rows][:, None]
            tile *= right_scale[columns]
        return tile

    return gram(left, right, finish, dtype)


def cosine_profile(
    t: np.ndarray, of_cosine: OfCosine, power: float, constant: float = 0.0, scale: float = 1.0
) -> np.ndarray:
    """The same kernel of unit vectors with inner product t; any shape -> the same shape, float64."""
    square = 1.0 + constant**2
    t = np.asarray(t, np.float64)
    # At least one axis, as an operation in place needs an array.
    values = (np.atleast_1d(t) + constant**2) / square
    snap(values)
    of_cosine(values)
    values *= (scale**2 * square) ** power
    return values.reshape(t.shape)


def _prepared(x: np.ndarray, power: float, constant: float, scale: float, precision) -> tuple[np.ndarray, np.ndarray]:
    unit, norms = directions(with_constant(x, constant) if constant else x)
    return unit, ((scale * norms) ** power).astype(precision)
