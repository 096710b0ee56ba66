"""Standard normal law."""

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from hierlearn.core.protocols import Input
from hierlearn.core.streams import Streams


@dataclass(frozen=True)
class Gaussian(Input):
    """x ~ N(0, I_d)  (allenzhu2020, Section 3).

    With `unit` x ~ N(0, I_d / d)  (allenzhu2019, Section 2.1); the points are the same but for their scale.
    """

    dimension: int
    _: KW_ONLY
    norm: Annotated[
        Literal["unit", "sqrt_dimension"],
        "Root of E|x|^2: sqrt_dimension for coordinates of variance 1, or unit for 1/d.",
    ] = "sqrt_dimension"
    law: ClassVar[str] = "gaussian"
    stream_key: ClassVar[str] = "gaussian"

    def sample(self, streams: Streams, role: str, start: int, count: int) -> np.ndarray:
        """(S, count, d) float32 rows start .. start+count; prefix-stable."""
        length = np.sqrt(self.dimension) if self.norm == "unit" else 1.0

        def draw(generator, rows):
            return (generator.standard_normal((rows, self.dimension)) / length).astype(np.float32)

        return streams.rows(start, count, draw)
