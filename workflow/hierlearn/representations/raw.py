"""The input itself."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hierlearn.core.protocols import State
from hierlearn.core.streams import Streams

PARAMETERS = {}


@dataclass(frozen=True)
class Raw:
    """h(x) = x  (chen2020, Section 3, "base case")."""

    unlabelled: ClassVar[int] = 0

    def fit(self, unlabelled: np.ndarray, streams: Streams) -> State:
        """State: nothing; (S, 0)."""
        return {"nothing": np.zeros((len(streams.seeds), 0), np.float32)}

    def apply(self, state: State, x: np.ndarray) -> np.ndarray:
        """(S, n, d) -> (S, n, d) float32."""
        return x.astype(np.float32, copy=False)
