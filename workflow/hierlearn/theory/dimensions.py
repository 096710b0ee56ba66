"""Counted dimensions of spaces of polynomials, what sample sizes are compared with, and a bound by counting alone."""

from math import comb

import numpy as np
from numpy.typing import ArrayLike


def harmonics(dimension: int, degree: int) -> int:
    """Return N(d, k), the dimension of the harmonics of degree k on S^{d-1}; exact. Raises ValueError if d < 2."""
    _check(dimension, degree)
    if degree < 2:
        return (1, dimension)[degree]
    return comb(dimension + degree - 1, degree) - comb(dimension + degree - 3, degree - 2)


def polynomials(dimension: int, degree: int, sphere: bool = True) -> int:
    """Return P_k, the dimension of polynomials of degree <= k in d variables; exact. Raises ValueError if d < 2.

    sphere: as functions on S^{d-1}, N(d, 0) + ... + N(d, k) (230 at d = 20, k = 2); else as functions on R^d,
    where |x|^2 is not constant (231).
    """
    _check(dimension, degree)
    if not sphere:
        return comb(dimension + degree, degree)
    return sum(harmonics(dimension, k) for k in range(degree + 1))


def neurons_of_harmonics(dimension: int, degree: int) -> int:
    """Return d N(d, p-2), the heuristic count for a quadratic Taylor model of the raw input; exact.

    Raises ValueError if d < 2 or p < 2.
    """
    if degree < 2:
        raise ValueError(f"degree {degree}; expected at least 2")
    return dimension * harmonics(dimension, degree - 2)


def composition_risk_bound(functions: ArrayLike, dimension: int, order: int, alpha: float) -> np.ndarray:
    """Bound the risk of N fixed functions per output: k alpha^2 max(0, 1 - N / C(d, k))  (allenzhu2019, Thms 2 to 4).

    The target is that of the teacher residual_composition, `product`, in its own units, on the hypercube:
    H_j = beta s_{i_j} + alpha s_{i_1} ... s_{i_k}, j = 1 .. k, with k = order >= 2; the risk is summed over outputs and
    averaged over the coordinates, beta is arbitrary. functions: N, the points of a kernel or the dimension D of a
    feature map, any shape -> the same shape, float64. The paper prints alpha^2 / 4 (Theorem 2) for large d.

    Let V be the span of the N functions for one output, L that of the d signs, and W the projection of V onto the
    complement of L, dim W <= N. Then dist(H_j, V) >= alpha dist(s_I, V + L) = alpha dist(s_I, W) as s_I is orthogonal
    to L, and the mean of |P_W s_I|^2 over the C(d, k) orthonormal products s_I is at most dim W / C(d, k).

    Raises ValueError for k < 2 or k > d.
    """
    if not 2 <= order <= dimension:
        raise ValueError(f"order {order}; expected 2 to the dimension {dimension}")
    share = 1.0 - np.asarray(functions, np.float64) / comb(dimension, order)
    return order * alpha**2 * np.maximum(share, 0.0)


def composition_sample_bound(risk: float, dimension: int, order: int, alpha: float) -> float:
    """Return C(d, k) max(0, 1 - risk / (k alpha^2)): the samples from which `composition_risk_bound` allows a risk.

    risk: summed over outputs, in the target's own units. Raises ValueError for k < 2 or k > d.
    """
    return comb(dimension, order) * max(1.0 - risk / float(composition_risk_bound(0, dimension, order, alpha)), 0.0)


def _check(dimension: int, degree: int) -> None:
    if dimension < 2 or degree < 0:
        raise ValueError(f"dimension {dimension} and degree {degree}; expected dimension >= 2 and degree >= 0")
