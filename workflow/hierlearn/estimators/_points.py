"""Weights of points for squared losses, and points that occur several times."""

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from hierlearn.core.protocols import Kernel


def weights_of(estimator: Any, sample_weight: Any, count: int) -> np.ndarray | None:
    """Return weights (count,) float64, None if they are not given. Raises ValueError, one line."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, np.float64)
    weights = np.full(count, float(weights)) if weights.ndim == 0 else weights
    name = f"{type(estimator).__name__}: sample_weight"
    if weights.shape != (count,):
        raise ValueError(f"{name} of shape {weights.shape}; expected ({count},), one for each sample")
    if np.isfinite(weights).all() and not np.any(weights):
        raise ValueError(f"{name} is zero for every sample; expected a positive weight")
    if not np.isfinite(weights).all() or np.any(weights < 0):
        raise ValueError(f"{name} from {np.min(weights)} to {np.max(weights)}; expected finite ones, none negative")
    return weights


@dataclass(frozen=True)
class Weighted(Kernel):
    """sqrt(w) K(x, z) sqrt(w'): the last coordinate of a point is the root of its weight."""

    kernel: Kernel

    def __call__(self, x: np.ndarray, z: np.ndarray | None = None, dtype: DTypeLike = np.float64) -> np.ndarray:
        """Return (n, n') float64 or float32 for points (n, d + 1), (n', d + 1)."""
        gram = self.kernel(x[:, :-1], None if z is None else z[:, :-1], dtype)
        gram *= x[:, -1:]
        gram *= (x if z is None else z)[:, -1]
        return gram

    def profile(self, t: np.ndarray) -> np.ndarray:
        """Return the kernel of two points of norm 1 and weight 1."""
        return self.kernel.profile(t)


def distinct(
    x: np.ndarray, labels: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return points (n', d) without copies, with the means (n', k) of their labels and the sums (n',) of their weights.

    Weights are scaled to mean 1. Squared losses of copies differ from that of their mean by a constant, so that a fit
    is the same; leaving one point out leaves all its copies out.
    """
    weights = np.ones(len(x)) if weights is None else weights
    if not np.all(weights):
        x, labels, weights = (values[weights > 0] for values in (x, labels, weights))
    places: dict[bytes, int] = {}
    # Of 0 and -0 alike.
    of_point = np.array([places.setdefault(row.tobytes(), len(places)) for row in x + 0.0])
    if len(places) < len(x):
        first = np.unique(of_point, return_index=True)[1]
        total = np.bincount(of_point, weights)
        sums = [np.bincount(of_point, weights * column) for column in labels.T]
        x, labels, weights = x[first], np.stack(sums, axis=1) / total[:, None], total
    return x, labels, weights / np.mean(weights)


def landmarks(x: np.ndarray, weights: np.ndarray | None, count: int, seed: int) -> np.ndarray:
    """Return rows (count',) of distinct points, ascending, which depend on points and seed alone: not on their order.

    count' is `count`, or the number of distinct points of positive weight if that is less.
    """
    key = seed.to_bytes(16, "little", signed=True)
    first: dict[bytes, int] = {}
    for row in np.arange(len(x)) if weights is None else np.flatnonzero(weights):
        first.setdefault(hashlib.blake2b(x[row].tobytes(), digest_size=16, key=key).digest(), int(row))
    return np.sort([first[digest] for digest in sorted(first)[:count]])
