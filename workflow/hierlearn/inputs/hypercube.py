"""Uniform law on the corners of a cube."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hierlearn.streams import Streams

PARAMETERS = {}


@dataclass(frozen=True)
class Hypercube:
    """x ~ Unif{-1/sqrt(d), +1/sqrt(d)}^d, |x| = 1  (allenzhu2019, Section 7; bai2020, Section 5.2, times sqrt(d))."""

    dimension: int
    law: ClassVar[str] = "hypercube"

    def sample(self, streams: Streams, role: str, start: int, count: int) -> np.ndarray:
        """(S, count, d) float32 rows start .. start+count; prefix-stable."""

        def draw(generator, rows):
            signs = generator.integers(0, 2, (rows, self.dimension)) * 2 - 1
            return (signs / np.sqrt(self.dimension)).astype(np.float32)

        return streams.rows(start, count, draw)
