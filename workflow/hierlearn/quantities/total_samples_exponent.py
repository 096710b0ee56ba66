"""Exponent of labelled and unlabelled points together."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hierlearn.quantities._bases import OfLearner, OfSampleComplexities
from hierlearn.quantities._parameters import FittedDimensions, Regressor
from hierlearn.quantities._sizes import fitted_along
from hierlearn.quantities._tables import part
from hierlearn.statistics import estimates
from hierlearn.statistics.estimates import Measurement

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class TotalSamplesExponent(OfLearner, OfSampleComplexities):
    """Slope of log(n* + n0) on log of a counted dimension: the honest count of samples."""

    sizes: FittedDimensions = None
    regressor: Regressor = "dimension"

    def measure(self, cube: "xarray.Dataset", probes: "dict[str, xarray.Dataset]") -> Measurement:
        """cube: scores.nc of a study; probes: its probes by name."""
        (table,) = tables = self.sample_complexities(cube)
        unlabelled = part(cube, self.learner, self.where).unlabelled_samples.max(("seed", "samples")).values
        line = estimates.total_samples_exponent(table, unlabelled, self.regressor_values(table), self.sizes)
        return self.sound(fitted_along("dimension", line), cube, tables)
