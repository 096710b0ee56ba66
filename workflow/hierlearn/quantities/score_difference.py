"""How much more one learner scores than another, at one number of samples."""

from dataclasses import dataclass
from typing import Annotated

from hierlearn.core.parameters import Reference
from hierlearn.core.protocols import Dataset, Probes
from hierlearn.quantities._bases import OfTwoScores
from hierlearn.statistics import estimates


@dataclass(frozen=True, kw_only=True)
class ScoreDifference(OfTwoScores):
    """Mean over seeds of score_above - score_below at one n, with a t-interval; paired, since seeds share data."""

    above: Annotated[str, Reference("learners"), "Learner from whose score is taken."]
    below: Annotated[str, Reference("learners"), "Learner whose score is taken away."]
    variable: Annotated[str, Reference("scores"), "A variable of scores.nc."] = "test_accuracy"

    def measure(self, cube: Dataset, probes: Probes) -> estimates.Measurement:
        """cube: scores.nc of a study. A cell without a score, or of a failed training, leaves no interval."""
        above, below = cells = self.both(cube)
        return self.sound(estimates.mean(above[self.variable].values - below[self.variable].values), cube, *cells)
