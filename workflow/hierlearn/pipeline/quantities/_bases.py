"""What quantities have in common: their parameters, whom they rest on, where they are read, and how n* is compared."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import MinLen

from hierlearn.core.parameters import UNIQUE, Count, Reference
from hierlearn.core.protocols import Dataset, Probes, Quantity
from hierlearn.pipeline.quantities._tables import (
    add_notes,
    along,
    at,
    at_place,
    complexities,
    line_along,
    regressor,
    reservations,
    trust,
    without_interval,
)
from hierlearn.statistics.complexity import Complexities, where_positive
from hierlearn.statistics.estimates import Measurement

# Parameters that several quantities share.
Above = Annotated[str, Reference("learners"), "Learner in the numerator."]
Below = Annotated[str, Reference("learners"), "Learner in the denominator."]
Learner = Annotated[str, Reference("learners"), "Name of the learner."]
Log = Annotated[bool, "Whether the natural logarithm is averaged."]
PositiveValues = Annotated[
    bool,
    "Whether the values are positive, as errors are: their geometric mean, and an interval that is positive too; "
    "under `log` the logarithms are averaged in any case.",
]
Probe = Annotated[str, Reference("probes"), "Name of the probe."]
Variable = Annotated[str, Reference("scores"), "A variable of scores.nc."]
Risk = Annotated[str, Reference("scores"), "Which measure of the error."]
Regressor = Annotated[
    Literal["dimension", "harmonic_dimension", "polynomial_dimension", "quad_raw_dimension"],
    "What n* is compared with.",
]
Samples = Annotated[Count, Reference("samples"), "Number of labelled samples n."]
FittedDimensions = Annotated[
    list[int] | None,
    Reference("dimensions"),
    "Dimensions that the line is fitted to, named before the run; null: all of the study's.",
]
Threshold = Annotated[float, Reference("thresholds"), "Risk that n* reaches."]
Coordinates = Annotated[dict[str, Any], Reference("coordinates"), "Values of the other axes."]
Place = Annotated[dict[str, Any], Reference("place"), "Values of the axes."]
SomeCoordinates = Annotated[dict[str, Any], Reference("some coordinates"), "Values of axes that are fixed."]
SomePlaces = Annotated[
    list[Annotated[dict[str, Any], Reference("some coordinates")]],
    MinLen(1),
    UNIQUE,
    "Places of the learner (of the one above, where two are compared): coordinates beside those in `where`.",
]
ProbeCoordinates = Annotated[dict[str, Any], Reference("probe coordinates"), "Values of the other coordinates."]
Line = Annotated[str, Reference("probe lines"), "Name of the theory line."]


@dataclass(frozen=True, kw_only=True)
class OfLearner(Quantity):
    """A quantity of one learner."""

    learner: Learner

    @property
    def learners(self) -> list[str]:
        return [self.learner]


@dataclass(frozen=True, kw_only=True)
class OfTwoLearners(Quantity):
    """A quantity that compares two learners."""

    above: Above
    below: Below

    @property
    def learners(self) -> list[str]:
        return [self.above, self.below]


@dataclass(frozen=True, kw_only=True)
class OfSampleComplexities(Quantity):
    """A quantity of n*, where a risk of its learners falls to the threshold, along an axis."""

    READS = ("test_risk",)
    where: Coordinates = field(default_factory=dict)
    threshold: Threshold = 0.5
    # Parameters of some quantities; for the others they are as here.
    axis: ClassVar[str] = "dimension"
    risk: ClassVar[str] = "test_risk"
    regressor: ClassVar[str] = "dimension"

    @property
    def readings(self) -> list[tuple[str, dict[str, Any]]]:
        """Whose n* are read and at which values of the other axes."""
        return [(name, self.where) for name in self.learners]

    def sample_complexities(self, cube: Dataset) -> list[Complexities]:
        """n* of every reading, each (values of the axis, seeds)."""
        return [complexities(cube, name, place, self.threshold, self.risk, self.axis) for name, place in self.readings]

    def regressor_values(self, tables: Sequence[Complexities]) -> list[np.ndarray]:
        """What n* of every reading is compared with, (K,) each. Raises ValueError as `regressor` does."""
        return [
            regressor(self.regressor, table.sizes, place)
            for table, (_, place) in zip(tables, self.readings, strict=True)
        ]

    @abstractmethod
    def _estimate(self, tables: Sequence[Complexities], probes: Probes) -> Measurement:
        """The quantity, of the n* of every reading; its sizes are those of its line, unless it says them."""

    def measure(self, cube: Dataset, probes: Probes) -> Measurement:
        """cube: scores.nc of a study; probes: its probes by name. Failed training at a crossing leaves no interval."""
        tables = self.sample_complexities(cube)
        found = [
            reservations(cube, name, place, table, self.axis)
            for (name, place), table in zip(self.readings, tables, strict=True)
        ]
        failed, notes = zip(*found, strict=True)
        measured = self._estimate(tables, probes)
        measured = measured if measured.sizes else line_along(self.axis, measured)
        return add_notes(without_interval(measured, *failed), *notes)


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

    lowest_over: Annotated[
        str | None,
        Reference("axis"),
        "An axis or swept parameter over whose values the smallest counts, for every seed.",
    ] = None

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

    @abstractmethod
    def _estimate(self, above: Dataset, below: Dataset) -> Measurement:
        """The quantity, of the scores of the learner above over the seeds, and of the one below."""

    def measure(self, cube: Dataset, probes: Probes) -> Measurement:
        """cube: scores.nc of a study. A cell without a score, or of a failed training, leaves no interval."""
        cells = self.cells(cube, self.above, self.above_where), self.cells(cube, self.below, self.below_where)
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.sound(self._estimate(*cells), cube, *cells)


@dataclass(frozen=True, kw_only=True)
class OfRisksAlongAxis(OfLearner):
    """A quantity of lines through a learner's risks along an axis, at a number of samples that it declares."""

    axis: Annotated[str, Reference("axis"), "The axis or swept parameter."] = "dimension"
    values: Annotated[
        list[float] | None,
        Reference("axis values"),
        "Values of the axis that a line is fitted to, named before the run; null: all.",
    ] = None

    @abstractmethod
    def _estimate(self, cells: Dataset) -> Measurement:
        """The quantity, of the scores over (axis, seed)."""

    def measure(self, cube: Dataset, probes: Probes) -> Measurement:
        """cube: scores.nc of a study. A training that failed leaves no interval."""
        where = self.where | {"samples": self.samples}
        cells = at(cube, self.learner, where, (self.axis, "seed")).sortby(self.axis)
        return trust(line_along(self.axis, self._estimate(cells)), f"at n = {self.samples}", cells)


@dataclass(frozen=True, kw_only=True)
class OfProbe(Quantity):
    """A quantity of a probe's variables."""

    probe: Probe

    @abstractmethod
    def _estimate(self, probe: Dataset) -> Measurement:
        """The quantity, of what the probe measured."""

    def measure(self, cube: Dataset, probes: Probes) -> Measurement:
        """probes: datasets by name. A value that is missing, or no number, leaves no interval, or its place out."""
        return self._estimate(probes[self.probe])


@dataclass(frozen=True, kw_only=True)
class AlongProbe(OfProbe):
    """A quantity of a probe's variable along one of its coordinates."""

    variable: Annotated[str, Reference("probe measures"), "Its variable, positive."]
    axis: Annotated[str, Reference("probe axis"), "Coordinate along which the variable is read."] = "dimension"
    where: ProbeCoordinates = field(default_factory=dict)
    values: Annotated[
        list[float] | None,
        Reference("probe axis values"),
        "Values of the axis that count, named before the run; null: all.",
    ] = None

    def positive_values(self, probe: Dataset) -> Complexities:
        """The variable (values of the axis, seeds); a value that is not positive and finite counts as missing."""
        return where_positive(*along(probe, self.variable, self.axis, self.where))
