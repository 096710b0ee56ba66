"""Points of a study's grid, and the blocks of them that one job computes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from hierlearn.core import registry
from hierlearn.core.protocols import Input
from hierlearn.pipeline.plan import component_guards
from hierlearn.pipeline.plan.sizes import sizes


@dataclass(frozen=True)
class GridPoint:
    """One problem of a study's grid: its name inside the task, its coordinates, and what is to be learned."""

    name: str
    coordinates: dict[str, Any]
    problem: dict[str, Any]

    @property
    def dimension(self) -> int:
        return self.coordinates["dimension"]

    @cached_property
    def place(self) -> str:
        """What tells it from all other points of the grid."""
        return repr(self.coordinates)

    @cached_property
    def law(self) -> Input:
        """The law of x."""
        return registry.built_once("inputs", self.problem["input"], dimension=self.dimension)

    @cached_property
    def outputs(self) -> int:
        """The number of outputs of the teacher."""
        return component_guards.outputs(self.problem["teacher"])

    def sizes(self) -> dict[str, int]:
        """The quantities that a size of a representation or a learner may refer to, the number of features aside."""
        return sizes(self.dimension, self.problem["teacher"].get("degree"))


@dataclass(frozen=True)
class Task:
    """The block of the grid that one job computes; part: its value of what is cut beside the axes, seeds and swept
    parameters."""

    name: str
    points: tuple[GridPoint, ...]
    part: Mapping[str, Any] = field(default_factory=dict)
