"""Uniform law on the unit sphere."""

from dataclasses import dataclass

import numpy as np

from hierlearn.inputs._rows import Rows


@dataclass(frozen=True)
class Sphere(Rows):
    """x ~ Unif(S^{d-1}), |x| = 1  (chen2020, Section 2)."""

    law = stream_key = "sphere"
    norm = "unit"

    def draw(self, generator: np.random.Generator, rows: int) -> np.ndarray:
        x = generator.standard_normal((rows, self.dimension))
        return x / np.linalg.norm(x, axis=1, keepdims=True)
