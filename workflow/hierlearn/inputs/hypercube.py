"""Uniform law on the corners of a cube."""

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from hierlearn.core.protocols import Input
from hierlearn.core.streams import Streams


@dataclass(frozen=True)
class Hypercube(Input):
    """x ~ Unif{-1/sqrt(d), +1/sqrt(d)}^d, |x| = 1  (allenzhu2019, Section 7).

    With `sqrt_dimension` x ~ Unif{-1, +1}^d  (allenzhu2019, Figure 2; bai2020, Section 5.2); the signs are the same.
    """

    dimension: int
    _: KW_ONLY
    norm: Annotated[
        Literal["unit", "sqrt_dimension"], "Norm of x: unit, or sqrt_dimension for coordinates -1 and +1."
    ] = "unit"
    law: ClassVar[str] = "hypercube"
    stream_key: ClassVar[str] = "hypercube"

    def sample(self, streams: Streams, role: str, start: int, count: int) -> np.ndarray:
        """(S, count, d) float32 rows start .. start+count; prefix-stable."""
        length = np.sqrt(self.dimension) if self.norm == "unit" else 1.0

        def draw(generator, rows):
            signs = generator.integers(0, 2, (rows, self.dimension)) * 2 - 1
            return (signs / length).astype(np.float32)

        return streams.rows(start, count, draw)
