"""Uniform law on the unit sphere."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hierlearn.core.protocols import Input
from hierlearn.core.streams import Streams


@dataclass(frozen=True)
class Sphere(Input):
    """x ~ Unif(S^{d-1}), |x| = 1  (chen2020, Section 2)."""

    dimension: int
    law: ClassVar[str] = "sphere"
    norm: ClassVar[str] = "unit"
    stream_key: ClassVar[str] = "sphere"

    def sample(self, streams: Streams, role: str, start: int, count: int) -> np.ndarray:
        """(S, count, d) float32 rows start .. start+count; prefix-stable."""

        def draw(generator, rows):
            x = generator.standard_normal((rows, self.dimension))
            return (x / np.linalg.norm(x, axis=1, keepdims=True)).astype(np.float32)

        return streams.rows(start, count, draw)
