"""What is exchanged between the rooms: one small protocol per kind of component.

A component inherits from the protocol of its kind, where all it may be asked stands: what is abstract it must have,
the rest has a default. S seeds, n samples, k outputs; x (S, n, *shape), labels and targets (S, n, k).
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from hierlearn.core.component import Component
from hierlearn.core.component import Objection as Objection
from hierlearn.core.limits import plain
from hierlearn.core.streams import Streams
from hierlearn.core.words import show

if TYPE_CHECKING:
    import xarray

    from hierlearn.core.problem import Problem

State = dict[str, np.ndarray]
# Tables of results. Only who makes one imports xarray: a plan is read without it.
Dataset: TypeAlias = "xarray.Dataset"
DataArray: TypeAlias = "xarray.DataArray"
Probes: TypeAlias = "Mapping[str, xarray.Dataset]"

OUTCOMES = ("ok", "not_visited", "over_cap", "not_planned", "not_converged", "diverged", "collapsed", "singular")
STATUS = {name: code for code, name in enumerate(OUTCOMES)}
REMEDIES = {
    "diverged": "values that are not finite; smaller steps or a larger ridge may help",
    "collapsed": "the end point is no better than 0; a larger start, a smaller ridge or smaller steps may help",
    "singular": "the matrix is not positive definite to rounding; use a larger ridge or another kernel",
}
# What every probe may measure beside what it declares.
FLOPS = {"flops": "floating-point operations of matrix products"}
STATIONARY = {"no": 0, "yes": 1, "not_applicable": 2, "not_checked": 3}


@dataclass(frozen=True)
class Batch:
    """Labelled points. x (S, n, *shape) float32; labels (S, n, k) as observed; target (S, n, k) noise-free."""

    x: np.ndarray
    labels: np.ndarray
    target: np.ndarray

    def __getitem__(self, rows: slice) -> "Batch":
        return Batch(self.x[:, rows], self.labels[:, rows], self.target[:, rows])

    def take(self, positions: Sequence[int]) -> "Batch":
        """Return the same points for a part of the seeds. positions: indices (S',) into the seeds."""
        return Batch(self.x[positions], self.labels[positions], self.target[positions])


@dataclass
class Fit:
    """A trained learner for S seeds at one sample size.

    state: arrays with the seed first, enough for `predict`; status (S,) int8 of STATUS; validation_risk and train_risk
    (S,): mean squared errors against labels, summed over outputs, or error rates for classes; choices: the selected
    value of each choice, (S,); certificate: gradient_norm, smallest_curvature, certificate_error (S,) and stationary
    (S,) of STATIONARY, or None where the learner has a closed form; trace: name -> (S, steps), "step" among them;
    flops (S,), counted; iterations (S,): of the descent that led to the chosen value, None where there is none. No file
    keeps the last.
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
    iterations: np.ndarray | None = None

    @classmethod
    def stack(cls, fits: Iterable["Fit"]) -> "Fit":
        """Return fits of disjoint seeds at one sample size as one, the seeds one after the other."""
        fits = list(fits)

        def joined(parts: list[Any]) -> Any:
            if isinstance(parts[0], dict):
                return {name: joined([part[name] for part in parts]) for name in parts[0]}
            return None if parts[0] is None else np.concatenate(parts)

        return cls(**{one.name: joined([vars(fit)[one.name] for fit in fits]) for one in fields(cls)})


@dataclass(frozen=True)
class TrainingData:
    """What a learner is trained on: the first n training points of some data, as a representation shows them.

    choices: the values of each choice among which validation points decide; streams: the learner's own random numbers.
    """

    data: "Data"
    features: "Features"
    n: int
    choices: Mapping[str, Sequence[Any]]
    streams: Streams


class Input(Component, Protocol):
    """A law of x. law: its name; norm: root of E|x|^2, "unit" or "sqrt_dimension"; shape: of pictures, (channels,
    height, width)."""

    dimension: int
    law: str
    norm: str = "sqrt_dimension"
    if TYPE_CHECKING:
        # A field, an attribute of the class or a property may say it.
        @property
        def shape(self) -> Sequence[int] | None:
            return None

    else:
        shape = None

    def __post_init__(self) -> None:
        """As any component's; raises ValueError for a dimension that is no integer, or below 1."""
        super().__post_init__()
        dimension = plain(self.dimension)
        if not isinstance(dimension, int) or isinstance(dimension, bool) or dimension < 1:
            self.raise_first([("dimension", show(dimension), "an integer of at least 1")])

    def supply(self) -> Mapping[str, int]:
        """Return how many different points there are by role, "" for all others; nothing where they never end."""
        return {}

    def finite(self) -> Mapping[str, int]:
        """Return the `dimension` of a finite set and how many points there are for `validation` and `test`.

        Asked of parameters alone. Nothing where points are drawn.
        """
        return {}

    def overlap(self) -> float:
        """Return, where seeds split one finite set anew, test points over those that are left; else 0."""
        return 0.0

    @abstractmethod
    def sample(self, streams: Streams, role: str, start: int, count: int) -> np.ndarray:
        """Return rows start .. start+count of the sample for `role`: (S, count, *shape) float32, prefix-stable."""

    def rows(self, streams: Streams, role: str, start: int, count: int) -> np.ndarray | None:
        """Return the row numbers (S, count) of what `sample` shows of a finite set; None where points are drawn."""
        return None

    def of_rows(self, rows: np.ndarray) -> np.ndarray:
        """Return the points (S, n, *shape) float32 of rows (S, n) of a finite set, as `sample` shows them."""
        raise TypeError(f"{self.law}: found a law of points; expected a finite set of rows")


class Teacher(Component, Protocol):
    """A target function f*: R^d -> R^k. kind: "regression" or "classes": the sign of one output, or the largest of k.

    Where it is a sum of orthogonal polynomials of one degree, basis names them; where it is a product of signs, order
    is their number. Where it is a network of squares, links, layer_widths and centre are its graph J_2 .. J_L, k_2 ..
    and the c of its first layer x^2 - c.
    """

    kind: str = "regression"
    basis: str = ""
    order: int | None = None
    if TYPE_CHECKING:
        # A field, an attribute of the class or a property may say them.
        @property
        def outputs(self) -> int:
            return 1

        @property
        def links(self) -> tuple[tuple[int, ...], ...] | None:
            return None

        @property
        def layer_widths(self) -> tuple[int, ...] | None:
            return None

    else:
        outputs, links, layer_widths = 1, None, None
    centre: float = 1.0

    @abstractmethod
    def draw(self, streams: Streams, inputs: Input) -> State:
        """Draw the teacher's own parameters: arrays of finite numbers by name, (S, ...) each."""

    @abstractmethod
    def target(self, state: State, x: np.ndarray) -> np.ndarray:
        """Return noise-free targets (S, n, k) float64 of points (S, n, *shape), in the paper's units."""

    def of_rows(self, inputs: Input, rows: np.ndarray) -> np.ndarray | None:
        """Return targets (S, n, k) float64 of rows (S, n) of a finite set; None where values of x say them."""
        return None

    @abstractmethod
    def norm(self, state: State, inputs: Input) -> np.ndarray:
        """Return the L2 norm (S,) of the target under the law of x, in the paper's units."""

    @abstractmethod
    def degrees(self) -> tuple[int, ...]:
        """Return the degrees in x that a learner must represent."""

    @abstractmethod
    def bases(self, state: State, x: np.ndarray) -> np.ndarray:
        """Return functions (S, n, b) that must be linear in a representation for the target to be within reach."""

    def parts(self, state: State, x: np.ndarray) -> dict[str, np.ndarray]:
        """Return the parts that the target is the sum of, (S, n, k) each by name; nothing where it has none."""
        return {}

    def hidden(self, state: State, x: np.ndarray) -> dict[str, np.ndarray]:
        """Return the features of its layers, (S, n, k_l) each by name; nothing where it has none."""
        return {}


class Representation(Component, Protocol):
    """A feature map h, fitted on unlabelled points; E|h(x)|^2 = 1. unlabelled: how many it is fitted on."""

    unlabelled: int

    @abstractmethod
    def fit(self, unlabelled: np.ndarray, streams: Streams) -> State:
        """Return what `apply` needs, from points (S, unlabelled, *shape): arrays (S, ...) by name."""

    @abstractmethod
    def apply(self, state: State, x: np.ndarray) -> np.ndarray:
        """Return features (S, n, D) float32 of points (S, n, *shape), or points of a shape where learners want them."""


class Oracle(Protocol):
    """The truth behind labels. factor (S,): what the teacher's targets are multiplied with.

    Learners trace themselves against it, and may take from it a graph that they leave open.
    """

    if TYPE_CHECKING:
        # An attribute or a property may say them.
        @property
        def teacher(self) -> Teacher:
            """The target function."""

        @property
        def state(self) -> State:
            """The teacher's parameters, S first."""

        @property
        def factor(self) -> np.ndarray:
            """(S,) float64."""


class Labels(Protocol):
    """What is known of labels: their kind, "regression" or "classes", how many outputs they have, and the graph of the
    quadratic network that they come from, None for others."""

    if TYPE_CHECKING:
        # Attributes or properties may say them.
        @property
        def kind(self) -> str: ...
        @property
        def outputs(self) -> int: ...
        @property
        def links(self) -> tuple[tuple[int, ...], ...] | None: ...


class Data(Labels, Protocol):
    """Labelled points of several seeds: all that a learner is fitted on.

    held_out: the number of validation points; dimension, shape and points_norm: as those of an `Input`; oracle: None
    where labels alone are known.
    """

    if TYPE_CHECKING:
        # Attributes or properties may say them.
        @property
        def seeds(self) -> tuple[int, ...]: ...
        @property
        def held_out(self) -> int: ...
        @property
        def dimension(self) -> int: ...
        @property
        def shape(self) -> Sequence[int] | None: ...
        @property
        def points_norm(self) -> str: ...
        @property
        def oracle(self) -> Oracle | None: ...

    def draw(self, role: str, count: int, start: int = 0) -> "Batch":
        """Return points start .. start+count of `role`, with their labels."""

    def stored(self, role: str) -> int:
        """Return how many points of a role there are already; 0 where they are drawn when asked for."""

    def take(self, positions: Sequence[int]) -> "Data":
        """Return the same data for a part of the seeds. positions: indices (S',) into the seeds."""


class Features(Protocol):
    """The points of a role as a learner sees them."""

    if TYPE_CHECKING:
        # An attribute or a property may say it.
        @property
        def representation(self) -> Representation:
            """What shows the points."""

    def draw(self, role: str, count: int, start: int = 0) -> np.ndarray:
        """Return features (S, count, D) float32 of points start .. start+count of `role`."""

    def of(self, x: np.ndarray) -> np.ndarray:
        """Return features (S, n, D) float32 of points (S, n, *shape) that were drawn already."""

    def take(self, positions: Sequence[int]) -> "Features":
        """Return the same features for a part of the seeds. positions: indices (S',) into the seeds."""


class Monitor(Protocol):
    """Who is told how far a long training is, and keeps what it would need to go on after it was killed."""

    def report(self, done: int, total: int, text: str) -> None:
        """Report something worth a line of the log, of part `done` of `total`."""

    def advance(self, done: int, total: int) -> None:
        """Report the steps of the present training that are done; called often."""

    def restore(self, key: str) -> State | None:
        """Return what `save` kept under a key in an earlier run of this very job, or None."""

    def save(self, key: str, state: Callable[[], State], final: bool = False) -> None:
        """Keep state() if enough time has passed since the last time, or if nothing will follow."""


class NullMonitor(Monitor):
    """A monitor that tells nobody and keeps nothing."""

    def report(self, done: int, total: int, text: str) -> None:
        """Do nothing."""

    def advance(self, done: int, total: int) -> None:
        """Do nothing."""

    def restore(self, key: str) -> None:
        """Return None: nothing was kept."""
        return

    def save(self, key: str, state: Callable[[], State], final: bool = False) -> None:
        """Do nothing."""


class Learner(Component, Protocol):
    """Something that fits labels from features.

    batch_seeds: whether all seeds are trained in one call, which may change no number of any of them.
    """

    batch_seeds: bool = False

    @abstractmethod
    def fit(self, sample: TrainingData, monitor: Monitor, cache: dict[Any, Any]) -> Fit:
        """Train on the first n points for every seed; choose on validation points.

        cache: empty at the first of some sample sizes, which come in any order, and kept from one to the next, for work
        that can be used again (Gram blocks); it never changes a result beyond rounding.
        """

    @abstractmethod
    def predict(self, state: State, features: Features, role: str, count: int, cache: dict[Any, Any]) -> np.ndarray:
        """Return predictions (S, count, k) float64 on the first points of `role`. cache: as in `fit`, for one role."""

    def validate_data(self, labels: Labels, representation: Representation) -> Iterator[Objection]:
        """Yield (parameter, what was found, what is allowed) of labels or a representation that it cannot learn from.

        Asked before it is built, of parameters alone.
        """
        return iter(())

    def raise_for_data(self, sample: TrainingData) -> None:
        """Raise ValueError for the first of its objections to a sample."""
        self.raise_first(self.validate_data(sample.data, sample.features.representation))

    def unreachable(self, dimension: int, degree: int) -> str:
        """Return why it cannot represent a degree of the raw input, of norm 1, in a line; "" if it can or may."""
        return ""


class Kernel(Component, Protocol):
    """A positive semi-definite function. z None: the symmetric matrix of x with itself.

    dtype: float64, which solvers need, or float32 within 1e-5 of it: half the memory, and faster.
    """

    @abstractmethod
    def __call__(self, x: np.ndarray, z: np.ndarray | None = None, dtype: DTypeLike = np.float64) -> np.ndarray:
        """(n, D), (n', D) -> (n, n')."""

    @abstractmethod
    def profile(self, t: np.ndarray) -> np.ndarray:
        """Return the kernel of two points of norm 1 with inner product t; any shape -> the same shape, float64."""


class Probe(Component, Protocol):
    """A measurement of a problem. trains: whether it trains what it measures."""

    trains: bool = False

    @abstractmethod
    def measure(self, problem: "Problem") -> dict[str, Any]:
        """Return variables by name, NaN where a training failed; coordinates are the same for every problem."""


class Experiment(Probe, Protocol):
    """A measurement of a problem that trains what it measures."""

    trains: bool = True


class Quantity(Component, Protocol):
    """What a claim compares with its prediction. reads_traces: whether `measure` is given traces.nc too. UNIT: a word
    or two for the number, {averaged} being what `variable` names; METHOD: what its interval is made from; ALONG: its
    axis where no parameter says it; READS: variables that it reads beside those that its parameters name."""

    UNIT, METHOD, ALONG, reads_traces = "", "", "dimension", False
    READS: ClassVar[tuple[str, ...]] = ()

    @property
    def learners(self) -> list[str]:
        """Names of the learners that it rests on; none where it reads probes alone."""
        return []

    @abstractmethod
    def measure(self, cube: Dataset, probes: Probes) -> Any:
        """Return a `Measurement`. cube: a study's scores.nc; probes: by name; then traces.nc if it reads them."""


class Figure(Component, Protocol):
    """A figure of a study."""

    @property
    def letters(self) -> tuple[str, ...]:
        """Panels that can be drawn alone, by their letters; none where they belong together."""
        return ()

    def alone(self, letter: str) -> "Figure":
        """Return the figure of one of its `letters`."""
        return self

    @abstractmethod
    def draw(self, cube: Any, probes: Mapping[str, Any], study: Mapping[str, Any], traces: Any = None) -> Any:
        """Return a matplotlib Figure. cube, traces: scores.nc and traces.nc, None where nothing is trained."""


PROTOCOLS: dict[str, type] = {
    "inputs": Input,
    "teachers": Teacher,
    "representations": Representation,
    "learners": Learner,
    "kernels": Kernel,
    "probes": Probe,
    "quantities": Quantity,
    "figures": Figure,
}
