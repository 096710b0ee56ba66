"""The arc-cosine kernels."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Interval

from hierlearn.kernels._arccos import moment
from hierlearn.kernels._cosine import CosineKernel, halves


@dataclass(frozen=True, kw_only=True)
class Arccos(CosineKernel):
    """K(x, z) = 2 E_w[(w.x)_+^a (w.z)_+^a], w ~ N(0, I)  (Cho, Saul 2009).

    Scale: K(x, x) = 1, |x|^2, 3 |x|^4 for a = 0, 1, 2. `bias` puts (x, 1) / sqrt(2) for x throughout.
    """

    order: Annotated[int, Interval(ge=0, le=2), "Order a of the one-sided power: 0 step, 1 ReLU, 2 ReLU squared."] = 1
    bias: Annotated[bool, "Whether the kernel sees (x, 1) / sqrt(2) for x; without, some degrees are missing."] = False

    def _geometry(self) -> tuple[int, float, float]:
        return halves(self.order, self.bias)

    def _of_cosine(self, cosine: np.ndarray) -> None:
        moment(self.order, cosine, 2.0)
