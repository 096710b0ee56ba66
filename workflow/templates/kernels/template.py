"""A kernel with a cusp."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import DTypeLike
from scipy.spatial.distance import cdist

from hierlearn.core.parameters import Positive
from hierlearn.core.protocols import Kernel


@dataclass(frozen=True, kw_only=True)
class Template(Kernel):
    """K(x, z) = exp(-|x - z| / b)."""

    # A parameter is a field: its type and limits, one sentence, its default.
    bandwidth: Annotated[Positive, "Length b."] = 1.0

    def __call__(self, x: np.ndarray, z: np.ndarray | None = None, dtype: DTypeLike = np.float64) -> np.ndarray:
        """Return K: (n, d), (n', d) -> (n, n'); z None: x with itself, exactly symmetric."""
        return np.exp(-cdist(x, x if z is None else z) / self.bandwidth).astype(dtype)

    def profile(self, t: np.ndarray) -> np.ndarray:
        """Return K of unit vectors with inner product t; any shape -> the same shape, float64."""
        return np.exp(-np.sqrt(2 - 2 * np.minimum(t, 1)) / self.bandwidth)
