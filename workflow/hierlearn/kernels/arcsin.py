"""The arc-sine kernel."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from hierlearn.kernels._cosine import CosineKernel


@dataclass(frozen=True, kw_only=True)
class Arcsin(CosineKernel):
    """K(x, z) = (2 / pi) arcsin(<x, z> / (|x| |z|))  (allenzhu2019, Section 3.1).

    That is E_w[sign(w.x) sign(w.z)], w ~ N(0, I). Scale: K(x, x) = 1. Its expansion in the cosine is odd:
    without a bias it cannot learn a target of even degree.
    """

    bias: Annotated[bool, "Whether the kernel sees (x, 1) in place of x; without, it has odd degrees only."] = False

    def _geometry(self) -> tuple[int, float, float]:
        return 0, float(self.bias), 1.0

    def _of_cosine(self, cosine: np.ndarray) -> None:
        np.arcsin(cosine, out=cosine)
        cosine *= 2.0 / np.pi
