"""Functions of the cosine as polynomials of the angle, for kernels in single precision.

Arc-cosine kernels have square roots at cosine 1 and -1, and arccos takes them away: layers of ReLU, however many, are
analytic in the angle on [0, pi]. So the Chebyshev coefficients fall geometrically, faster still on a part of it, and
one polynomial of degree 5 to 13 is all layers to the rounding of float32. For float64 twice the degree costs what two
or three layers' formulas do.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import asin, ceil, floor, pi

import numpy as np
from numpy.polynomial import chebyshev

# Of the largest value: about the rounding of float32.
TOLERANCE = 1e-7
# Beyond it, what the polynomial replaces is cheaper.
LARGEST_DEGREE = 24
# Polynomials are of ranges of whole cells of the angle, of which there are this many, so that tiles share them.
CELLS = 8

# f, in place.
OfCosine = Callable[[np.ndarray], None]


@dataclass(frozen=True)
class Polynomial:
    """sum_k c_k (s - middle)^k, s = pi / 2 - the angle; coefficients: c, highest power first, two at least."""

    middle: float
    coefficients: tuple[float, ...]


def fitted(of_cosine: OfCosine, lowest: float = -pi / 2, highest: float = pi / 2) -> Polynomial | None:
    """f(sin s) for lowest <= s <= highest, about their middle, so that powers lose no digits.

    The degree is the least whose remaining Chebyshev coefficients sum to TOLERANCE f(1) at most, which bounds the
    error; f(1) is the largest |f| of a kernel. None if that takes more than LARGEST_DEGREE, as for two layers that jump
    where the range ends near angle 0: they have a root there.
    """
    middle, half = (lowest + highest) / 2, (highest - lowest) / 2

    def values(t: np.ndarray) -> np.ndarray:
        cosine = np.sin(middle + half * t)
        of_cosine(cosine)
        return cosine

    largest = np.ones(1)
    of_cosine(largest)
    series: np.ndarray = chebyshev.chebinterpolate(values, 2 * LARGEST_DEGREE)
    rest = np.cumsum(np.abs(series[::-1]))[::-1]
    # From degree 1.
    enough = np.flatnonzero(rest[2 : LARGEST_DEGREE + 2] <= TOLERANCE * largest[0])
    if not len(enough):
        return None
    powers = chebyshev.cheb2poly(series[: enough[0] + 2])
    return Polynomial(middle, tuple((powers / half ** np.arange(len(powers)))[::-1].tolist()))


def by_range(of_cosine: OfCosine, most: float = 1.0) -> Callable[[float, float], Polynomial | None]:
    """(least, largest cosine) -> `fitted` on the cells of the angle that hold all between; the same cells fit once.

    most: cells end there, so that cosines in [-most, most] are all that it is for.
    """
    width, end = pi / CELLS, asin(most)

    @cache
    def of_cells(first: int, last: int) -> Polynomial | None:
        return fitted(of_cosine, max(first * width, -end), min(last * width, end))

    def of_cosines(least: float, largest: float) -> Polynomial | None:
        # Rounding may put a cosine above 1, and all of a small tile may lie beyond `most`.
        first, last = (asin(min(max(float(cosine), -most), most)) / width for cosine in (least, largest))
        first = min(floor(first), CELLS // 2 - 1)
        return of_cells(first, max(ceil(last), first + 1))

    return of_cosines


def of_angle(polynomial: Polynomial, cosine: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the polynomial by Horner's rule: cosines in [-1, 1], overwritten -> `values`, of their shape and dtype."""
    s = np.arcsin(cosine, out=cosine)
    if polynomial.middle:
        s -= polynomial.middle
    highest, following, *lower = polynomial.coefficients
    np.multiply(s, highest, out=values)
    values += following
    for coefficient in lower:
        values *= s
        values += coefficient
    return values
