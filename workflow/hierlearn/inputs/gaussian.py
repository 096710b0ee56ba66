"""Standard normal law."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from hierlearn.inputs._rows import Rows


@dataclass(frozen=True)
class Gaussian(Rows):
    """x ~ N(0, I_d)  (allenzhu2020, Section 3).

    With `unit` x ~ N(0, I_d / d)  (allenzhu2019, Section 2.1); the points are the same but for their scale.
    """

    norm: Annotated[
        Literal["unit", "sqrt_dimension"],
        "Root of E|x|^2: sqrt_dimension for coordinates of variance 1, or unit for 1/d.",
    ] = "sqrt_dimension"
    law = stream_key = "gaussian"

    def draw(self, generator: np.random.Generator, rows: int) -> np.ndarray:
        length = np.sqrt(self.dimension) if self.norm == "unit" else 1.0
        return generator.standard_normal((rows, self.dimension)) / length
