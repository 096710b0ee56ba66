"""Exponent of a sample complexity that a theory predicts."""

from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar

from hierlearn.core.parameters import Reference
from hierlearn.quantities._bases import Line, OfProbe, Regressor
from hierlearn.quantities._tables import line_along, regressor
from hierlearn.statistics import estimates
from hierlearn.statistics.complexity import where_positive


@dataclass(frozen=True, kw_only=True)
class TheoryExponent(OfProbe):
    """Slope of log n* on log of a counted dimension, n* from the deterministic equivalent: no seeds, no noise.

    The interval is a t-interval from the deviations of the line's points from a power law.
    """

    UNIT: ClassVar[str] = "slope"
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
