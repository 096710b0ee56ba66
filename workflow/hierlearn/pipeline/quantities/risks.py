"""How the risks of two learners compare at one number of samples, and how a risk falls along an axis."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import MinLen

from hierlearn.core.parameters import Count, Reference
from hierlearn.core.protocols import Dataset, Probes
from hierlearn.pipeline.quantities._bases import (
    AtSamples,
    Coordinates,
    OfLearner,
    OfRisksAlongAxis,
    OfTwoLearners,
    OfTwoScores,
    Place,
    Risk,
    Samples,
    SomeCoordinates,
    SomePlaces,
)
from hierlearn.pipeline.quantities._tables import at, line_along, trust, without_interval
from hierlearn.statistics import estimates
from hierlearn.statistics.complexity import Complexities, where_positive

Places = Annotated[
    list[Annotated[dict[str, Any], Reference("some coordinates"), "Values of coordinates, beside those in `where`."]],
    MinLen(1),
]


@dataclass(frozen=True, kw_only=True)
class LogRiskRatio(OfTwoScores):
    """Mean over seeds of log(risk_above / risk_below) at one n, with a t-interval; paired, since seeds share data."""

    UNIT = "log ratio"
    METHOD = "t over seeds"
    risk: Risk = "test_risk"

    def _estimate(self, above, below) -> estimates.Measurement:
        return estimates.mean(np.log(above[self.risk].values / below[self.risk].values))


@dataclass(frozen=True, kw_only=True)
class LargestLogRiskRatio(OfTwoLearners, AtSamples):
    """The largest over places of the mean over seeds of log(risk_above / risk_below), paired by seed, at one n.

    Each of P places has a t-interval of level 1 - 0.05 / P. All hold together, so that the largest mean lies between
    the largest of their lower and the largest of their upper ends.
    """

    UNIT = "log ratio"
    METHOD = "t over seeds, jointly over places"
    places: SomePlaces
    where: SomeCoordinates = field(default_factory=dict)
    risk: Risk = "test_risk"

    def measure(self, cube: Dataset, probes: Probes) -> estimates.Measurement:
        """cube: scores.nc of a study. A cell without a risk, or of a failed training, leaves no interval."""
        cells = [self.cells(cube, self.above, place) for place in self.places]
        base = self.cells(cube, self.below)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = [np.log(cell[self.risk].values / base[self.risk].values) for cell in cells]
        return self.sound(estimates.largest(ratios, self.places), cube, base, *cells)


@dataclass(frozen=True, kw_only=True)
class LogFallRatio(AtSamples):
    """log of (risk_first / risk_middle) / (risk_middle / risk_last), mean over seeds; the lowest of several cases.

    Above 0 the risk falls by more up to the middle than from there on. Interval: see `statistics.estimates.lowest`.
    """

    UNIT = "log ratio"
    METHOD = "t over seeds, jointly over places"
    of: Annotated[list[str], MinLen(1), Reference("learners"), "The learner of every case."]
    first: Annotated[Places, "Of every case the place from which the risk falls."]
    middle: Annotated[Places, "Of every case the place that is asked about."]
    last: Annotated[Places, "Of every case the place at which the fall ends."]
    where: SomeCoordinates = field(default_factory=dict)
    risk: Risk = "test_risk"

    @property
    def learners(self) -> list[str]:
        return list(dict.fromkeys(self.of))

    def measure(self, cube: Dataset, probes: Probes) -> estimates.Measurement:
        """cube: scores.nc of a study. A training that failed leaves no interval."""
        cases, every = [], []
        for learner, *places in zip(self.of, self.first, self.middle, self.last, strict=True):
            cells = [self.cells(cube, learner, place) for place in places]
            risks = (cell[self.risk].values for cell in cells)
            first, middle, last = (np.log(np.where(values > 0, values, np.nan)) for values in risks)
            cases.append(first - 2 * middle + last)
            every += cells
        names = [", ".join(f"{name} = {value}" for name, value in place.items()) for place in self.middle]
        return self.sound(estimates.lowest(cases, names), cube, *every)


@dataclass(frozen=True, kw_only=True)
class RiskSlope(OfRisksAlongAxis):
    """Slope of log risk, or of the log of what the risk lacks to 1, in log of an axis at one n, a line through the
    medians over seeds."""

    UNIT = "slope"
    METHOD = "line through sizes"
    samples: Annotated[
        Count | Literal["largest"],
        Reference("samples"),
        "Number of labelled samples n; largest: at every place the largest that was trained.",
    ] = "largest"
    where: Annotated[
        dict[str, Any],
        Reference("paired coordinates"),
        "Values of the other axes; a list goes along with the axis, one value for each of its values.",
    ] = field(default_factory=dict)
    risk: Risk = "test_risk"
    explained: Annotated[bool, "Take 1 - risk, the explained part of the target, in its place."] = False

    def _estimate(self, cells) -> estimates.Measurement:
        risks = 1.0 - cells[self.risk].values if self.explained else cells[self.risk].values
        return estimates.exponent(where_positive(cells[self.axis].values, risks), fitted=self.values)


@dataclass(frozen=True, kw_only=True)
class LowestRiskSlope(OfRisksAlongAxis):
    """Smallest of the slopes of some measures, each as `risk_slope`: log measure in log of an axis at one n.

    Interval: see `statistics.estimates.lowest`.
    """

    UNIT = "slope"
    METHOD = "line through sizes, jointly"
    samples: Samples
    risks: Annotated[list[str], MinLen(1), Reference("scores"), "The measures."]
    where: Coordinates = field(default_factory=dict)

    def _estimate(self, cells) -> estimates.Measurement:
        tables = [where_positive(cells[self.axis].values, cells[risk].values) for risk in self.risks]
        return estimates.lowest(tables, self.risks, self._slope)

    def _slope(self, table: Complexities, level: float) -> estimates.Measurement:
        return estimates.exponent(table, None, self.values, level)


@dataclass(frozen=True, kw_only=True)
class SamplesSlope(OfLearner):
    """Slope of log risk in the log of the number of samples, a line through the medians over seeds.

    A seed's smaller training sets are parts of its larger ones, so that its errors lie near a line of its own: how far
    these slopes differ does not show in the scatter about the common line. The interval spans that of the line and that
    of the mean of the seeds' own slopes.
    """

    UNIT = "slope"
    METHOD = "line through sizes, and slopes of seeds"
    ALONG = "samples"
    sizes: Annotated[
        list[Count],
        MinLen(3),
        Reference("samples"),
        "Numbers of samples that the line is fitted to, named before the run.",
    ]
    where: Place = field(default_factory=dict)
    risk: Risk = "test_risk"

    def measure(self, cube: Dataset, probes: Probes) -> estimates.Measurement:
        """cube: scores.nc of a study. A training that failed at one of the sizes leaves no interval, nor does a single
        seed."""
        chosen = at(cube, self.learner, self.where, ("samples", "seed")).sel(samples=self.sizes).sortby("samples")
        table = where_positive(chosen.samples.values, chosen[self.risk].values)
        line = estimates.spanning_seeds(estimates.exponent(table))
        if table.samples.shape[1] < 2:
            line = without_interval(line, line.detail["seed_slopes"]["reason"])
        return trust(line_along("samples", line), "at one of the sizes", chosen)
