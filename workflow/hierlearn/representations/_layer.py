"""One layer of random features, whitened on unlabelled points."""

import numpy as np

from hierlearn.core.protocols import State
from hierlearn.core.streams import Streams
from hierlearn.representations._flat import flat
from hierlearn.theory.activations import monic

# Directions whose second moment is below this part of the largest are rounding: whitening would blow them up.
ROUNDING = 1e-10


ROWS = 2048


def fit_layer(
    unlabelled: np.ndarray, streams: Streams, features: str, count: int, bias: bool, whiten: str, directions: int
) -> State:
    """unlabelled (S, n0, *shape) -> V (S, D, d), b (S, D), whitening (S, D, D'), spectrum (S, D) float64 descending,
    rank (S,): directions above rounding. Arguments as the parameters of `neural`."""
    unlabelled = flat(unlabelled)
    dimension = unlabelled.shape[-1]
    state = {
        "V": streams.at("V").stack(lambda g: g.standard_normal((count, dimension)).astype(np.float32)),
        "b": streams.at("b").stack(lambda g: g.standard_normal(count).astype(np.float32)) * bias,
    }
    wanted = directions if whiten == "truncated" and directions else count
    parts = zip(state["V"], state["b"], unlabelled, strict=True)
    fits = [_whitening(*part, features, whiten, wanted) for part in parts]
    whitening, spectrum, rank = (np.stack(parts) for parts in zip(*fits, strict=True))
    return state | {"whitening": whitening, "spectrum": spectrum, "rank": rank}


def apply_layer(state: State, x: np.ndarray, features: str, whiten: str) -> np.ndarray:
    """(S, n, *shape) -> (S, n, D') float32."""
    parts = zip(state["V"], state["b"], state["whitening"], flat(x), strict=True)
    if whiten == "none":
        return np.stack([_activate(v, b, points, features) * w[0, 0] for v, b, w, points in parts])
    return np.stack([_activate(v, b, points, features) @ w for v, b, w, points in parts])


def _activate(v: np.ndarray, b: np.ndarray, x: np.ndarray, features: str) -> np.ndarray:
    return monic(features)(x.astype(np.float32, copy=False) @ v.T + b)


def _whitening(v, b, x, features: str, whiten: str, wanted: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    count = len(b)
    moment = np.zeros((count, count))
    for start in range(0, len(x), ROWS):
        g = _activate(v, b, x[start : start + ROWS], features).astype(np.float64)
        moment += g.T @ g
    values, vectors = np.linalg.eigh(moment / len(x))
    values, vectors = values[::-1], vectors[:, ::-1]
    rank = int(np.sum(values > ROUNDING * values[0]))
    if whiten == "none":
        scale = 1.0 / np.sqrt(np.sum(values))
        return np.full((1, 1), scale, np.float32), values, np.int64(rank)
    kept = min(wanted, rank)
    inverse_root = np.zeros(count)
    inverse_root[:kept] = 1.0 / np.sqrt(values[:kept] * kept)
    whitening = vectors * inverse_root
    # The paper's symmetric root; for truncated whitening the rotation back would only add null directions.
    whitening = whitening @ vectors.T if whiten == "full" else whitening[:, :wanted]
    return whitening.astype(np.float32), values, np.int64(rank)
