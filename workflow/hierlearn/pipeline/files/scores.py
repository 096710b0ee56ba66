"""Labelled cubes: of scores, where every planned cell has a status, and of what learners recorded as they trained."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hierlearn.core.protocols import STATIONARY, STATUS
from hierlearn.pipeline.files import netcdf
from hierlearn.pipeline.files.netcdf import Group, Variable

NOTHING = "no learner of this study records its training"
FLAGS = {
    "status": (STATUS, STATUS["not_planned"], "what became of the cell"),
    "stationary": (STATIONARY, STATIONARY["not_applicable"], "certified second-order stationary point"),
}
# Every score is a number without a unit.
TEXTS = {
    "test_risk": "E|f - f*|^2 against the noise-free target, ratio estimate on test points; classes: error rate",
    "test_error": "mean of |f - f*|^2 over test points, not calibrated",
    "train_risk": "squared error against the labels on training points, summed over outputs",
    "validation_risk": "ratio estimate of the risk on validation points, less the label noise",
    "test_accuracy": "part of test points whose class is right",
    "target_norm": "L2 norm of the target under the input law",
    "gradient_norm": "Frobenius norm of the objective's gradient at the end point",
    "smallest_curvature": "smallest eigenvalue of the objective's Hessian at the end point",
    "certificate_error": "error that stationarity leaves, relative to the objective",
    "representation_floor": "1 - R^2 of the functions that the features must express linearly",
    "representation_operator_norm": "M_{h,op}: root of the second moment's largest eigenvalue over the largest norm",
    "representation_smallest_eigenvalue": "smallest eigenvalue of the unwhitened features' second moment",
    "representation_condition_number": "largest over smallest eigenvalue of the unwhitened features' second moment",
    "flops": "floating-point operations of matrix products, counted",
    "unlabelled_samples": "unlabelled points n0 that the representation used",
}


@dataclass
class Cube:
    """Variables over labelled coordinates, filled cell by cell; NaN where nothing is known.

    attributes: units and long_name of variables that have no usual ones.
    """

    coordinates: Mapping[str, Sequence[Any]]
    values: dict[str, np.ndarray] = field(default_factory=dict)
    attributes: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self):
        self.index = {axis: {v: i for i, v in enumerate(values)} for axis, values in self.coordinates.items()}

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(values) for values in self.coordinates.values())

    def fill(self, cell: Mapping[str, Any], **values: Any) -> None:
        """Set variables at a cell; a coordinate that `cell` does not name is filled along its whole length."""
        where = self._at(cell)
        for name, value in values.items():
            self._variable(name)[where] = value

    def insert(self, other: Mapping[str, Variable]) -> None:
        """Put a cube over part of these coordinates into its place, with what it says of its variables."""
        where = np.ix_(*([self.index[axis][v] for v in other[axis].values.tolist()] for axis in self.coordinates))
        for name, variable in other.items():
            if name not in self.coordinates:
                self._variable(name)[where] = variable.values
                self.attributes.setdefault(name, variable.attributes)

    def group(self) -> dict[str, Variable]:
        """Coordinates and variables as they are stored."""
        axes = tuple(self.coordinates)
        stored = {name: Variable((name,), _array(values), axis(name)) for name, values in self.coordinates.items()}
        for name in sorted(self.values):
            stored[name] = Variable(axes, self.values[name], attributes_of(name) | dict(self.attributes.get(name, {})))
        return stored

    def _at(self, cell: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(self.index[axis][cell[axis]] if axis in cell else slice(None) for axis in self.coordinates)

    def _variable(self, name: str) -> np.ndarray:
        if name not in self.values:
            self.values[name] = np.full(self.shape, np.nan)
        return self.values[name]


@dataclass
class Scores(Cube):
    """A cube over (learner, axes, sweeps, samples, seed) whose every cell says what became of it."""

    def __post_init__(self):
        super().__post_init__()
        self.values |= {name: np.full(self.shape, missing, np.int8) for name, (_, missing, _) in FLAGS.items()}

    def mark(self, cell: Mapping[str, Any], status: str) -> None:
        """Set the status of those cells that are not planned so far."""
        where = self._at(cell)
        part = np.asarray(self.values["status"][where])
        self.values["status"][where] = np.where(part == STATUS["not_planned"], STATUS[status], part)


@dataclass
class Traces:
    """Variables over (learner, axes, sweeps, samples, seed, step), NaN where nothing was recorded.

    coordinates: those of the scores. Of the learners only those are kept that recorded something; the steps are the
    union of all that were recorded, int64 and increasing.
    """

    coordinates: Mapping[str, Sequence[Any]]
    parts: list[Group] = field(default_factory=list)

    def record(self, cell: Mapping[str, Any], trace: Mapping[str, np.ndarray], texts: Mapping[str, str]) -> None:
        """Add one trajectory: name -> (T,), "step" among them. texts: one line on each variable, as far as known.

        A coordinate that `cell` does not name is filled along its whole length.
        """
        if not trace:
            return
        named = {axis: [cell[axis]] if axis in cell else values for axis, values in self.coordinates.items()}
        part = {axis: Variable((axis,), np.asarray(list(values))) for axis, values in named.items()}
        part["step"] = Variable(("step",), np.asarray(trace["step"]).astype(np.int64))
        shape = tuple(len(variable.values) for variable in part.values())
        for name, values in trace.items():
            if name != "step":
                described = {"long_name": texts[name]} if name in texts else {}
                whole = np.broadcast_to(np.asarray(values, dtype=np.float64), shape)
                part[name] = Variable((*named, "step"), whole, described)
        self.parts.append(part)

    def insert(self, other: Group) -> None:
        """Add a stored cube over part of these coordinates; one without trajectories adds nothing."""
        if other:
            self.parts.append(other)

    def group(self) -> dict[str, Variable]:
        """Coordinates and variables as they are stored; none at all where nothing was recorded."""
        if not self.parts:
            return {}
        found = {axis: np.concatenate([part[axis].values for part in self.parts]) for axis in ("learner", "step")}
        learners = [name for name in self.coordinates["learner"] if name in found["learner"]]
        cube = Cube({**self.coordinates, "learner": learners, "step": np.unique(found["step"]).tolist()})
        for part in self.parts:
            cube.insert(part)
        return cube.group()

    @property
    def comment(self) -> dict[str, str]:
        """The file attribute that says that nothing was recorded, if so."""
        return {} if self.parts else {"comment": NOTHING}


def table(values: Mapping[str, np.ndarray]) -> Variable:
    """Scores (S,) of one fit by name as one variable (seed, score), float64.

    A variable for each would take longer to write than a small fit takes to make.
    """
    columns = np.stack([np.asarray(one, np.float64) for one in values.values()], axis=1)
    described = {"columns": " ".join(values), "long_name": "scores of the fit", "units": "1"}
    return Variable(("seed", "score"), columns, described)


def row_of(scores: Variable, seed: int) -> dict[str, float]:
    """The scores by name that `table` stored. seed: which one, from 0."""
    return dict(zip(scores.attributes["columns"].split(), scores.values[seed].tolist(), strict=True))


def attributes_of(name: str) -> dict[str, Any]:
    """What a file says of a score: units, long name, the meanings of flags."""
    if name in FLAGS:
        meanings, _, text = FLAGS[name]
        return {"long_name": text, "units": "1"} | netcdf.flags(meanings)
    return {"units": "1", "long_name": TEXTS.get(name, name.replace("_", " "))}


def axis(name: str) -> dict[str, str]:
    """What a file says of a coordinate."""
    texts = {
        "learner": "learner",
        "dimension": "input dimension d",
        "samples": "number n of labelled points",
        "seed": "independent repetition",
        "step": "steps of training done",
    }
    return {"long_name": texts.get(name, name.replace("_", " "))} | ({} if name == "learner" else {"units": "1"})


def _array(values: Sequence[Any]) -> np.ndarray:
    array = np.asarray(list(values))
    return array.astype(np.int64) if array.dtype.kind in "bi" else array
