"""The input itself."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hierlearn.core.protocols import Representation, State
from hierlearn.core.streams import Streams


@dataclass(frozen=True)
class Raw(Representation):
    """h(x) = x  (chen2020, Section 3, "base case")."""

    unlabelled = 0
    stream_key: ClassVar[str] = "raw"

    def fit(self, unlabelled: np.ndarray, streams: Streams) -> State:
        """Return nothing to keep: an array (S, 0)."""
        return {"nothing": np.zeros((len(streams.seeds), 0), np.float32)}

    def apply(self, state: State, x: np.ndarray) -> np.ndarray:
        """Flatten points: (S, n, *shape) -> (S, n, d) float32, d the product of the shape."""
        return x.reshape(*x.shape[:2], math.prod(x.shape[2:])).astype(np.float32, copy=False)
