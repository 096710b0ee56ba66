"""Counted dimensions of spaces of functions on the hypercube."""

from math import comb


def products(dimension: int, order: int) -> int:
    """Count the products of at most k of d signs: C(d, 0) + ... + C(d, k), exact.

    They are a basis of the polynomials of degree <= k on the hypercube. Raises ValueError if d < 1 or k < 0.
    """
    if dimension < 1 or order < 0:
        raise ValueError(f"dimension {dimension} and order {order}; expected dimension >= 1 and order >= 0")
    return sum(comb(dimension, j) for j in range(order + 1))
