"""The tangent kernel of a two-layer network on the raw input."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from hierlearn.kernels._arccos import moment
from hierlearn.kernels._cosine import CosineKernel, halves
from hierlearn.theory.activations import one_sided


@dataclass(frozen=True, kw_only=True)
class NtkRaw(CosineKernel):
    """K(x, z) = E_w[sigma'(w.x) sigma'(w.z)] <x, z>, w ~ N(0, I)  (chen2020, NTK-Raw at infinite width).

    Only the first layer is trained. Scale: for |x| = 1, K(x, x) = 1/2 (relu), 1/2 (relu2), 3/8 (relu3).
    `bias` puts (x, 1) / sqrt(2) for x throughout.
    """

    activation: Annotated[
        Literal["relu", "relu2", "relu3"],
        "Activation sigma: relu; relu2, relu^2 / 2 (chen2020); relu3, relu^3 / 6 (bai2020).",
    ] = "relu2"
    bias: Annotated[bool, "Whether the network sees (x, 1) / sqrt(2) for x; without, some degrees are missing."] = True

    def _geometry(self) -> tuple[int, float, float]:
        return halves(one_sided(self.activation, order=1)[0] + 1, self.bias)

    def _of_cosine(self, cosine: np.ndarray) -> None:
        order, factor = one_sided(self.activation, order=1)
        inner = cosine * factor**2
        moment(order, cosine)
        cosine *= inner
