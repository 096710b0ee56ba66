"""The Gaussian kernel."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from hierlearn.core.parameters import Positive
from hierlearn.kernels._tiles import SNAP, Finish, OfProducts


@dataclass(frozen=True, kw_only=True)
class Rbf(OfProducts):
    """K(x, z) = exp(-|x - z|^2 / (2 b^2))  (allenzhu2019, Section 3.1, h = 2 b^2). Scale: K(x, x) = 1."""

    bandwidth: Annotated[Positive, "Length scale b of exp(-|x - z|^2 / (2 b^2)), in units of x."] = 1.0

    def _seen(self, x: np.ndarray) -> np.ndarray:
        return x / self.bandwidth

    def _finish(self, left: np.ndarray, right: np.ndarray) -> Finish:
        left_half, right_half = (np.einsum("nd,nd->n", points, points) / 2 for points in (left, right))

        def finish(tile, rows, columns):
            total = left_half[rows][:, None] + right_half[columns]
            np.subtract(total, tile, out=tile)
            total *= SNAP
            # The difference of equal points is rounding of either sign.
            tile[tile < total] = 0.0
            np.negative(tile, out=tile)
            return np.exp(tile, out=tile)

        return finish

    def profile(self, t: np.ndarray) -> np.ndarray:
        """K of unit vectors with inner product t; any shape -> the same shape, float64."""
        return np.exp((np.asarray(t, np.float64) - 1.0) / self.bandwidth**2)
