"""Functions of the cosine as polynomials of the angle, for kernels in single precision.

Arc-cosine kernels have square roots at cosine 1 and -1, and arccos takes them away: layers of ReLU, however many, are
analytic in the angle on [0, pi]. So the Chebyshev coefficients fall geometrically, and one polynomial of degree 10 to
20 is all layers to the rounding of float32. For float64 twice the degree costs what two or three layers' formulas do.
"""

from collections.abc import Callable

import numpy as np
from numpy.polynomial import chebyshev

# Of the largest value: about the rounding of float32.
TOLERANCE = 1e-7
# Beyond it, what the polynomial replaces is cheaper.
LARGEST_DEGREE = 24


def polynomial(of_cosine: Callable[[np.ndarray], None]) -> list[float] | None:
    """Coefficients c, highest power first, with f(sin s) = sum_k c_k s^k for |s| <= pi / 2; s is pi / 2 - the angle.

    of_cosine: f, in place. The degree is the least that is within TOLERANCE of the largest |f| on a grid much finer
    than its oscillations. None if that takes more than LARGEST_DEGREE, as for two layers that jump: they have a root
    at angle 0.
    """

    def values(t):
        cosine = np.sin(np.pi / 2 * t)
        of_cosine(cosine)
        return cosine

    series, grid = chebyshev.chebinterpolate(values, 2 * LARGEST_DEGREE), np.linspace(-1.0, 1.0, 1001)
    exact = values(grid)
    for count in range(1, LARGEST_DEGREE + 2):
        error = np.max(np.abs(chebyshev.chebval(grid, series[:count]) - exact))
        if error <= TOLERANCE * np.max(np.abs(exact)):
            powers = chebyshev.cheb2poly(series[:count])
            return (powers * (2 / np.pi) ** np.arange(len(powers)))[::-1].tolist()
    return None


def of_angle(coefficients: list[float], cosine: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The polynomial by Horner's rule: cosines in [-1, 1], overwritten -> `values`, of their shape and dtype."""
    s = np.arcsin(cosine, out=cosine)
    highest, following, *lower = coefficients
    np.multiply(s, highest, out=values)
    values += following
    for coefficient in lower:
        values *= s
        values += coefficient
    return values
