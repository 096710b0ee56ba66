"""Standard normal law."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hierlearn.streams import Streams

PARAMETERS = {}


@dataclass(frozen=True)
class Gaussian:
    """x ~ N(0, I_d)  (allenzhu2020, Section 3)."""

    dimension: int
    law: ClassVar[str] = "gaussian"

    def sample(self, streams: Streams, role: str, start: int, count: int) -> np.ndarray:
        """(S, count, d) float32 rows start .. start+count; prefix-stable."""

        def draw(generator, rows):
            return generator.standard_normal((rows, self.dimension)).astype(np.float32)

        return streams.rows(start, count, draw)
