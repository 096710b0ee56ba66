"""Kernels that are a function of the cosine times powers of the two norms."""

from collections.abc import Callable

import numpy as np

from hierlearn.kernels._tiles import directions, gram, pair, with_constant

OfCosine = Callable[[np.ndarray], None]


def cosine_gram(
    x: np.ndarray,
    z: np.ndarray | None,
    of_cosine: OfCosine,
    power: float,
    constant: float = 0.0,
    scale: float = 1.0,
) -> np.ndarray:
    """K(x, z) = |x'|^power |z'|^power f(cos(x', z')), x' = scale (x, constant).

    x (n, d), z (n', d) or None for x itself -> (n, n') float64. of_cosine: f, in place. constant 0 leaves x
    as it is. A zero vector is orthogonal to everything, itself included. Raises ValueError for wrong shapes
    or values that are not finite.
    """
    x, z = pair(x, z)
    left, left_scale = _prepared(x, power, constant, scale)
    right, right_scale = (None, left_scale) if z is None else _prepared(z, power, constant, scale)

    def finish(tile, rows, columns):
        of_cosine(tile)
        tile *= left_scale[rows][:, None]
        tile *= right_scale[columns]

    return gram(left, right, finish)


def cosine_profile(
    t: np.ndarray, of_cosine: OfCosine, power: float, constant: float = 0.0, scale: float = 1.0
) -> np.ndarray:
    """The same kernel of unit vectors with inner product t; any shape -> the same shape, float64."""
    square = 1.0 + constant**2
    t = np.asarray(t, np.float64)
    # At least one axis, as an operation in place needs an array.
    values = (np.atleast_1d(t) + constant**2) / square
    of_cosine(values)
    values *= (scale**2 * square) ** power
    return values.reshape(t.shape)


def _prepared(x: np.ndarray, power: float, constant: float, scale: float) -> tuple[np.ndarray, np.ndarray]:
    unit, norms = directions(with_constant(x, constant) if constant else x)
    return unit, (scale * norms) ** power
