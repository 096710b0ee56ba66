"""The polynomial kernel of a point and its centred squares."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Interval

from hierlearn.core.parameters import Positive
from hierlearn.kernels._tiles import PowerOfProducts


@dataclass(frozen=True, kw_only=True)
class PolynomialOfSquares(PowerOfProducts):
    """K(x, z) = (<h(x), h(z)> / scale + 1)^degree, h(x) = (x, x^2 - 1)  (allenzhu2020, Theorem 1).

    Ridge regression with it is linear regression over all monomials up to the degree p of the coordinates and their
    centred squares. They span sum_k C(p, k) C(d, k) 2^k functions, and with p = 2^{L-1} every quadratic DenseNet of
    depth L.
    """

    degree: Annotated[int, Interval(ge=1, le=20), "Degree p of (<h(x), h(z)> / scale + 1)^p."] = 2
    scale: Annotated[Positive, "What the inner product is divided by; the smaller, the more high degrees count."] = 1.0

    def _seen(self, x: np.ndarray) -> np.ndarray:
        return np.concatenate([x, x**2 - 1.0], axis=1)

    def profile(self, t: np.ndarray) -> np.ndarray:
        """Raise ValueError: K is no function of the inner product."""
        raise ValueError("kernel polynomial_of_squares: no function of the inner product; expected a kernel that is")
