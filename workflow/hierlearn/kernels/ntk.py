"""The tangent and conjugate kernels of deep fully connected ReLU networks."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Interval

from hierlearn.kernels._arccos import relu_layer
from hierlearn.kernels._cosine import CosineKernel, halves


@dataclass(frozen=True, kw_only=True)
class Ntk(CosineKernel):
    """The tangent kernel T_L of an infinitely wide ReLU network  (Jacot et al. 2018).

    S_0 = <x, z>, S_l = 2 E[u_+ v_+], S'_l = 2 E[1{u > 0} 1{v > 0}] with (u, v) ~ N(0, S_{l-1});
    T_1 = S_0, T_{l+1} = S_l + T_l S'_l. `last` is S_{L-1}, the conjugate kernel; `hidden` is T_L - S_{L-1}.
    Scale: the factor 2 keeps S_l(x, x) = |x|^2, so T_L(x, x) = L |x|^2. `bias` puts (x, 1) / sqrt(2) for x.
    """

    depth: Annotated[int, Interval(ge=2, le=20), "Layers of weights L: depth 2 has one hidden layer."] = 3
    trained: Annotated[
        Literal["all", "hidden", "last"],
        "Layers that are trained: all; hidden, all but the last; last, the conjugate kernel.",
    ] = "all"
    bias: Annotated[bool, "Whether the network sees (x, 1) / sqrt(2) for x; without, some degrees are missing."] = True

    def _geometry(self) -> tuple[int, float, float]:
        return halves(1, self.bias)

    def _of_cosine(self, cosine: np.ndarray) -> None:
        if self.trained == "last":
            for _ in range(1, self.depth):
                relu_layer(cosine)
            return
        tangent = cosine.copy()
        for layer in range(1, self.depth):
            tangent *= relu_layer(cosine)
            if layer < self.depth - 1 or self.trained == "all":
                tangent += cosine
        np.copyto(cosine, tangent)
