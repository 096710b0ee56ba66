"""How the ratio of two sample complexities follows the isotropy of the inputs at one dimension."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from hierlearn.core.parameters import Count, Reference
from hierlearn.core.protocols import Quantity
from hierlearn.quantities._parameters import Above, Below, Threshold
from hierlearn.quantities._sizes import fitted_along
from hierlearn.quantities._tables import add_notes, complexities, failures, nonconvergence, without_interval
from hierlearn.statistics import estimates
from hierlearn.statistics.estimates import Measurement
from hierlearn.theory.spectra import eigenvalues

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class IsotropySlope(Quantity):
    """Slope of log(n*_above / n*_below), paired by seed, in the log of the inputs' largest eigenvalue.

    Along the share of the second moment that the leading directions of the anisotropic sphere have; the largest
    eigenvalue of a second moment of trace 1 is M_{x,op}^2, 1/d where all are equal (bai2020, Theorem 6).
    """

    above: Above
    below: Below
    spikes: Annotated[Count, "Number of leading directions, as the input has it."] = 2
    where: Annotated[dict[str, Any], Reference("coordinates"), "Values of the dimension and the other axes."] = field(
        default_factory=dict
    )
    axis: Annotated[str, Reference("axis"), "The axis of the shares."] = "spike_share"
    threshold: Threshold = 0.3

    @property
    def learners(self) -> list[str]:
        """The learners that the quantity rests on."""
        return list(dict.fromkeys([self.above, self.below]))

    def measure(self, cube: "xarray.Dataset", probes: "dict[str, xarray.Dataset]") -> Measurement:
        """cube: scores.nc of a study; probes: its probes by name."""
        names = self.above, self.below
        above, below = (complexities(cube, n, self.where, self.threshold, "test_risk", self.axis) for n in names)
        dimension = int(self.where["dimension"])
        largest = [eigenvalues("spiked", dimension, 1.0, self.spikes, share).max() for share in above.sizes]
        line = estimates.exponent_difference(above, below, np.array(largest))
        rested = [(cube, n, self.where, t, self.axis) for n, t in zip(names, (above, below), strict=True)]
        measured = without_interval(fitted_along(self.axis, line), *(failures(*one) for one in rested))
        return add_notes(measured, *(nonconvergence(*one) for one in rested))
