"""Counted dimensions of spaces of polynomials: what a sample size is compared with."""

from math import comb


def harmonics(dimension: int, degree: int) -> int:
    """N(d, k): dimension of the harmonics of degree k on S^{d-1}; exact. Raises ValueError if d < 2."""
    _check(dimension, degree)
    if degree < 2:
        return (1, dimension)[degree]
    return comb(dimension + degree - 1, degree) - comb(dimension + degree - 3, degree - 2)


def polynomials(dimension: int, degree: int, sphere: bool = True) -> int:
    """P_k: dimension of the polynomials of degree <= k in d variables; exact. Raises ValueError if d < 2.

    sphere: as functions on S^{d-1}, N(d, 0) + ... + N(d, k) (230 at d = 20, k = 2); else as functions on R^d,
    where |x|^2 is not constant (231).
    """
    _check(dimension, degree)
    if not sphere:
        return comb(dimension + degree, degree)
    return sum(harmonics(dimension, k) for k in range(degree + 1))


def neurons_of_harmonics(dimension: int, degree: int) -> int:
    """d N(d, p-2): the heuristic count for a quadratic Taylor model of the raw input; exact.

    Raises ValueError if d < 2 or p < 2.
    """
    if degree < 2:
        raise ValueError(f"degree {degree}; expected at least 2")
    return dimension * harmonics(dimension, degree - 2)


def _check(dimension: int, degree: int) -> None:
    if dimension < 2 or degree < 0:
        raise ValueError(f"dimension {dimension} and degree {degree}; expected dimension >= 2 and degree >= 0")
