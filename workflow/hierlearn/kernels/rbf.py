"""The Gaussian kernel."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import DTypeLike

from hierlearn.core.parameters import Positive
from hierlearn.core.protocols import Kernel
from hierlearn.kernels._tiles import SNAP, gram, pair


@dataclass(frozen=True, kw_only=True)
class Rbf(Kernel):
    """K(x, z) = exp(-|x - z|^2 / (2 b^2))  (allenzhu2019, Section 3.1, h = 2 b^2). Scale: K(x, x) = 1."""

    bandwidth: Annotated[Positive, "Length scale b of exp(-|x - z|^2 / (2 b^2)), in units of x."] = 1.0

    def __call__(self, x: np.ndarray, z: np.ndarray | None = None, dtype: DTypeLike = np.float64) -> np.ndarray:
        """(n, d), (n', d) -> (n, n') float64 or float32; z None: x with itself, exactly symmetric.

        Raises ValueError for wrong shapes, values that are not finite or another dtype.
        """
        x, z = pair(x, z)
        left = x / self.bandwidth
        right = left if z is None else z / self.bandwidth
        left_half = np.einsum("nd,nd->n", left, left) / 2
        right_half = left_half if z is None else np.einsum("nd,nd->n", right, right) / 2

        def finish(tile, rows, columns):
            total = left_half[rows][:, None] + right_half[columns]
            np.subtract(total, tile, out=tile)
            total *= SNAP
            # The difference of equal points is rounding of either sign.
            tile[tile < total] = 0.0
            np.negative(tile, out=tile)
            np.exp(tile, out=tile)
            return tile

        return gram(left, None if z is None else right, finish, dtype)

    def profile(self, t: np.ndarray) -> np.ndarray:
        """K of unit vectors with inner product t; any shape -> the same shape, float64."""
        return np.exp((np.asarray(t, np.float64) - 1.0) / self.bandwidth**2)
