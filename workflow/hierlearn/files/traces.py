"""Trajectories of training as one labelled cube: what learners recorded, at the union of all their steps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hierlearn.files.netcdf import Group, Variable
from hierlearn.files.scores import Cube

NOTHING = "no learner of this study records its training"


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
