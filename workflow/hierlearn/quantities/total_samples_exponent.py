"""Exponent of labelled and unlabelled points together."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hierlearn.core.protocols import Quantity
from hierlearn.quantities._parameters import Coordinates, FittedDimensions, Learner, Regressor, Threshold
from hierlearn.quantities._sizes import fitted_along
from hierlearn.quantities._tables import (
    add_notes,
    complexities,
    failures,
    nonconvergence,
    part,
    regressor,
    without_interval,
)
from hierlearn.statistics import estimates
from hierlearn.statistics.estimates import Measurement

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class TotalSamplesExponent(Quantity):
    """Slope of log(n* + n0) on log of a counted dimension: the honest count of samples."""

    learner: Learner
    sizes: FittedDimensions = None
    where: Coordinates = field(default_factory=dict)
    threshold: Threshold = 0.5
    regressor: Regressor = "dimension"

    @property
    def learners(self) -> list[str]:
        """The learners that the quantity rests on."""
        return [self.learner]

    def measure(self, cube: "xarray.Dataset", probes: "dict[str, xarray.Dataset]") -> Measurement:
        """cube: scores.nc of a study; probes: its probes by name."""
        table = complexities(cube, self.learner, self.where, self.threshold)
        spent = part(cube, self.learner, self.where).unlabelled_samples.max(("seed", "samples")).values
        values = regressor(self.regressor, table.sizes, self.where.get("degree"))
        measured = fitted_along("dimension", estimates.total_samples_exponent(table, spent, values, self.sizes))
        rested = cube, self.learner, self.where, table
        return add_notes(without_interval(measured, failures(*rested)), nonconvergence(*rested))
