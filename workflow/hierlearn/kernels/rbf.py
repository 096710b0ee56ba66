"""The Gaussian kernel."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import DTypeLike

from hierlearn.core.parameters import Positive
from hierlearn.core.protocols import Kernel
from hierlearn.kernels._tiles import SNAP, gram, pair

# Up to this sum of halved squared norms, in bandwidths, the rounding of inner products moves K by 1e-10 at most.
NEAR = 1e4
# exp(-t) is 0 in double precision from about 745 on.
VANISHED = 800.0


@dataclass(frozen=True, kw_only=True)
class Rbf(Kernel):
    """K(x, z) = exp(-|x - z|^2 / (2 b^2))  (allenzhu2019, Section 3.1, h = 2 b^2). Scale: K(x, x) = 1."""

    bandwidth: Annotated[Positive, "Length scale b of exp(-|x - z|^2 / (2 b^2)), in units of x."] = 1.0

    def __call__(self, x: np.ndarray, z: np.ndarray | None = None, dtype: DTypeLike = np.float64) -> np.ndarray:
        """(n, d), (n', d) -> (n, n') float64 or float32; z None: x with itself, exactly symmetric.

        Raises ValueError for wrong shapes, values that are not finite or another dtype.
        """
        x, z = pair(x, z, dtype)
        right_points = x if z is None else z
        with np.errstate(over="ignore"):
            left, right = x / self.bandwidth, None if z is None else z / self.bandwidth
            left_half = np.einsum("nd,nd->n", left, left) / 2
            right_half = left_half if right is None else np.einsum("nd,nd->n", right, right) / 2
        far = left_half.max(initial=0.0) + right_half.max(initial=0.0) > NEAR

        def finish(tile: np.ndarray, rows: slice, columns: slice) -> np.ndarray:
            total = left_half[rows][:, None] + right_half[columns]
            np.subtract(total, tile, out=tile)
            rounding = np.multiply(total, SNAP, out=None if far else total)
            # The difference of equal points is rounding of either sign.
            tile[tile < rounding] = 0.0
            if far:
                # Rounding decides over the value, or the products are beyond the range and neither comparison is true.
                lost = (total > NEAR) & ~(tile > VANISHED + rounding)
                if lost.any():
                    tile[lost] = self._of_differences(x[rows], right_points[columns])[lost]
            np.negative(tile, out=tile)
            return np.exp(tile, out=tile)

        return gram(left, right, finish, dtype)

    def _of_differences(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """|x - z|^2 / (2 b^2), (n, d), (n', d) -> (n, n'), of points of any size."""
        # Imported here: ordinary points need no more than their inner products.
        from scipy.spatial.distance import cdist

        # A power of two moves no digit, and keeps squares within the range.
        size = np.exp2(np.floor(np.log2(max(np.abs(x).max(), np.abs(z).max()))))
        return np.square(cdist(x / size, z / size) / self.bandwidth * size) / 2

    def profile(self, t: np.ndarray) -> np.ndarray:
        """Return K of unit vectors with inner product t; any shape -> the same shape, float64."""
        return np.exp((np.asarray(t, np.float64) - 1.0) / self.bandwidth**2)
