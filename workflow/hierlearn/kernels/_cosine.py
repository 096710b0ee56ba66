"""Kernels that are a function of the cosine times powers of the two norms."""

import threading
from abc import abstractmethod
from math import sqrt

import numpy as np
from numpy.typing import DTypeLike

from hierlearn.core.protocols import Kernel
from hierlearn.kernels._angle import OfCosine, by_range, of_angle
from hierlearn.kernels._tiles import Finish, check_range, directions, gram, pair, snap

# Closer to +-1 than this a cosine in single precision does not tell the angle: there its rounding of 6e-8 would grow by
# more than 1 / sin(angle) = 5.
NEAR = 0.98
# Of more than one in so many, as of points in few dimensions or copies, a product of all is cheaper than one of each.
MANY = 32
# How far factors of points may lie apart, of themselves, that the rounding of points in single precision makes.
ALIKE = 2e-7
# Factors of points, and products of two, between which single precision holds the kernel with all its digits.
NARROW = 1e-30, 1e36
# Products that coefficients of polynomials may be multiplied with.
FACTORED = 1e-25, 1e25
# Points that are made unit vectors at once.
PREPARED_ROWS = 512


class CosineKernel(Kernel):
    """K(x, z) = |x'|^power |z'|^power f(cos(x', z')), x' = scale (x, constant); constant 0 leaves x as it is.

    A zero vector is orthogonal to everything, itself included.
    """

    @abstractmethod
    def _geometry(self) -> tuple[int, float, float]:
        """Power, constant, scale."""

    @abstractmethod
    def _of_cosine(self, cosine: np.ndarray) -> None:
        """f in place of cosines in [-1, 1], those within rounding of an end at the end."""

    def __call__(self, x: np.ndarray, z: np.ndarray | None = None, dtype: DTypeLike = np.float64) -> np.ndarray:
        """(n, d), (n', d) -> (n, n') float64, or float32 with deviations below 1e-6 of |x'|^power |z'|^power max|f|.

        z None: x with itself, exactly symmetric. Raises ValueError for wrong shapes, values that are not finite, kernel
        values that the dtype does not hold, or another dtype.
        """
        power, constant, scale = self._geometry()
        x, z = pair(x, z, dtype)
        single = np.dtype(dtype) == np.float32
        precision = np.float32 if single else np.float64
        left, left_scale = _prepare(x, power, constant, scale)
        right, right_scale = (None, left_scale) if z is None else _prepare(z, power, constant, scale)
        # Unit vectors are all that is needed from here on.
        del x, z
        with np.errstate(over="ignore", invalid="ignore"):
            size = left_scale.max(initial=0.0) * right_scale.max(initial=0.0)
            narrow = _narrow(left_scale, right_scale)
        if single:
            of_cosine: OfCosine = self._of_cosine
            alike = 0.0
            if narrow:
                left_scale, right_scale = left_scale.astype(precision), right_scale.astype(precision)
                alike = _alike(left_scale) * _alike(right_scale)
            if FACTORED[0] < alike < FACTORED[1]:
                power, of_cosine = 0, _times(of_cosine, alike)
            values = _in_single_precision(of_cosine, left, left if right is None else right)
        else:

            def values(tile: np.ndarray, rows: slice, columns: slice) -> np.ndarray:
                snap(tile)
                self._of_cosine(tile)
                return tile

        def finish(tile: np.ndarray, rows: slice, columns: slice) -> np.ndarray:
            tile = values(tile, rows, columns)
            if power:
                # Factors that single precision does not hold are in double precision, and so is then their product.
                out = tile if tile.dtype == left_scale.dtype else None
                tile = np.multiply(tile, left_scale[rows][:, None], out=out)
                tile *= right_scale[columns]
            return tile

        result = gram(left, right, finish, dtype, precision)
        if single and not self._geometry()[0]:
            self._set_zeros(result, left, left if right is None else right)
        return check_range(result, size)

    def _set_zeros(self, result: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
        """Put f(0) where a vector is zero: of a polynomial it is 0 to rounding, and such points may have no scale."""
        rows, columns = (~unit.any(axis=1) for unit in (left, right))
        if rows.any() or columns.any():
            at_zero = np.zeros(1)
            self._of_cosine(at_zero)
            result[rows], result[:, columns] = at_zero, at_zero

    def profile(self, t: np.ndarray) -> np.ndarray:
        """K of unit vectors with inner product t; any shape -> the same shape, float64."""
        power, constant, scale = self._geometry()
        square = 1.0 + constant**2
        t = np.asarray(t, np.float64)
        # At least one axis, as an operation in place needs an array.
        values = (np.atleast_1d(t) + constant**2) / square
        snap(values)
        self._of_cosine(values)
        values *= (scale**2 * square) ** power
        return values.reshape(t.shape)


def halves(power: int, bias: bool) -> tuple[int, float, float]:
    """Return the geometry of networks that see (x, 1) / sqrt(2) for x, of norm 1 as x; without a bias x itself."""
    return (power, 1.0, sqrt(0.5)) if bias else (power, 0.0, 1.0)


def _narrow(*scales: np.ndarray) -> bool:
    """Whether the factors of points other than 0, and their products, are far from the ends of single precision."""
    ends = np.array([(scale[scale > 0].min(initial=np.inf), scale.max(initial=0.0)) for scale in scales])
    (least, largest), products = ends.T, np.prod(ends, axis=0)
    return min(*least, products[0]) > NARROW[0] and max(*largest, products[1]) < NARROW[1]


def _alike(scale: np.ndarray) -> float:
    """Return the factor of all points if these are the same to the rounding of single precision, else 0."""
    least, largest = (scale.min(), scale.max()) if len(scale) else (0.0, 0.0)
    return (float(least) + float(largest)) / 2 if largest - least <= ALIKE * least else 0.0


def _times(of_cosine: OfCosine, factor: float) -> OfCosine:
    def values(cosine: np.ndarray) -> None:
        of_cosine(cosine)
        cosine *= factor

    return values


def _in_single_precision(of_cosine: OfCosine, left: np.ndarray, right: np.ndarray) -> Finish:
    """f of a tile of cosines in single precision: one polynomial of the angle where f is one, else f itself.

    left, right: the unit vectors in double precision, from which cosines near +-1 are computed again.
    """
    polynomials, scratch = by_range(of_cosine, NEAR), threading.local()

    def values(tile: np.ndarray, rows: slice, columns: slice) -> np.ndarray:
        least, largest, near = tile.min(), tile.max(), None
        if max(largest, -least) > NEAR:
            near = np.unravel_index(np.flatnonzero(np.abs(tile) > NEAR), tile.shape)
            if MANY * len(near[0]) > tile.size:
                exact = (left[rows] @ right[columns].T)[near]
            else:
                exact = np.einsum("nd,nd->n", left[rows][near[0]], right[columns][near[1]])
            snap(exact)
            of_cosine(exact)
            np.clip(tile, -NEAR, NEAR, out=tile)
        polynomial = polynomials(least, largest)
        if polynomial is None:
            of_cosine(tile)
        else:
            if not hasattr(scratch, "tile") or scratch.tile.size < tile.size:
                scratch.tile = np.empty(tile.size, np.float32)
            tile = of_angle(polynomial, tile, scratch.tile[: tile.size].reshape(tile.shape))
        if near is not None:
            tile[near] = exact
        return tile

    return values


def _prepare(x: np.ndarray, power: float, constant: float, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Return unit vectors x' / |x'|, and |x'|^power, inf beyond the range; float64.

    Block by block: each step from x to them would else hold an array of their size beside the Gram matrix to come.
    """
    count, dimension = x.shape
    unit, norms = np.empty((count, dimension + bool(constant))), np.empty(count)
    with np.errstate(over="ignore"):
        for start in range(0, count, PREPARED_ROWS):
            rows = slice(start, start + PREPARED_ROWS)
            block = np.pad(x[rows], ((0, 0), (0, 1)), constant_values=constant) if constant else x[rows]
            unit[rows], norms[rows] = directions(block)
        return unit, (scale * norms) ** power
