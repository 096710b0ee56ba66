"""What is exchanged between the rooms: one small protocol per kind of component.

S seeds, n samples, k outputs; arrays carry the seed first. `x` is (S, n, *shape), labels and targets are (S, n, k).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from hierlearn.core.streams import Streams

State = dict[str, np.ndarray]

STATUS = {
    "ok": 0,
    "beyond_crossing": 1,
    "over_cap": 2,
    "not_planned": 3,
    "not_converged": 4,
    "diverged": 5,
    "collapsed": 6,
    "singular": 7,
}
REMEDIES = {
    "diverged": "values that are not finite; smaller steps or a larger ridge may help",
    "collapsed": "the end point is the zero predictor; a larger start or a smaller ridge may help",
    "singular": "the matrix is not positive definite to rounding; use a larger ridge or another kernel",
}
STATIONARY = {"no": 0, "yes": 1, "not_applicable": 2}


@dataclass(frozen=True)
class Batch:
    """Labelled points. x (S, n, *shape) float32; labels (S, n, k) as observed; target (S, n, k) noise-free."""

    x: np.ndarray
    labels: np.ndarray
    target: np.ndarray

    def __getitem__(self, rows: slice) -> "Batch":
        return Batch(self.x[:, rows], self.labels[:, rows], self.target[:, rows])

    def take(self, positions) -> "Batch":
        """The same points for a part of the seeds."""
        return Batch(self.x[positions], self.labels[positions], self.target[positions])


@dataclass
class Fit:
    """A trained learner for S seeds at one sample size.

    state: arrays with the seed first, enough for `predict`; status (S,) int8 of STATUS; validation_risk and train_risk
    (S,): mean squared errors against labels, summed over outputs, or error rates for classes; choices: the selected
    value of each choice, (S,); certificate: gradient_norm, smallest_curvature, certificate_error (S,) and stationary
    (S,) of STATIONARY, or None where the learner has a closed form; trace: name -> (S, steps), "step" among them;
    flops (S,), counted.
    """

    state: State
    status: np.ndarray
    validation_risk: np.ndarray
    train_risk: np.ndarray
    choices: dict[str, np.ndarray] = field(default_factory=dict)
    certificate: dict[str, np.ndarray] | None = None
    measures: dict[str, np.ndarray] = field(default_factory=dict)
    trace: dict[str, np.ndarray] = field(default_factory=dict)
    flops: np.ndarray | None = None


class Input(Protocol):
    """A law of x."""

    dimension: int
    law: str

    def sample(self, streams: Streams, role: str, start: int, count: int) -> np.ndarray:
        """Rows start .. start+count of the sample for `role`: (S, count, *shape) float32, prefix-stable."""
        ...


class Teacher(Protocol):
    """A target function f*: R^d -> R^k."""

    kind: str  # "regression" or "classes"
    outputs: int

    def draw(self, streams: Streams, inputs: Input) -> State:
        """The teacher's own parameters per seed."""
        ...

    def target(self, state: State, x: np.ndarray) -> np.ndarray:
        """Noise-free targets (S, n, k) float64, in the paper's units."""
        ...

    def norm(self, state: State, inputs: Input) -> np.ndarray:
        """L2 norm of the target under the input law, (S,)."""
        ...

    def degrees(self) -> tuple[int, ...]:
        """Degrees in x that a learner must represent."""
        ...

    def bases(self, state: State, x: np.ndarray) -> np.ndarray:
        """Functions (S, n, b) that a representation must express linearly for the target to be within reach."""
        ...


class Representation(Protocol):
    """A feature map h, fitted on unlabelled points; E|h(x)|^2 = 1."""

    def fit(self, unlabelled: np.ndarray, streams: Streams) -> State: ...

    def apply(self, state: State, x: np.ndarray) -> np.ndarray:
        """(S, n, *shape) -> (S, n, D) float32."""
        ...


class Features(Protocol):
    """The points of a role as a learner sees them."""

    def draw(self, role: str, count: int, start: int = 0) -> np.ndarray:
        """(S, count, D) float32 features of points start .. start+count of `role`."""
        ...

    def of(self, x: np.ndarray) -> np.ndarray:
        """The features of points (S, n, *shape) that were drawn already."""
        ...


class Monitor(Protocol):
    """Who is told how far a long training is, and keeps what it would need to go on after it was killed."""

    def report(self, done: int, total: int, text: str) -> None:
        """Something worth a line of the log."""
        ...

    def advance(self, done: int, total: int) -> None:
        """Steps of the present training that are done; called often."""
        ...

    def restore(self, key: str) -> State | None:
        """What `save` kept under a key in an earlier run of this very job, or None."""
        ...

    def save(self, key: str, state: Callable[[], State], final: bool = False) -> None:
        """Keep state() if enough time has passed since the last time, or if nothing will follow."""
        ...


class Learner(Protocol):
    """Something that fits labels from features."""

    def fit(
        self,
        problem: "Any",
        features: Features,
        samples: int,
        choices: Mapping[str, Sequence[float]],
        streams: Streams,
        monitor: Monitor,
        memory: dict[Any, Any],
    ) -> Fit:
        """Train on the first `samples` points for every seed; choose on validation points.

        memory: empty at the start of a walk up the sample sizes and kept along it, for work that can be used again
        (Gram blocks); it never changes a result beyond rounding.
        """
        ...

    def predict(self, state: State, features: Features, role: str, count: int, memory: dict[Any, Any]) -> np.ndarray:
        """Predictions (S, count, k) float64 on the first points of `role`. memory: as in `fit`, for one role."""
        ...


class Kernel(Protocol):
    """A positive semi-definite function. z None: the symmetric matrix of x with itself.

    dtype: float64, which solvers need, or float32 within 1e-5 of it: half the memory, and faster.
    """

    def __call__(
        self, x: np.ndarray, z: np.ndarray | None = None, dtype: type[np.floating] = np.float64
    ) -> np.ndarray: ...


class Probe(Protocol):
    """A measurement that trains nothing."""

    def measure(self, problem: Any) -> dict[str, Any]:
        """Variables by name; a coordinate of the probe's own is the same for every problem."""
        ...


class Quantity(Protocol):
    """What a claim compares with its prediction."""

    learners: list[str]

    def measure(self, cube: Any, probes: Mapping[str, Any]) -> Any:
        """cube: scores.nc of a study; probes: its probes; both xarray datasets. Returns a `Measured`.

        With `reads_traces` = True it is given traces.nc as a third argument.
        """
        ...


class Figure(Protocol):
    """A figure of a study."""

    def draw(self, cube: Any, probes: Mapping[str, Any], study: Mapping[str, Any], traces: Any = None) -> Any:
        """A matplotlib Figure. cube, traces: scores.nc and traces.nc, None where nothing is trained."""
        ...
