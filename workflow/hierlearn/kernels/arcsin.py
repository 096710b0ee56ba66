"""The arc-sine kernel."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import DTypeLike

from hierlearn.core.protocols import Kernel
from hierlearn.kernels._cosine import cosine_gram, cosine_profile


@dataclass(frozen=True, kw_only=True)
class Arcsin(Kernel):
    """K(x, z) = (2 / pi) arcsin(<x, z> / (|x| |z|))  (allenzhu2019, Section 3.1).

    That is E_w[sign(w.x) sign(w.z)], w ~ N(0, I). Scale: K(x, x) = 1. Its expansion in the cosine is odd:
    without a bias it cannot learn a target of even degree.
    """

    bias: Annotated[bool, "Whether the kernel sees (x, 1) in place of x; without, it has odd degrees only."] = False

    def __call__(self, x: np.ndarray, z: np.ndarray | None = None, dtype: DTypeLike = np.float64) -> np.ndarray:
        """(n, d), (n', d) -> (n, n') float64 or float32; z None: x with itself, exactly symmetric.

        Raises ValueError for wrong shapes, values that are not finite or another dtype.
        """
        return cosine_gram(x, z, dtype, _of_cosine, 0, float(self.bias))

    def profile(self, t: np.ndarray) -> np.ndarray:
        """K of unit vectors with inner product t; any shape -> the same shape, float64."""
        return cosine_profile(t, _of_cosine, 0, float(self.bias))


def _of_cosine(cosine: np.ndarray) -> None:
    np.arcsin(cosine, out=cosine)
    cosine *= 2.0 / np.pi
