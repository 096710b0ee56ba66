"""The arc-cosine kernels."""

from dataclasses import dataclass
from math import sqrt
from typing import Annotated

import numpy as np
from annotated_types import Interval
from numpy.typing import DTypeLike

from hierlearn.core.protocols import Kernel
from hierlearn.kernels._arccos import moment
from hierlearn.kernels._cosine import cosine_gram, cosine_profile


@dataclass(frozen=True, kw_only=True)
class Arccos(Kernel):
    """K(x, z) = 2 E_w[(w.x)_+^a (w.z)_+^a], w ~ N(0, I)  (Cho, Saul 2009).

    Scale: K(x, x) = 1, |x|^2, 3 |x|^4 for a = 0, 1, 2. `bias` puts (x, 1) / sqrt(2) for x throughout.
    """

    order: Annotated[int, Interval(ge=0, le=2), "Order a of the one-sided power: 0 step, 1 ReLU, 2 ReLU squared."] = 1
    bias: Annotated[bool, "Whether the kernel sees (x, 1) / sqrt(2) for x; without, some degrees are missing."] = False

    def __call__(self, x: np.ndarray, z: np.ndarray | None = None, dtype: DTypeLike = np.float64) -> np.ndarray:
        """(n, d), (n', d) -> (n, n') float64 or float32; z None: x with itself, exactly symmetric.

        Raises ValueError for wrong shapes, values that are not finite or another dtype.
        """
        return cosine_gram(x, z, dtype, self._of_cosine, *self._geometry)

    def profile(self, t: np.ndarray) -> np.ndarray:
        """K of unit vectors with inner product t; any shape -> the same shape, float64."""
        return cosine_profile(t, self._of_cosine, *self._geometry)

    @property
    def _geometry(self) -> tuple[int, float, float]:
        """Power of the norms, appended constant, scale."""
        return (self.order, 1.0, sqrt(0.5)) if self.bias else (self.order, 0.0, 1.0)

    def _of_cosine(self, cosine: np.ndarray) -> None:
        moment(self.order, cosine, 2.0)
