"""Neural representations: the features of a random one-hidden-layer network, whitened on unlabelled points."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hierlearn.core.protocols import Representation, State
from hierlearn.core.streams import Streams
from hierlearn.representations._flat import flat
from hierlearn.theory.activations import monic

PARAMETERS = {
    "features": {
        "description": "Activation phi of the random features phi(v.x + b).",
        "enum": ["step", "relu", "relu2", "quadratic"],
        "default": "step",
    },
    "count": {"description": "Number of random features D.", "type": "integer", "minimum": 1, "default": 32},
    "bias": {"description": "Whether b ~ N(0, 1) is added (else b = 0).", "type": "boolean", "default": True},
    "whiten": {
        "description": "full: all D directions; truncated: the leading ones; none: only scaled.",
        "enum": ["full", "truncated", "none"],
        "default": "full",
    },
    "directions": {
        "description": "Leading directions that `whiten: truncated` keeps; 0 keeps all.",
        "type": "integer",
        "minimum": 0,
        "default": 0,
    },
    "unlabelled": {
        "description": "Number n0 of unlabelled points that estimate the second moment.",
        "type": "integer",
        "minimum": 2,
        "default": 256,
    },
}

BOUNDS = (("directions", "count", {"whiten": "truncated"}),)
# The second moment, its eigenvectors, and the whitening; one block of features in float64.
MEMORY = {"fit": ((6, "count", "count"), (2, "unlabelled", "count"))}
WORK = {"fit": ((20, "count", "count", "count"), (4, "unlabelled", "count", "count"))}
# Directions whose second moment is below this part of the largest are rounding: whitening would blow them up.
ROUNDING = 1e-10
ROWS = 2048


@dataclass(frozen=True)
class Neural(Representation):
    """h(x) = Sigma^{-1/2} g(x) / sqrt(D), g(x) = phi(Vx + b), Sigma = (1/n0) sum g(x_i) g(x_i)^T  (chen2020, eq. 3-4).

    V has rows N(0, I_d), b ~ N(0, 1). The division by sqrt(D) (by the root of the kept directions where `whiten` is
    truncated) gives E|h|^2 = 1, so that learners on different representations are comparable.
    """

    features: str = "step"
    count: int = 32
    bias: bool = True
    whiten: str = "full"
    directions: int = 0
    unlabelled: int = 256
    stream_key: ClassVar[str] = "neural"

    def __post_init__(self):
        if self.whiten == "truncated" and not 0 <= self.directions <= self.count:
            raise ValueError(f"neural: directions {self.directions}; expected at most count = {self.count}")

    def fit(self, unlabelled: np.ndarray, streams: Streams) -> State:
        """unlabelled (S, n0, *shape) -> V (S, D, d), b (S, D), whitening (S, D, D'), spectrum (S, D) float64
        descending, rank (S,): directions above rounding."""
        unlabelled = flat(unlabelled)
        dimension = unlabelled.shape[-1]
        state = {
            "V": streams.at("V").stack(lambda g: g.standard_normal((self.count, dimension)).astype(np.float32)),
            "b": streams.at("b").stack(lambda g: g.standard_normal(self.count).astype(np.float32)) * self.bias,
        }
        fits = [self._whitening(v, b, x) for v, b, x in zip(state["V"], state["b"], unlabelled, strict=True)]
        whitening, spectrum, rank = (np.stack(parts) for parts in zip(*fits, strict=True))
        return state | {"whitening": whitening, "spectrum": spectrum, "rank": rank}

    def apply(self, state: State, x: np.ndarray) -> np.ndarray:
        """(S, n, *shape) -> (S, n, D') float32."""
        parts = zip(state["V"], state["b"], state["whitening"], flat(x), strict=True)
        if self.whiten == "none":
            return np.stack([self._activate(v, b, points) * w[0, 0] for v, b, w, points in parts])
        return np.stack([self._activate(v, b, points) @ w for v, b, w, points in parts])

    def _activate(self, v: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
        return monic(self.features)(x.astype(np.float32, copy=False) @ v.T + b)

    def _whitening(self, v, b, x) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        moment = np.zeros((self.count, self.count))
        for start in range(0, len(x), ROWS):
            g = self._activate(v, b, x[start : start + ROWS]).astype(np.float64)
            moment += g.T @ g
        values, vectors = np.linalg.eigh(moment / len(x))
        values, vectors = values[::-1], vectors[:, ::-1]
        rank = int(np.sum(values > ROUNDING * values[0]))
        if self.whiten == "none":
            scale = 1.0 / np.sqrt(np.sum(values))
            return np.full((1, 1), scale, np.float32), values, np.int64(rank)
        wanted = self.directions if self.whiten == "truncated" and self.directions else self.count
        kept = min(wanted, rank)
        inverse_root = np.zeros(self.count)
        inverse_root[:kept] = 1.0 / np.sqrt(values[:kept] * kept)
        whitening = vectors * inverse_root
        # The paper's symmetric root; for truncated whitening the rotation back would only add null directions.
        whitening = whitening @ vectors.T if self.whiten == "full" else whitening[:, :wanted]
        return whitening.astype(np.float32), values, np.int64(rank)
