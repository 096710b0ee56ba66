"""How much faster the sample complexity of one learner grows than that of another, each over sizes of its own."""

from dataclasses import dataclass, replace
from typing import ClassVar

from hierlearn.quantities._bases import FittedDimensions, OfSampleComplexities, OfTwoLearners, Regressor
from hierlearn.quantities._tables import span
from hierlearn.statistics import estimates


@dataclass(frozen=True, kw_only=True)
class SlopeDifference(OfTwoLearners, OfSampleComplexities):
    """Slope of log n*_above minus slope of log n*_below in one regressor, with Welch's interval.

    Each line has sizes of its own: a rival that is out of reach at large sizes is compared where it can be measured.
    Over the same sizes `paired_log_ratio_slope` pairs the seeds and is narrower.
    """

    UNIT: ClassVar[str] = "difference of slopes"
    above_sizes: FittedDimensions = None
    below_sizes: FittedDimensions = None
    regressor: Regressor = "dimension"

    def _estimate(self, tables, probes) -> estimates.Measurement:
        regressors = self.regressor_values(tables)
        difference = estimates.slope_difference(*tables, regressors, (self.above_sizes, self.below_sizes))
        fitted = [size for name in ("above", "below") for size in difference.detail[name]["sizes_fitted"]]
        return replace(difference, sizes=span("dimension", fitted))
