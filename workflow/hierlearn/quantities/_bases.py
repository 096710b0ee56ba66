"""What quantities have in common: whom they rest on, where they are read, and how sample complexities are built."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np

from hierlearn.core.parameters import Reference
from hierlearn.core.protocols import Dataset, Probes, Quantity
from hierlearn.quantities._parameters import (
    Above,
    AxisValues,
    Below,
    Coordinates,
    Learner,
    LowestOver,
    Place,
    Probe,
    ProbeCoordinates,
    Samples,
    Threshold,
)
from hierlearn.quantities._probes import along
from hierlearn.quantities._sizes import at_place, line_along
from hierlearn.quantities._tables import (
    add_notes,
    at,
    complexities,
    failures,
    nonconvergence,
    regressor,
    trust,
    without_interval,
)
from hierlearn.statistics.complexity import Complexities, where_positive
from hierlearn.statistics.estimates import Measurement


@dataclass(frozen=True, kw_only=True)
class OfLearner(Quantity):
    """A quantity of one learner."""

    learner: Learner

    @property
    def learners(self) -> list[str]:
        """The learner."""
        return [self.learner]


@dataclass(frozen=True, kw_only=True)
class OfTwoLearners(Quantity):
    """A quantity that compares two learners."""

    above: Above
    below: Below

    @property
    def learners(self) -> list[str]:
        """The learner above, then the one below."""
        return [self.above, self.below]


@dataclass(frozen=True, kw_only=True)
class OfSampleComplexities(Quantity):
    """A quantity of n*, where a risk of its learners falls to the threshold, along an axis."""

    where: Coordinates = field(default_factory=dict)
    threshold: Threshold = 0.5
    # Parameters of some quantities; for the others they are as here.
    axis: ClassVar[str] = "dimension"
    risk: ClassVar[str] = "test_risk"
    regressor: ClassVar[str] = "dimension"

    def sample_complexities(self, cube: Dataset) -> list[Complexities]:
        """n* of every learner, each (values of the axis, seeds)."""
        return [complexities(cube, name, self.where, self.threshold, self.risk, self.axis) for name in self.learners]

    def regressor_values(self, table: Complexities) -> np.ndarray:
        """What n* is compared with, (K,). Raises ValueError where it hangs on a degree and `where` has none."""
        return regressor(self.regressor, table.sizes, self.where.get("degree"))

    def sound(self, measurement: Measurement, cube: Dataset, tables: Sequence[Complexities]) -> Measurement:
        """The measurement, without its interval where n* of a learner rests on failed training; a note says which n*
        lie beside trainings that did not converge. tables: of every learner."""
        crossings = [
            (cube, name, self.where, table, self.axis) for name, table in zip(self.learners, tables, strict=True)
        ]
        trusted = without_interval(measurement, *(failures(*one) for one in crossings))
        return add_notes(trusted, *(nonconvergence(*one) for one in crossings))


@dataclass(frozen=True, kw_only=True)
class AtSamples(Quantity):
    """A quantity of scores at one number of samples and one place."""

    samples: Samples
    where: Place = field(default_factory=dict)

    def cells(
        self, cube: Dataset, learner: str, where: dict[str, Any] | None = None, over: tuple[str, ...] = ()
    ) -> Dataset:
        """The scores of a learner over the seeds, and over further axes before them. where: coordinates beside or in
        place of the quantity's own."""
        return at(cube, learner, self.where | (where or {}) | {"samples": self.samples}, (*over, "seed"))

    def sound(self, measurement: Measurement, cube: Dataset, *cells: Dataset) -> Measurement:
        """The measurement with its sizes, and without its interval where a training failed in the cells."""
        return trust(at_place(measurement, cube, self.where, self.samples), f"at n = {self.samples}", *cells)


@dataclass(frozen=True, kw_only=True)
class OfScores(OfLearner, AtSamples):
    """A quantity of a learner's scores, of every seed one, or the lowest along an axis."""

    lowest_over: LowestOver = None

    def scores(self, cube: Dataset, variable: str) -> tuple[np.ndarray, Dataset]:
        """The score of every seed (S,), and the cells that it is taken from; one that was not trained does not count
        among several."""
        cells = self.cells(cube, self.learner, over=() if self.lowest_over is None else (self.lowest_over,))
        values = cells[variable].values
        if self.lowest_over is not None:
            values = np.where(np.isnan(values).all(axis=0), np.nan, np.min(np.nan_to_num(values, nan=np.inf), axis=0))
        return values, cells


@dataclass(frozen=True, kw_only=True)
class OfTwoScores(OfTwoLearners, AtSamples):
    """A quantity of the scores of two learners, each at a place of its own."""

    above_where: Annotated[
        dict[str, Any],
        Reference("some coordinates"),
        "Values of coordinates for the learner above, beside or in place of those in `where`.",
    ] = field(default_factory=dict)
    below_where: Annotated[dict[str, Any], Reference("some coordinates"), "The same for the learner below."] = field(
        default_factory=dict
    )

    def both(self, cube: Dataset) -> tuple[Dataset, Dataset]:
        """The scores of the learner above over the seeds, and of the one below."""
        return self.cells(cube, self.above, self.above_where), self.cells(cube, self.below, self.below_where)


@dataclass(frozen=True, kw_only=True)
class OfRisksAlongAxis(OfLearner):
    """A quantity of lines through a learner's risks along an axis, at a number of samples that it declares."""

    axis: Annotated[str, Reference("axis"), "The axis or swept parameter."] = "dimension"
    values: Annotated[
        list[float] | None,
        Reference("axis values"),
        "Values of the axis that a line is fitted to, named before the run; null: all.",
    ] = None

    def cells(self, cube: Dataset) -> Dataset:
        """The scores over (axis, seed)."""
        where = self.where | {"samples": self.samples}
        return at(cube, self.learner, where, (self.axis, "seed")).sortby(self.axis)

    def sound(self, measurement: Measurement, cells: Dataset) -> Measurement:
        """The measurement with its sizes, and without its interval where a training failed in the cells."""
        return trust(line_along(self.axis, measurement), f"at n = {self.samples}", cells)


@dataclass(frozen=True, kw_only=True)
class AlongProbe(Quantity):
    """A quantity of a probe's variable along one of its coordinates."""

    probe: Probe
    variable: Annotated[str, Reference("probe measures"), "Its variable, positive."]
    axis: Annotated[str, Reference("probe axis"), "Coordinate along which the variable is read."] = "dimension"
    where: ProbeCoordinates = field(default_factory=dict)
    values: AxisValues = None

    def positive_values(self, probes: Probes) -> Complexities:
        """The variable (values of the axis, seeds); a value that is not positive and finite counts as missing."""
        return where_positive(*along(probes[self.probe], self.variable, self.axis, self.where))
