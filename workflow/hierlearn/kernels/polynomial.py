"""The polynomial kernel."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Interval
from numpy.typing import DTypeLike

from hierlearn.core.parameters import Positive
from hierlearn.core.protocols import Kernel
from hierlearn.kernels._tiles import gram, pair


@dataclass(frozen=True, kw_only=True)
class Polynomial(Kernel):
    """K(x, z) = (<x, z> / scale + 1)^degree.

    Ridge regression with it is linear regression over all monomials of x up to the degree, a monomial of degree q
    weighed by the root of its binomial and multinomial coefficients over scale^q.
    """

    degree: Annotated[int, Interval(ge=1, le=20), "Degree p of (<x, z> / scale + 1)^p."] = 4
    scale: Annotated[Positive, "What the inner product is divided by; the smaller, the more high degrees count."] = 1.0

    def __call__(self, x: np.ndarray, z: np.ndarray | None = None, dtype: DTypeLike = np.float64) -> np.ndarray:
        """(n, d), (n', d) -> (n, n') float64 or float32; z None: x with itself, exactly symmetric.

        Raises ValueError for wrong shapes, values that are not finite or another dtype.
        """
        x, z = pair(x, z)

        def finish(tile, rows, columns):
            tile /= self.scale
            tile += 1.0
            return np.power(tile, self.degree, out=tile)

        return gram(x, z, finish, dtype)

    def profile(self, t: np.ndarray) -> np.ndarray:
        """K of unit vectors with inner product t; any shape -> the same shape, float64."""
        return (np.asarray(t, np.float64) / self.scale + 1.0) ** self.degree
