"""Lanczos relative to a metric: Krylov spaces of a symmetric operator, and its smallest eigenvalue."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy

# One early Ritz value far above 0 says nothing about the smallest eigenvalue.
_LEAST_PRODUCTS = 24


Operator = Callable[[np.ndarray], np.ndarray]


class Metric(Protocol):
    """What a Krylov space is relative to."""

    def solve(self, vector: np.ndarray) -> np.ndarray:
        """Return M^{-1} V, (m, D)."""


@dataclass(frozen=True)
class Krylov:
    """M-orthonormal vectors (k, size) in which an operator is tridiagonal, after k products.

    diagonal (k,), beside (k-1,): float64; after: what would stand beside them next; last: that there is no next vector.
    """

    basis: np.ndarray
    diagonal: np.ndarray
    beside: np.ndarray
    after: float
    last: bool


def krylov(
    operator: Operator, metric: Metric, image: np.ndarray, vector: np.ndarray, max_products: int
) -> Iterator[Krylov]:
    """Yield growing Krylov spaces of A relative to a metric M, fully reorthogonalised, in the image's dtype.

    operator: V -> (A - M) V symmetric; metric.solve: V -> M^{-1} V; vector: the first one, not 0, and image: M times
    it, (m, D) both.
    """
    shape, size, dtype = image.shape, image.size, image.dtype
    steps, rounding = min(max_products, size), 500.0 * np.finfo(dtype).eps
    basis, images = np.empty((steps, size), dtype), np.empty((steps, size), dtype)
    diagonal, beside = np.zeros(steps), np.zeros(steps)
    image, vector = image.reshape(size), vector.reshape(size)
    beta = np.sqrt(image @ vector)
    for step in range(steps):
        basis[step], images[step] = vector / beta, image / beta
        image = operator(basis[step].reshape(shape)).reshape(size)
        scale = float(np.linalg.norm(image))
        along = basis[step] @ image
        # A's is 1 more: M v, which is known, adds nothing but that to what is new.
        diagonal[step] = 1.0 + along
        # The recurrence takes out what is large; one sweep over all vectors then takes out its rounding.
        image = image - along * images[step]
        if step:
            image -= beside[step - 1].astype(dtype) * images[step - 1]
        image -= (basis[: step + 1] @ image) @ images[: step + 1]
        vector = metric.solve(image.reshape(shape)).reshape(size)
        with np.errstate(over="ignore", invalid="ignore"):
            beta = np.sqrt(max(float(image @ vector), 0.0))
        # A norm beyond the largest number has no vector to go on from: what is known so far stays, and decides nothing.
        last = step + 1 == steps or np.linalg.norm(image) <= rounding * scale or not np.isfinite(beta)
        yield Krylov(basis[: step + 1], diagonal[: step + 1], beside[:step], float(beta), bool(last))
        beside[step] = beta


@dataclass(frozen=True)
class SmallestRatio:
    """End of a Lanczos sweep: Ritz value of A relative to M, its residual and vector, and products spent."""

    value: float
    residual: float
    vector: np.ndarray
    products: int


def is_sign_sure(value: float, residual: float, products: int) -> bool:
    """Return whether a Ritz value is so far from 0 that the smallest eigenvalue has its sign."""
    return value < -2.0 * residual or (products >= _LEAST_PRODUCTS and value >= 2.0 * residual)


def smallest_ratio(
    operator: Operator, metric: Metric, start: np.ndarray, max_products: int, spent: int = 0
) -> SmallestRatio:
    """Find the smallest eigenvalue of A v = value M v by Lanczos until its sign is sure, in the start's dtype.

    operator, metric as for `krylov`; start: M times the first vector, (m, D); spent: products of a sweep before it. Up
    to rounding the Ritz value is never below the smallest eigenvalue, and some eigenvalue lies within its residual.
    """
    for space in krylov(operator, metric, start, metric.solve(start), max_products - spent):
        value, ritz = _smallest_pair(space.diagonal, space.beside)
        residual = float(space.after * abs(ritz[-1]))
        if space.last or is_sign_sure(value, residual, len(space.diagonal) + spent):
            break
    found = (ritz.astype(start.dtype) @ space.basis).reshape(start.shape)
    return SmallestRatio(value, residual, found / np.linalg.norm(found), len(space.diagonal))


def _smallest_pair(diagonal: np.ndarray, beside: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the smallest eigenvalue of a symmetric tridiagonal matrix, and its vector of norm 1."""
    if len(diagonal) == 1:
        return float(diagonal[0]), np.ones(1)
    # By bisection and inverse iteration; scipy's own wrapper takes ten times longer over a matrix this small.
    _, values, blocks, splits, _ = scipy.linalg.lapack.dstebz(diagonal, beside, 2, 0.0, 0.0, 1, 1, 0.0, "B")
    vectors, _ = scipy.linalg.lapack.dstein(diagonal, beside, values[:1], blocks, splits)
    return float(values[0]), vectors[:, 0]
