"""Recursive kernels: a function of the cosine applied to its own values, layer after layer."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Interval

from hierlearn.kernels._arccos import moment
from hierlearn.kernels._cosine import CosineKernel
from hierlearn.theory.activations import one_sided_moment

ORDERS = {"arccos0": 0, "arccos1": 1, "arccos2": 2}


@dataclass(frozen=True, kw_only=True)
class Recursive(CosineKernel):
    """K(x, z) = kappa(... kappa(cos(x, z)) ...), L times  (Daniely et al. 2016; allenzhu2019, Section 3.1, kernel 3).

    kappa is a dot-product kernel with kappa(1) = 1, the covariance of one layer of a wide random network: step, ReLU
    and ReLU squared (arccos0 to arccos2), sign (arcsin), cosines of random phase (exponential). K(x, x) = 1: the norm
    of x does not count. A composition of kernels has non-negative Taylor coefficients, so it is a kernel.
    """

    base: Annotated[
        Literal["arccos0", "arccos1", "arccos2", "arcsin", "exponential"],
        "The function kappa: an arc-cosine kernel by its order, arcsin, or exp(t - 1) (exponential).",
    ] = "arccos1"
    depth: Annotated[int, Interval(ge=1, le=20), "How often kappa is applied, L."] = 2
    bias: Annotated[bool, "Whether the kernel sees (x, 1) in place of x; without, arcsin has odd degrees only."] = False

    def _geometry(self) -> tuple[int, float, float]:
        return 0, float(self.bias), 1.0

    def _of_cosine(self, cosine: np.ndarray) -> None:
        for _ in range(self.depth):
            if self.base in ORDERS:
                moment(ORDERS[self.base], cosine, 1.0 / one_sided_moment(2 * ORDERS[self.base]))
            elif self.base == "arcsin":
                np.arcsin(cosine, out=cosine)
                cosine *= 2.0 / np.pi
            else:
                cosine -= 1.0
                np.exp(cosine, out=cosine)
