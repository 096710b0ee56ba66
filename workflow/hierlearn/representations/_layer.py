"""One layer of random features, whitened on unlabelled points."""

import math
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from hierlearn.core.parameters import Count, Index
from hierlearn.core.protocols import State
from hierlearn.core.streams import Streams
from hierlearn.theory.activations import monic

# Directions whose second moment is below this part of the largest are rounding: whitening would blow them up.
ROUNDING = 1e-10
ROWS = 2048


@dataclass(frozen=True, kw_only=True)
class Layer:
    """What `neural` is, and each layer of `two_layer`."""

    features: Annotated[
        Literal["step", "relu", "relu2", "quadratic"], "Activation phi of the random features phi(v.x + b)."
    ] = "step"
    count: Annotated[Count, "Number of random features D."] = 32
    bias: Annotated[bool, "Whether b ~ N(0, 1) is added (else b = 0)."] = True
    whiten: Annotated[
        Literal["full", "truncated", "none"], "full: all D directions; truncated: the leading ones; none: only scaled."
    ] = "full"
    directions: Annotated[Index, "Leading directions that `whiten: truncated` keeps; 0 keeps all."] = 0

    def fit(self, unlabelled: np.ndarray, streams: Streams) -> State:
        """unlabelled (S, n0, *shape) -> V (S, D, d), b (S, D), whitening (S, D, D'), spectrum (S, D) float64
        descending, rank (S,): directions above rounding."""
        unlabelled = _flat(unlabelled)
        shape = self.count, unlabelled.shape[-1]
        v = streams.at("V").stack(lambda g: g.standard_normal(shape).astype(np.float32))
        b = streams.at("b").stack(lambda g: g.standard_normal(self.count).astype(np.float32)) * self.bias
        fits = [self._whitening(*part) for part in zip(v, b, unlabelled, strict=True)]
        whitening, spectrum, rank = (np.stack(parts) for parts in zip(*fits, strict=True))
        return {"V": v, "b": b, "whitening": whitening, "spectrum": spectrum, "rank": rank}

    def apply(self, state: State, x: np.ndarray) -> np.ndarray:
        """(S, n, *shape) -> (S, n, D') float32, of points in float64 float64."""
        parts = zip(state["V"], state["b"], state["whitening"], _flat(x), strict=True)
        if self.whiten == "none":
            return np.stack([self._activate(v, b, points) * w[0, 0] for v, b, w, points in parts])
        return np.stack([self._activate(v, b, points) @ w for v, b, w, points in parts])

    def _activate(self, v: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
        # Points of the workflow are float32; others that are float64 are shown in it.
        return monic(self.features)(x.astype(np.promote_types(x.dtype, np.float32), copy=False) @ v.T + b)

    def _whitening(self, v: np.ndarray, b: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.int64]:
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


def _flat(x: np.ndarray) -> np.ndarray:
    """(S, n, *shape) -> (S, n, d), d the product of the shape."""
    return x.reshape(*x.shape[:2], math.prod(x.shape[2:]))
