"""Random cosine features of the input."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hierlearn.core.parameters import Count
from hierlearn.core.protocols import Representation, State
from hierlearn.core.streams import Streams


@dataclass(frozen=True, kw_only=True)
class Template(Representation):
    """h_j(x) = (2 / D)^{1/2} cos(<v_j, x> + b_j), scaled to E|h(x)|^2 = 1 on the unlabelled points."""

    count: Annotated[Count, "Number D of features."] = 50
    # How many points without labels `fit` is given.
    unlabelled: ClassVar[int] = 2000

    def fit(self, unlabelled: np.ndarray, streams: Streams) -> State:
        """Return the state: weights (S, d, D), phases (S, 1, D), scale (S, 1, 1)."""
        dimension = unlabelled.shape[-1]
        weights = streams.at("weights").stack(lambda generator: generator.standard_normal((dimension, self.count)))
        phases = streams.at("phases").stack(lambda generator: generator.uniform(0, 2 * np.pi, (1, self.count)))
        raw = np.cos(unlabelled.astype(np.float64) @ weights + phases)
        scale = np.mean(np.sum(raw**2, axis=-1), axis=1)[:, None, None] ** -0.5
        return {"weights": weights, "phases": phases, "scale": scale}

    def apply(self, state: State, x: np.ndarray) -> np.ndarray:
        """Return features: (S, n, d) -> (S, n, D) float32."""
        raw = np.cos(x.astype(np.float64) @ state["weights"] + state["phases"])
        return (state["scale"] * raw).astype(np.float32)
