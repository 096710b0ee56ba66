"""Uniform law on the corners of a cube."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from hierlearn.inputs._rows import Rows


@dataclass(frozen=True)
class Hypercube(Rows):
    """x ~ Unif{-1/sqrt(d), +1/sqrt(d)}^d, |x| = 1  (allenzhu2019, Section 7).

    With `sqrt_dimension` x ~ Unif{-1, +1}^d  (allenzhu2019, Figure 2; bai2020, Section 5.2); the signs are the same.
    """

    norm: Annotated[
        Literal["unit", "sqrt_dimension"], "Norm of x: unit, or sqrt_dimension for coordinates -1 and +1."
    ] = "unit"
    law = stream_key = "hypercube"

    def draw(self, generator: np.random.Generator, rows: int) -> np.ndarray:
        length = np.sqrt(self.dimension) if self.norm == "unit" else 1.0
        return (generator.integers(0, 2, (rows, self.dimension)) * 2 - 1) / length
