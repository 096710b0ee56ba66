"""What probes measured: means, differences, slopes and inequalities of their variables, and what theories say."""

from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np
from annotated_types import MinLen

from hierlearn.core.parameters import Reference
from hierlearn.pipeline.quantities._bases import (
    AlongProbe,
    Line,
    Log,
    OfProbe,
    PositiveValues,
    ProbeCoordinates,
    Regressor,
)
from hierlearn.pipeline.quantities._tables import (
    along,
    at_place,
    compared,
    line_along,
    mean_of,
    over,
    over_seeds,
    regressor,
    variable_at,
)
from hierlearn.statistics import estimates
from hierlearn.statistics.complexity import where_positive


@dataclass(frozen=True, kw_only=True)
class ProbeMean(OfProbe):
    """Mean over seeds of a variable, of its ratio to another, or of the logarithm, with a t-interval."""

    UNIT = "{averaged}"
    METHOD = "t over seeds"
    variable: Annotated[str, Reference("probe measures"), "Its variable."]
    over: Annotated[
        str | None, Reference("probe measures"), "Variable that it is divided by, seed by seed; null: none."
    ] = None
    log: Log = False
    positive: PositiveValues = False
    least: Annotated[float | None, "What no mean can be below; it and its interval end there. null: nothing."] = None
    most: Annotated[float | None, "What no mean can be above."] = None
    where: Annotated[dict[str, Any], Reference("probe place"), "Values of the coordinates."] = field(
        default_factory=dict
    )

    def _estimate(self, probe) -> estimates.Measurement:
        values = over_seeds(probe, self.variable, self.where)
        if self.over is not None:
            values = values / over_seeds(probe, self.over, self.where)
        mean = mean_of(values, self.log, self.positive)
        limits = (-np.inf if self.least is None else self.least), (np.inf if self.most is None else self.most)
        value, low, high = np.clip([mean.value, mean.low, mean.high], *limits).tolist()
        return at_place(replace(mean, value=value, low=low, high=high), probe, self.where)


@dataclass(frozen=True, kw_only=True)
class ProbeDifference(OfProbe):
    """Mean over seeds of variable(above) - variable(below), the lowest over the places below; paired by seed.

    So that a network is compared with the best of several kernels. Interval: see `statistics.estimates.lowest`.
    """

    UNIT = "difference of {averaged}"
    METHOD = "t over seeds, jointly over places"
    variable: Annotated[str, Reference("probe measures"), "Its variable."]
    axis: Annotated[str, Reference("probe axis"), "Coordinate along which the places lie."]
    above: Annotated[float, Reference("probe axis values"), "Its value at the place that is to have more."]
    below: Annotated[list[float], MinLen(1), Reference("probe axis values"), "Its values at the others."]
    where: ProbeCoordinates = field(default_factory=dict)

    def _estimate(self, probe) -> estimates.Measurement:
        def at(value: float):
            return over_seeds(probe, self.variable, self.where | {self.axis: value})

        differences = [at(self.above) - at(place) for place in self.below]
        lowest = estimates.lowest(differences, [f"{self.axis} {place:g}" for place in self.below])
        return at_place(lowest, probe, self.where)


@dataclass(frozen=True, kw_only=True)
class ProbeHolds(OfProbe):
    """The largest ratio smaller / larger over the cases of the inequality larger >= smaller."""

    UNIT = "largest ratio to the bound"
    METHOD = "largest ratio"
    larger: Annotated[str, Reference("probe measures"), "The side that is to be larger."]
    smaller: Annotated[str, Reference("probe measures"), "The other side."]
    where: Annotated[
        dict[str, Any],
        Reference("some probe coordinates"),
        "Coordinates that are fixed; every other place, and every seed, is a case.",
    ] = field(default_factory=dict)
    level: Annotated[
        float | None,
        "A number that takes the place of the smaller side, such as the loss of the predictor zero; null: none.",
    ] = None

    def _estimate(self, probe) -> estimates.Measurement:
        import xarray

        names = self.larger, self.smaller
        larger, smaller = xarray.broadcast(*(variable_at(probe, name, self.where) for name in names))
        smaller = smaller if self.level is None else xarray.full_like(smaller, self.level, dtype=float)
        seeds = larger.sizes.get("seed", 0)
        sides = [side.transpose(..., "seed", missing_dims="ignore").values for side in (larger, smaller)]
        return over(estimates.cases(*(side if seeds else side[..., None] for side in sides), seeds), larger)


@dataclass(frozen=True, kw_only=True)
class ProbeSlope(AlongProbe):
    """Slope of log variable on log axis, a line through the medians over seeds.

    A seed may keep its draw along the axis, as of a width whose neurons are the first of a wider network's. So the
    interval spans that of the line and that of the mean of the seeds' own slopes.
    """

    UNIT = "slope"
    METHOD = "line through sizes, and slopes of seeds"

    def _estimate(self, probe) -> estimates.Measurement:
        line = estimates.exponent(self.positive_values(probe), fitted=self.values)
        return line_along(self.axis, estimates.spanning_seeds(line))


@dataclass(frozen=True, kw_only=True)
class ProbeTheoryRatio(AlongProbe):
    """Mean over the places of an axis of the median log(variable / theory), with a t-interval over the places.

    0 where the theory is exact at finite sizes. detail: every place by itself.
    """

    UNIT = "log ratio"
    METHOD = "t over sizes"
    theory: Annotated[str, Reference("probe measures"), "The theory's, positive, the same for all seeds."]

    def _estimate(self, probe) -> estimates.Measurement:
        table = self.positive_values(probe)
        sizes, theory = along(probe, self.theory, self.axis, self.where)
        if not np.array_equal(table.sizes, sizes):
            raise ValueError(f"probe {self.probe}: {self.theory} has other values of {self.axis} than {self.variable}")
        return compared(self.axis, estimates.over_theory(table, np.median(theory, axis=1), self.values))


@dataclass(frozen=True, kw_only=True)
class TheoryExponent(OfProbe):
    """Slope of log n* on log of a counted dimension, n* from the deterministic equivalent: no seeds, no noise.

    The interval is a t-interval from the deviations of the line's points from a power law.
    """

    UNIT = "slope"
    METHOD = "line through sizes"
    READS = ("sample_complexity",)
    probe: Annotated[str, Reference("probes"), "Name of the probe that holds the line."]
    line: Line
    sizes: Annotated[
        list[int] | None,
        Reference("probe dimension"),
        "Dimensions that the line is fitted to, named before the run; null: all of the probe's.",
    ] = None
    where: Annotated[
        dict[str, Any], Reference("probe grid coordinates"), "Values of the axes other than the dimension."
    ] = field(default_factory=dict)
    threshold: Annotated[float, Reference("probe thresholds"), "Risk that n* reaches."] = 0.5
    regressor: Regressor = "dimension"

    def _estimate(self, probe) -> estimates.Measurement:
        line = probe.sel(line=self.line, threshold=self.threshold, **self.where)
        table = where_positive(line.dimension.values, line.sample_complexity.values[:, None])
        values = regressor(self.regressor, table.sizes, self.where)
        return line_along("dimension", replace(estimates.exponent(table, values, self.sizes), seeds=0))
