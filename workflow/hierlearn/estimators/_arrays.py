"""The bridge from arrays to the library's learners: points and labels as data of one seed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hierlearn.core.protocols import (
    Batch,
    Data,
    Features,
    Fit,
    Input,
    Learner,
    Monitor,
    NullMonitor,
    State,
    TrainingData,
)
from hierlearn.core.streams import Streams
from hierlearn.representations.raw import Raw

KEY = ("arrays",)


class Table(Input):
    """The law of rows of a table, which learners may object to: there are no points but those that are given."""

    law = "table"
    shape: tuple[int, int, int] | None

    def __init__(self, dimension: int, shape: tuple[int, int, int] | None = None) -> None:
        self.dimension, self.shape = dimension, shape

    def sample(self, streams: Streams, role: str, start: int, count: int) -> np.ndarray:
        """Refuse to draw points. Raises ValueError."""
        found = f"{role} points {start} to {start + count}"
        raise ValueError(f"arrays: {found} were asked for; expected those that are given")


@dataclass(frozen=True)
class Arrays(Data):
    """Points and labels by role, for one seed. The truth behind the labels is not known."""

    kind: str
    roles: "Mapping[str, Rows]"
    seeds: tuple[int, ...]
    shape: tuple[int, int, int] | None = None
    points_norm: str = Table.norm
    links: None = None
    oracle: None = None

    @property
    def outputs(self) -> int:
        """Return k, the columns of the labels."""
        return self.roles["training"].labels.shape[1]

    @property
    def dimension(self) -> int:
        """Return D, the columns of the points."""
        return self.roles["training"].x.shape[1]

    @property
    def held_out(self) -> int:
        """Return the number of validation points."""
        return len(self.roles["validation"].x)

    def draw(self, role: str, count: int, start: int = 0) -> Batch:
        """Return rows start .. start+count of a role, (1, count, ...). Raises ValueError where there are fewer."""
        rows = self.roles[role]
        if start + count > len(rows.x):
            raise ValueError(f"arrays: {start + count} {role} points were asked for; expected at most {len(rows.x)}")
        x, labels = rows.x[None, start : start + count], rows.labels[None, start : start + count]
        return Batch(x, labels, labels)

    def stored(self, role: str) -> int:
        """Return the number of points of a role."""
        return len(self.roles[role].x) if role in self.roles else 0

    def take(self, positions: Sequence[int]) -> "Arrays":
        """Return the same data: there is one seed."""
        return self


@dataclass
class Points(Features):
    """Arrays (n, D) by role, in the precision in which they are given."""

    roles: Mapping[str, np.ndarray]
    representation: Raw = field(default_factory=Raw)

    def draw(self, role: str, count: int, start: int = 0) -> np.ndarray:
        """Return rows start .. start+count of a role, (1, count, D)."""
        return self.roles[role][None, start : start + count]

    def of(self, x: np.ndarray) -> np.ndarray:
        """Return points (1, n, D) as they are."""
        return x

    def take(self, positions: Sequence[int]) -> "Points":
        """Return the same points: there is one seed."""
        return self


@dataclass(frozen=True)
class Rows:
    """Points (n, D) and labels (n, k) of one role."""

    x: np.ndarray
    labels: np.ndarray


def fit(
    learner: Learner,
    kind: str,
    training: Rows,
    held_out: Rows,
    choices: Mapping[str, Sequence[Any]],
    seed: int,
    shape: tuple[int, int, int] | None = None,
    monitor: Monitor | None = None,
) -> Fit:
    """Train a learner of the library on arrays.

    kind: "regression" or "classes"; held_out: the points on which the learner makes its choices; seed: of its random
    numbers; shape: of pictures. Returns the learner's `Fit` of one seed. Raises ValueError as the learner does.
    """
    roles = {"training": training, "validation": held_out}
    learner.raise_for(Table(training.x.shape[1], shape))
    streams = Streams(KEY, (seed,))
    data = Arrays(kind, roles, (seed,), shape)
    features = Points({role: rows.x for role, rows in roles.items()})
    own = streams.at("learner", learner.stream_key or type(learner).__name__)
    sample = TrainingData(data, features, len(training.x), choices, own)
    return learner.fit(sample, monitor or NullMonitor(), {})


def predict(learner: Learner, state: State, x: np.ndarray, training: np.ndarray | None = None) -> np.ndarray:
    """Predict at points (n, D) with a fitted state, (n, k) float64. training: the points that kernels remember."""
    features = Points({"test": x} if training is None else {"test": x, "training": training})
    return learner.predict(state, features, "test", len(x), {})[0]
