"""Independent coordinates with a skewed law."""

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Interval

from hierlearn.core.protocols import Input
from hierlearn.core.streams import Streams


@dataclass(frozen=True)
class Skewed(Input):
    """Coordinates (u^p - E u^p) / std(u^p), u ~ U[0, 1]: mean 0, variance 1, bounded.

    The mean third power is 0.64 for p = 2 and 1.38 for p = 4. A law for the toys of allenzhu2020, Section 1: where
    coordinates are symmetric the products that would mix the features of the first layer have mean 0, here they do not.
    """

    dimension: int
    _: KW_ONLY
    power: Annotated[
        int, Interval(ge=1, le=12), "Power p of the uniform variable; 1 is the uniform law, which has no skewness."
    ] = 4
    law: ClassVar[str] = "skewed"
    stream_key: ClassVar[str] = "skewed"

    def sample(self, streams: Streams, role: str, start: int, count: int) -> np.ndarray:
        """(S, count, d) float32 rows start .. start+count; prefix-stable."""
        mean = 1 / (self.power + 1)
        deviation = np.sqrt(1 / (2 * self.power + 1) - mean**2)

        def draw(generator, rows):
            return ((generator.random((rows, self.dimension)) ** self.power - mean) / deviation).astype(np.float32)

        return streams.rows(start, count, draw)
