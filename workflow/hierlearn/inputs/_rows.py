"""Laws whose points are drawn one by one, each independent of all others."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from hierlearn.core.protocols import Input
from hierlearn.core.streams import Streams


@dataclass(frozen=True)
class Rows(Input):
    """A law that says how points are drawn from a generator."""

    dimension: int

    @abstractmethod
    def draw(self, generator: np.random.Generator, rows: int) -> np.ndarray:
        """(rows, d) independent points."""

    def sample(self, streams: Streams, role: str, start: int, count: int) -> np.ndarray:
        return streams.rows(start, count, lambda generator, rows: self.draw(generator, rows).astype(np.float32))
