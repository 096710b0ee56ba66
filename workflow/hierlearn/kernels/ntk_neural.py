"""The tangent kernel of a two-layer network on infinitely many random neural features."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from hierlearn.kernels._arccos import moment
from hierlearn.kernels._cosine import CosineKernel
from hierlearn.theory.activations import POWERS, monic_moment, one_sided


@dataclass(frozen=True, kw_only=True)
class NtkNeural(CosineKernel):
    """H(x, z) = E_{(u, v) ~ N(0, S)}[sigma'(u) sigma'(v)] S_12, S = S(x, z)  (chen2020, eq. 8: H_infinity).

    S_12(x, z) = E_{v, b}[phi(v.x + b) phi(v.z + b)], v ~ N(0, I), b ~ N(0, 1): arc-cosine moments for phi =
    step, relu, relu^2 (relu2), Isserlis' theorem for phi = square (quadratic); S_11 and S_22 likewise. Scale:
    the paper's, not normalised; with s^2 = |x|^2 + 1 (|x|^2 without bias), S_11 = 1/2, s^2/2, 3 s^4/2, 3 s^4,
    and H(x, x) = S_11/2 (relu), S_11^2/2 (relu2), 3 S_11^3/8 (relu3).
    """

    features: Annotated[
        Literal["step", "relu", "relu2", "quadratic"], "Activation phi of the random features phi(v.x + b)."
    ] = "step"
    activation: Annotated[
        Literal["relu", "relu2", "relu3"],
        "Activation sigma: relu; relu2, relu^2 / 2 (chen2020); relu3, relu^3 / 6 (bai2020).",
    ] = "relu2"
    bias: Annotated[bool, "Whether b ~ N(0, 1) is added in the features (else b = 0)."] = True

    def _geometry(self) -> tuple[int, float, float]:
        return POWERS[self.features] * (one_sided(self.activation, order=1)[0] + 1), float(self.bias), 1.0

    def _of_cosine(self, cosine: np.ndarray) -> None:
        """H at s = 1 from the cosine of the (lifted) inputs, in place."""
        order, factor = one_sided(self.activation, order=1)
        variance = monic_moment(self.features)
        if self.features == "quadratic":
            np.square(cosine, out=cosine)
            cosine *= 2.0
            cosine += 1.0
            cosine *= 1.0 / variance
        else:
            moment(POWERS[self.features], cosine, 1.0 / variance)
        second = cosine.copy()
        moment(order, cosine, factor**2 * variance ** (order + 1))
        cosine *= second
