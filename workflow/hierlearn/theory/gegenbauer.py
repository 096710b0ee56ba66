"""Orthonormal polynomials of one coordinate, and the spectrum of dot-product kernels on the sphere.

The law of t = <x, e_1> for x ~ Unif(S^{d-1}) has the density proportional to (1 - t^2)^{(d-3)/2} on [-1, 1].
All norms and means are with respect to this probability law; everything is float64.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import factorial, sqrt

import numpy as np
from numpy.polynomial.hermite_e import HermiteE

from hierlearn.theory.dimensions import harmonics

NODES = 2000
# Rounding of a coefficient, a mean of O(1) values; the trace of degree k carries sqrt(N_k) as much.
ROUNDING = 1e-14
# Quadrature of a profile with a root singularity at t = 1 may miss zero by this much in very low dimension.
NEGATIVE = 1e-7
# Rescaling step of the recurrence, whose squares would overflow near t = 1 in high dimension.
LARGE = 1e100


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues of a dot-product kernel over Unif(S^{d-1}).

    degrees (q,) int; multiplicity (q,) float64, N(d, k); eigenvalues (q,) float64 >= 0; tail: the trace of
    all other degrees, h(1) - sum_k N(d, k) xi_k >= 0.
    """

    degrees: np.ndarray
    multiplicity: np.ndarray
    eigenvalues: np.ndarray
    tail: float


def orthonormal(degree: int, dimension: int, t: np.ndarray) -> np.ndarray:
    """Return q_k(t), the degree-k Gegenbauer polynomial with E q_k^2 = 1 under the law of a coordinate.

    t: any shape -> the same shape, float64; q_k(1) = sqrt(N(d, k)) > 0.
    """
    t = np.asarray(t, np.float64)
    steps = _recurrence(dimension, degree)
    previous, current = np.zeros_like(t), np.ones_like(t)
    for k in range(degree):
        behind = steps[k - 1] * previous if k else 0.0
        previous, current = current, (t * current - behind) / steps[k]
    return current


def hermite(degree: int, t: np.ndarray) -> np.ndarray:
    """Return He_k(t) / sqrt(k!), orthonormal under N(0, 1) and the limit of q_k(t / sqrt(d)) as d -> infinity.

    t: any shape -> the same shape, float64.
    """
    return HermiteE.basis(degree)(np.asarray(t, np.float64)) / sqrt(factorial(degree))


@cache
def quadrature(dimension: int, count: int = NODES) -> tuple[np.ndarray, np.ndarray]:
    """Return the Gauss rule of one coordinate: nodes (count,) ascending, masses (count,) of sum 1; read-only.

    Exact for polynomials of degree <= 2 count - 1 (nodes by Golub-Welsch, masses with small relative error
    down to underflow). Exactly symmetric about 0, so that odd means vanish.
    """
    # Imported here: most users only evaluate polynomials, and scipy.linalg takes a quarter second to load.
    from scipy.linalg import eigvalsh_tridiagonal

    steps = _recurrence(dimension, count - 1)
    nodes = eigvalsh_tridiagonal(np.zeros(count), steps)
    nodes = (nodes - nodes[::-1]) / 2
    masses = _christoffel(nodes, steps)
    masses = masses + masses[::-1]
    masses /= np.sum(masses)
    # Many kernels ask for the same rule, which takes longer than all that is done with it.
    nodes.flags.writeable = masses.flags.writeable = False
    return nodes, masses


def spectrum(profile: Callable[[np.ndarray], np.ndarray], dimension: int, degrees: int | Sequence[int]) -> Spectrum:
    """Return eigenvalues of K(x, z) = h(<x, z>) over Unif(S^{d-1}): xi_k = E[h(t) q_k(t)] / sqrt(N(d, k)).

    profile: h, vectorised over [-1, 1]. degrees: a number (then 0 .. degrees) or a sequence. Coefficients
    below rounding are set to 0. Raises ValueError if a coefficient is clearly negative: h is then no positive
    semi-definite kernel.
    """
    kept = np.arange(degrees + 1) if isinstance(degrees, int | np.integer) else np.asarray(list(degrees))
    nodes, masses = quadrature(dimension)
    values = np.asarray(profile(nodes), np.float64) * masses
    multiplicity = np.array([float(harmonics(dimension, int(k))) for k in kept])
    means = np.array([np.sum(values * orthonormal(int(k), dimension, nodes)) for k in kept])
    size = np.sum(np.abs(values))
    if np.any(means < -NEGATIVE * size):
        k = int(kept[np.argmin(means)])
        raise ValueError(f"profile: coefficient {np.min(means):.3g} at degree {k}; expected none below 0")
    eigenvalues = np.where(means > ROUNDING * size, means, 0.0) / np.sqrt(multiplicity)
    trace = float(np.asarray(profile(np.ones(1)), np.float64)[0])
    tail = trace - float(np.sum(multiplicity * eigenvalues))
    return Spectrum(kept, multiplicity, eigenvalues, max(tail, 0.0))


def _recurrence(dimension: int, count: int) -> np.ndarray:
    """b_1 .. b_count of t q_k = b_{k+1} q_{k+1} + b_k q_{k-1}, b_k^2 = k(k+d-3) / ((2k+d-2)(2k+d-4))."""
    k = np.arange(1, count + 1, dtype=np.float64)
    squares = np.full(count, 1.0 / dimension)
    later = k[1:]
    squares[1:] = later * (later + dimension - 3) / ((2 * later + dimension - 2) * (2 * later + dimension - 4))
    return np.sqrt(squares)


def _christoffel(nodes: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Gauss masses 1 / sum_{k < count} q_k(t)^2 at the nodes of the rule with count = len(steps) + 1."""
    previous, current, total = np.zeros_like(nodes), np.ones_like(nodes), np.ones_like(nodes)
    logarithm = np.zeros_like(nodes)
    for k, step in enumerate(steps):
        behind = steps[k - 1] * previous if k else 0.0
        previous, current = current, (nodes * current - behind) / step
        total += current * current
        large = np.abs(current) > LARGE
        if np.any(large):
            for part, factor in ((previous, LARGE), (current, LARGE), (total, LARGE**2)):
                part[large] /= factor
            logarithm[large] += 2 * np.log(LARGE)
    return np.exp(-np.log(total) - logarithm)
