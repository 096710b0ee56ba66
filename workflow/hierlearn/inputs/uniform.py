"""Independent bounded coordinates of variance 1."""

from dataclasses import dataclass

import numpy as np

from hierlearn.inputs._rows import Rows


@dataclass(frozen=True)
class Uniform(Rows):
    """x ~ U[-sqrt(3), sqrt(3)]^d: isotropic as N(0, I_d), with polynomials that cannot explode.

    A quadratic network of L layers is a polynomial of degree 2^L; from L = 4 on, those of normal points have moments
    that no sample shows.
    """

    law = stream_key = "uniform"

    def draw(self, generator: np.random.Generator, rows: int) -> np.ndarray:
        return np.sqrt(3) * (2 * generator.random((rows, self.dimension)) - 1)
