"""The polynomial kernel."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Interval

from hierlearn.core.parameters import Positive
from hierlearn.kernels._tiles import PowerOfProducts


@dataclass(frozen=True, kw_only=True)
class Polynomial(PowerOfProducts):
    """K(x, z) = (<x, z> / scale + 1)^degree.

    Ridge regression with it is linear regression over all monomials of x up to the degree, a monomial of degree q
    weighed by the root of its binomial and multinomial coefficients over scale^q.
    """

    degree: Annotated[int, Interval(ge=1, le=20), "Degree p of (<x, z> / scale + 1)^p."] = 4
    scale: Annotated[Positive, "What the inner product is divided by; the smaller, the more high degrees count."] = 1.0

    def profile(self, t: np.ndarray) -> np.ndarray:
        """Return K of unit vectors with inner product t; any shape -> the same shape, float64."""
        return (np.asarray(t, np.float64) / self.scale + 1.0) ** self.degree
