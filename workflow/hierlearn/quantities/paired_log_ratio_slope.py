"""How the ratio of two sample complexities grows with the dimension."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hierlearn.core.protocols import Quantity
from hierlearn.quantities._parameters import Above, Below, Coordinates, FittedDimensions, Threshold
from hierlearn.quantities._sizes import fitted_along
from hierlearn.quantities._tables import add_notes, complexities, failures, nonconvergence, without_interval
from hierlearn.statistics import estimates
from hierlearn.statistics.estimates import Measurement

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class PairedLogRatioSlope(Quantity):
    """Slope of log(n*_above / n*_below), paired by seed, in log d."""

    above: Above
    below: Below
    sizes: FittedDimensions = None
    where: Coordinates = field(default_factory=dict)
    threshold: Threshold = 0.5

    @property
    def learners(self) -> list[str]:
        """The learners that the quantity rests on."""
        return [self.above, self.below]

    def measure(self, cube: "xarray.Dataset", probes: "dict[str, xarray.Dataset]") -> Measurement:
        """cube: scores.nc of a study; probes: its probes by name."""
        above, below = (complexities(cube, name, self.where, self.threshold) for name in self.learners)
        rested = [(cube, name, self.where, t) for name, t in zip(self.learners, (above, below), strict=True)]
        line = fitted_along("dimension", estimates.paired_log_ratio_slope(above, below, self.sizes))
        measured = without_interval(line, *(failures(*one) for one in rested))
        return add_notes(measured, *(nonconvergence(*one) for one in rested))
