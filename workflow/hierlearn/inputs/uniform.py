"""Independent bounded coordinates of variance 1."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hierlearn.core.protocols import Input
from hierlearn.core.streams import Streams


@dataclass(frozen=True)
class Uniform(Input):
    """x ~ U[-sqrt(3), sqrt(3)]^d: isotropic as N(0, I_d), with polynomials that cannot explode.

    A quadratic network of L layers is a polynomial of degree 2^L; from L = 4 on, those of normal points have moments
    that no sample shows.
    """

    dimension: int
    law: ClassVar[str] = "uniform"
    stream_key: ClassVar[str] = "uniform"

    def sample(self, streams: Streams, role: str, start: int, count: int) -> np.ndarray:
        """(S, count, d) float32 rows start .. start+count; prefix-stable."""

        def draw(generator, rows):
            return (np.sqrt(3) * (2 * generator.random((rows, self.dimension)) - 1)).astype(np.float32)

        return streams.rows(start, count, draw)
