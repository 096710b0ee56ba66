"""How much more one learner scores than another, at one number of samples."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from hierlearn.core.parameters import Reference
from hierlearn.quantities._bases import OfTwoScores
from hierlearn.statistics import estimates


@dataclass(frozen=True, kw_only=True)
class ScoreDifference(OfTwoScores):
    """Mean over seeds of score_above - score_below at one n, with a t-interval; paired, since seeds share data."""

    UNIT: ClassVar[str] = "difference of {averaged}"
    above: Annotated[str, Reference("learners"), "Learner from whose score is taken."]
    below: Annotated[str, Reference("learners"), "Learner whose score is taken away."]
    variable: Annotated[str, Reference("scores"), "A variable of scores.nc."] = "test_accuracy"

    def _estimate(self, above, below) -> estimates.Measurement:
        return estimates.mean(above[self.variable].values - below[self.variable].values)
