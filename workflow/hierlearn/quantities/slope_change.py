"""How much faster the sample complexity of a learner grows at one value of an axis than at another."""

from dataclasses import dataclass, replace
from typing import Annotated, Any

from hierlearn.core.parameters import Reference
from hierlearn.quantities._bases import FittedDimensions, OfLearner, OfSampleComplexities, Regressor
from hierlearn.quantities._tables import span
from hierlearn.statistics import estimates


@dataclass(frozen=True, kw_only=True)
class SlopeChange(OfLearner, OfSampleComplexities):
    """Slope of log n* of a learner at `other` minus its slope at `where`, in one regressor, with Welch's interval.

    The interval takes the two lines as independent, which is wider than pairing the seeds where these share teachers.
    """

    other: Annotated[dict[str, Any], Reference("some coordinates"), "Values of axes, in place of those in `where`."]
    sizes: FittedDimensions = None
    regressor: Regressor = "dimension"

    @property
    def readings(self) -> list[tuple[str, dict[str, Any]]]:
        return [(self.learner, self.where | self.other), (self.learner, self.where)]

    def _estimate(self, tables, probes) -> estimates.Measurement:
        change = estimates.slope_difference(*tables, self.regressor_values(tables), (self.sizes, self.sizes))
        return replace(change, sizes=span("dimension", change.detail["above"]["sizes_fitted"]))
