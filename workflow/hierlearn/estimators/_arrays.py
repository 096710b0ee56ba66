"""The bridge from arrays to the library's learners: points and labels as a problem of one seed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Batch, Features, Fit, Input, Learner, Monitor, NullMonitor, Sample, State, Teacher
from hierlearn.core.streams import Streams
from hierlearn.representations.raw import Raw

KEY = ("arrays",)


class Table(Input):
    """The law of rows of a table: there are no points but those that are given."""

    law = "table"
    shape: tuple[int, int, int] | None

    def __init__(self, dimension: int, shape: tuple[int, int, int] | None = None) -> None:
        self.dimension, self.shape = dimension, shape

    def sample(self, streams: Streams, role: str, start: int, count: int) -> np.ndarray:
        """Refuse to draw points. Raises ValueError."""
        found = f"{role} points {start} to {start + count}"
        raise ValueError(f"arrays: {found} were asked for; expected those that are given")


class Labels(Teacher):
    """A target of which labels alone are known."""

    outputs: int

    def __init__(self, kind: str, outputs: int) -> None:
        self.kind, self.outputs = kind, outputs

    def draw(self, streams: Streams, inputs: Input) -> State:
        """Draw nothing."""
        return {}

    def target(self, state: State, x: np.ndarray) -> np.ndarray:
        """Refuse to label points. Raises ValueError."""
        raise ValueError("arrays: labels of new points were asked for; expected those that are given")

    def norm(self, state: State, inputs: Input) -> np.ndarray:
        """Take labels as they are."""
        return np.ones(1)

    def degrees(self) -> tuple[int, ...]:
        """Name no degree."""
        return ()

    def bases(self, state: State, x: np.ndarray) -> np.ndarray:
        """Return no functions, (1, n, 0)."""
        return np.empty((1, x.shape[1], 0))


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
    pools = {role: Batch(rows.x[None], rows.labels[None], rows.labels[None]) for role, rows in roles.items()}
    teacher, inputs = Labels(kind, training.labels.shape[1]), Table(training.x.shape[1], shape)
    learner.refuse(inputs)
    streams = Streams(KEY, (seed,))
    problem = Problem(inputs, teacher, {}, np.ones(1), 0.0, streams, len(held_out.x), pools)
    features = Points({role: rows.x for role, rows in roles.items()})
    own = streams.at("learner", learner.stream_key or type(learner).__name__)
    sample = Sample(problem, features, len(training.x), choices, own)
    return learner.fit(sample, monitor or NullMonitor(), {})


def predict(learner: Learner, state: State, x: np.ndarray, training: np.ndarray | None = None) -> np.ndarray:
    """Predict at points (n, D) with a fitted state, (n, k) float64. training: the points that kernels remember."""
    features = Points({"test": x} if training is None else {"test": x, "training": training})
    return learner.predict(state, features, "test", len(x), {})[0]
