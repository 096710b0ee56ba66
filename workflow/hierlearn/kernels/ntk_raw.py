"""The tangent kernel of a two-layer network on the raw input."""

from dataclasses import dataclass
from math import sqrt
from typing import Annotated, Literal

import numpy as np
from numpy.typing import DTypeLike

from hierlearn.core.protocols import Kernel
from hierlearn.kernels._arccos import moment
from hierlearn.kernels._cosine import cosine_gram, cosine_profile
from hierlearn.theory.activations import one_sided


@dataclass(frozen=True, kw_only=True)
class NtkRaw(Kernel):
    """K(x, z) = E_w[sigma'(w.x) sigma'(w.z)] <x, z>, w ~ N(0, I)  (chen2020, NTK-Raw at infinite width).

    Only the first layer is trained. Scale: for |x| = 1, K(x, x) = 1/2 (relu), 1/2 (relu2), 3/8 (relu3).
    `bias` puts (x, 1) / sqrt(2) for x throughout.
    """

    activation: Annotated[
        Literal["relu", "relu2", "relu3"],
        "Activation sigma: relu; relu2, relu^2 / 2 (chen2020); relu3, relu^3 / 6 (bai2020).",
    ] = "relu2"
    bias: Annotated[bool, "Whether the network sees (x, 1) / sqrt(2) for x; without, some degrees are missing."] = True

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
        power = one_sided(self.activation, order=1)[0] + 1
        return (power, 1.0, sqrt(0.5)) if self.bias else (power, 0.0, 1.0)

    def _of_cosine(self, cosine: np.ndarray) -> None:
        order, factor = one_sided(self.activation, order=1)
        inner = cosine * factor**2
        moment(order, cosine)
        cosine *= inner
