"""How much faster the sample complexity of one learner grows than that of another, each over sizes of its own."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from hierlearn.core.protocols import Quantity
from hierlearn.quantities._parameters import Above, Below, Coordinates, FittedDimensions, Regressor, Threshold
from hierlearn.quantities._sizes import span
from hierlearn.quantities._tables import (
    add_notes,
    complexities,
    failures,
    nonconvergence,
    regressor,
    without_interval,
)
from hierlearn.statistics import estimates
from hierlearn.statistics.estimates import Measurement

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class SlopeDifference(Quantity):
    """Slope of log n*_above minus slope of log n*_below in one regressor, with Welch's interval.

    Each line has sizes of its own: a rival that is out of reach at large sizes is compared where it can be measured.
    Over the same sizes `paired_log_ratio_slope` pairs the seeds and is narrower.
    """

    above: Above
    below: Below
    above_sizes: FittedDimensions = None
    below_sizes: FittedDimensions = None
    where: Coordinates = field(default_factory=dict)
    threshold: Threshold = 0.5
    regressor: Regressor = "dimension"

    @property
    def learners(self) -> list[str]:
        """The learners that the quantity rests on."""
        return [self.above, self.below]

    def measure(self, cube: "xarray.Dataset", probes: "dict[str, xarray.Dataset]") -> Measurement:
        """cube: scores.nc of a study; probes: its probes by name."""
        tables = [complexities(cube, name, self.where, self.threshold) for name in self.learners]
        counts = [regressor(self.regressor, table.sizes, self.where.get("degree")) for table in tables]
        measured = estimates.slope_difference(*tables, counts, (self.above_sizes, self.below_sizes))
        used = [size for name in ("above", "below") for size in measured.detail[name]["sizes_fitted"]]
        measured = replace(measured, sizes=span("dimension", used))
        rested = [(cube, name, self.where, table) for name, table in zip(self.learners, tables, strict=True)]
        measured = without_interval(measured, *(failures(*one) for one in rested))
        return add_notes(measured, *(nonconvergence(*one) for one in rested))
