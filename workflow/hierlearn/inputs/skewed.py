"""Independent coordinates with a skewed law."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Interval

from hierlearn.inputs._rows import Rows


@dataclass(frozen=True)
class Skewed(Rows):
    """Coordinates (u^p - E u^p) / std(u^p), u ~ U[0, 1]: mean 0, variance 1, bounded.

    The mean third power is 0.64 for p = 2 and 1.38 for p = 4. A law for the toys of allenzhu2020, Section 1: where
    coordinates are symmetric the products that would mix the features of the first layer have mean 0, here they do not.
    """

    power: Annotated[
        int, Interval(ge=1, le=12), "Power p of the uniform variable; 1 is the uniform law, which has no skewness."
    ] = 4
    law = stream_key = "skewed"

    def draw(self, generator: np.random.Generator, rows: int) -> np.ndarray:
        mean = 1 / (self.power + 1)
        deviation = np.sqrt(1 / (2 * self.power + 1) - mean**2)
        return (generator.random((rows, self.dimension)) ** self.power - mean) / deviation
