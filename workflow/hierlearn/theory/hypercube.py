"""Counted dimensions of spaces of functions on the hypercube."""

from math import comb


def products(dimension: int, order: int) -> int:
    """C(d, 0) + ... + C(d, k): number of products of at most k of d signs, a basis of the polynomials of degree <= k on
    the hypercube; exact. Raises ValueError if d < 1 or k < 0."""
    if dimension < 1 or order < 0:
        raise ValueError(f"dimension {dimension} and order {order}; expected dimension >= 1 and order >= 0")
    return sum(comb(dimension, j) for j in range(order + 1))
