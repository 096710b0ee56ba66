"""How much faster the sample complexity of one learner grows than that of another, each over sizes of its own."""

from dataclasses import dataclass, replace

from hierlearn.core.protocols import Dataset, Probes
from hierlearn.quantities._bases import OfSampleComplexities, OfTwoLearners
from hierlearn.quantities._parameters import FittedDimensions, Regressor
from hierlearn.quantities._sizes import span
from hierlearn.statistics import estimates


@dataclass(frozen=True, kw_only=True)
class SlopeDifference(OfTwoLearners, OfSampleComplexities):
    """Slope of log n*_above minus slope of log n*_below in one regressor, with Welch's interval.

    Each line has sizes of its own: a rival that is out of reach at large sizes is compared where it can be measured.
    Over the same sizes `paired_log_ratio_slope` pairs the seeds and is narrower.
    """

    above_sizes: FittedDimensions = None
    below_sizes: FittedDimensions = None
    regressor: Regressor = "dimension"

    def measure(self, cube: Dataset, probes: Probes) -> estimates.Measurement:
        """cube: scores.nc of a study; probes: its probes by name."""
        tables = self.sample_complexities(cube)
        regressors = [self.regressor_values(table) for table in tables]
        difference = estimates.slope_difference(*tables, regressors, (self.above_sizes, self.below_sizes))
        fitted = [size for name in ("above", "below") for size in difference.detail[name]["sizes_fitted"]]
        return self.sound(replace(difference, sizes=span("dimension", fitted)), cube, tables)
