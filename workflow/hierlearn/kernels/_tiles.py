"""Gram matrices tile by tile: a tile and its temporaries stay in a core's cache."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

import numpy as np
from numpy.typing import DTypeLike

from hierlearn.core.protocols import Kernel

# 128 x 128 float64 is 128 KiB: a tile and two temporaries fit into 512 KiB of level-2 cache.
TILE = 128
# In single precision wider ones, 512 KiB with one temporary: an operation is so fast that calling it counts.
WIDTHS = {np.dtype(np.float64): TILE, np.dtype(np.float32): 4 * TILE}
# Closer to +-1 than the rounding of a dot product, a cosine is +-1: an angle would turn 1e-16 into 1e-8.
SNAP = 1e-14
# Coordinates up to it, and down to its inverse, have fourth powers that no precision loses.
ORDINARY = 1e15

Finish = Callable[[np.ndarray, slice, slice], np.ndarray]


class PowerOfProducts(Kernel):
    """K(x, z) = (<h(x), h(z)> / scale + 1)^degree; subclasses have scale and degree, and say what h is."""

    degree: int
    scale: float

    def __call__(self, x: np.ndarray, z: np.ndarray | None = None, dtype: DTypeLike = np.float64) -> np.ndarray:
        """(n, d), (n', d) -> (n, n') float64 or float32; z None: x with itself, exactly symmetric.

        Raises ValueError for wrong shapes, values that are not finite, kernel values that the dtype does not hold, or
        another dtype.
        """
        left, right = pair(x, z, dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            left, right = self._seen(left), None if right is None else self._seen(right)
            largest = np.sqrt(np.prod([_largest_square(seen) for seen in (left, left if right is None else right)]))
            size = (largest / self.scale + 1.0) ** self.degree
        return check_range(gram(left, right, self._finish, dtype), size)

    def _seen(self, x: np.ndarray) -> np.ndarray:
        """Return what inner products are of: (n, d) -> (n, D)."""
        return x

    def _finish(self, tile: np.ndarray, rows: slice, columns: slice) -> np.ndarray:
        """K of a tile of inner products; see `gram`."""
        tile /= self.scale
        tile += 1.0
        return np.power(tile, self.degree, out=tile)


def _largest_square(x: np.ndarray) -> float:
    """Return the largest squared norm of points (n, D)."""
    return np.einsum("nd,nd->n", x, x).max(initial=0.0)


class BeyondRange(ValueError, OverflowError):
    """Kernel values that a precision does not hold."""


def check_range(values: np.ndarray, size: float) -> np.ndarray:
    """Return the kernel values as they are. Raises BeyondRange where one is not finite.

    size: what values are at most, but for a factor of a thousand; far from the range's end none is looked at.
    """
    limit = np.finfo(values.dtype).max
    if not size < 1e-3 * limit and not np.isfinite(values).all():
        raise BeyondRange(f"x: kernel values beyond {limit:.2g}; expected values that {values.dtype} holds")
    return values


def points(x: np.ndarray, name: str = "x") -> np.ndarray:
    """(n, d) of any real dtype -> contiguous float64. Raises ValueError for bad shapes, kinds of numbers or values."""
    if np.ma.is_masked(x):
        raise ValueError(f"{name}: masked values; expected finite numbers")
    try:
        x = np.asarray(x)
        x = x.astype(np.float64) if x.dtype.kind == "O" else x
    except (TypeError, ValueError):
        raise ValueError(f"{name}: no array of numbers; expected (points, dimension)") from None
    if x.dtype.kind not in "biuf":
        # Conversion would drop the imaginary part without a word.
        raise ValueError(f"{name}: {x.dtype}; expected real numbers")
    if x.ndim != 2 or x.shape[1] < 1:
        raise ValueError(f"{name}: shape {x.shape}; expected (points, dimension)")
    x = np.ascontiguousarray(x, np.float64)
    if not np.all(np.isfinite(x)):
        raise ValueError(f"{name}: values that are not finite; expected finite numbers")
    return x


def pair(x: np.ndarray, z: np.ndarray | None, dtype: DTypeLike) -> tuple[np.ndarray, np.ndarray | None]:
    """Both points of a kernel, checked. Raises ValueError for shapes that do not belong together or another dtype."""
    if np.dtype(dtype) not in (np.float64, np.float32):
        raise ValueError(f"dtype {np.dtype(dtype)}; expected float64 or float32")
    x = points(x)
    if z is None:
        return x, None
    z = points(z, "z")
    if x.shape[1] != z.shape[1]:
        raise ValueError(f"z: dimension {z.shape[1]}; expected that of x, {x.shape[1]}")
    return x, z


def directions(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return unit vectors (n, d), norms (n,). The direction of a zero vector is zero, so its cosines are 0."""
    largest = np.max(np.abs(x), axis=1, keepdims=True, initial=0.0)
    scaled = x / np.where(largest > 0, largest, 1.0)
    norms = np.linalg.norm(scaled, axis=1, keepdims=True)
    # In place: of many points a copy counts.
    scaled /= np.where(norms > 0, norms, 1.0)
    return scaled, (largest * norms)[:, 0]


def snap(cosine: np.ndarray) -> None:
    """Clips to [-1, 1] in place; what lies within rounding of an end becomes the end."""
    # Most tiles have none.
    if cosine.max(initial=0.0) > 1.0 - SNAP or cosine.min(initial=0.0) < SNAP - 1.0:
        ends = np.abs(cosine) > 1.0 - SNAP
        cosine[ends] = np.sign(cosine[ends])


def gram(
    left: np.ndarray,
    right: np.ndarray | None,
    finish: Finish,
    dtype: DTypeLike = np.float64,
    products: DTypeLike = np.float64,
) -> np.ndarray:
    """finish(left right^T) in tiles: (n, d), (n', d) -> (n, n') float64 or float32.

    finish(tile, rows, columns) turns a tile of inner products, computed in the precision `products`, into kernel
    values, in place or not; what it returns may be used again by its next call in the same thread. right None: left
    with itself; only the lower triangle is computed and then mirrored, so the result is symmetric bit by bit. Rows of
    tiles are shared out among OMP_NUM_THREADS threads (1 if it is not set), which changes no bit.
    """
    symmetric = right is None
    left = left.astype(products, copy=False)
    right = left if right is None else right.astype(products, copy=False)
    result = np.empty((len(left), len(right)), dtype)

    width, above = WIDTHS[np.dtype(products)], ~np.tri(TILE, dtype=bool)

    def block(rows: slice, columns: slice, buffer: np.ndarray) -> np.ndarray:
        shape = (rows.stop - rows.start, columns.stop - columns.start)
        tile = buffer[: shape[0] * shape[1]].reshape(shape)
        np.matmul(left[rows], right[columns].T, out=tile)
        return finish(tile, rows, columns)

    def row(i: int) -> None:
        buffer = np.empty(TILE * width, products)
        # Here, as threads do not inherit it. Kernels say themselves what lies beyond the range.
        with np.errstate(over="ignore", invalid="ignore"):
            fill(i, buffer)

    def fill(i: int, buffer: np.ndarray) -> None:
        rows = slice(i, min(i + TILE, len(left)))
        end = i if symmetric else len(right)
        for j in range(0, end, width):
            columns = slice(j, min(j + width, end))
            result[rows, columns] = block(rows, columns, buffer)
            if symmetric:
                # Not from the tile: its rows are a power of two long, so its columns fall on few sets of the cache.
                result[columns, rows] = result[rows, columns].T
        if symmetric:
            values = block(rows, rows, buffer)
            np.copyto(values, values.T, where=above[: len(values), : len(values)])
            result[rows, rows] = values

    # The longest rows of a triangle first, so that the threads end together.
    starts = range(0, len(left), TILE)[::-1]
    threads = int(os.environ.get("OMP_NUM_THREADS") or 1)
    if threads == 1:
        for i in starts:
            row(i)
    else:
        # A product of two tiles is too small for threads of its own.
        limited = import_module("threadpoolctl").threadpool_limits(1, "blas")
        with limited, ThreadPoolExecutor(threads) as pool:
            list(pool.map(row, starts))
    return result


def ordinary_sizes(x: np.ndarray) -> np.ndarray:
    """Sizes (n,) by which points (n, D) are divided so that squares of squares stay well within the range.

    They are powers of two, which move no digit, and 1 for ordinary points; for kernels that are homogeneous.
    """
    largest = np.abs(x).max(axis=1, initial=0.0)
    ordinary = (largest == 0.0) | ((largest > 1.0 / ORDINARY) & (largest < ORDINARY))
    return np.where(ordinary, 1.0, np.exp2(np.frexp(largest)[1] - 1.0))


def fill_blocks(
    result: np.ndarray, tile: Callable[[slice, slice], np.ndarray], rows: int, columns: int, symmetric: bool
) -> None:
    """Fill a Gram matrix (n, n') from tiles of some rows and columns; symmetric: its lower triangle, mirrored."""
    for i in range(0, len(result), rows):
        a, end = slice(i, i + rows), i if symmetric else result.shape[1]
        for j in range(0, end, columns):
            b = slice(j, min(j + columns, end))
            result[a, b] = tile(a, b)
            if symmetric:
                result[b, a] = result[a, b].T
        if symmetric:
            square = tile(a, a)
            np.copyto(square, square.T, where=~np.tri(len(square), dtype=bool))
            result[a, a] = square
