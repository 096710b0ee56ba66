"""The mean over seeds of what a learner scored, or of its logarithm."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from hierlearn.core.parameters import Reference
from hierlearn.core.protocols import Dataset, Probes
from hierlearn.quantities._bases import Log, OfScores, PositiveValues
from hierlearn.quantities._tables import mean_of
from hierlearn.statistics.estimates import Measurement


@dataclass(frozen=True, kw_only=True)
class ScoreMean(OfScores):
    """Mean over seeds of a score at one place, or of its natural logarithm, with a t-interval."""

    UNIT: ClassVar[str] = "{averaged}"
    variable: Annotated[str, Reference("scores"), "A variable of scores.nc."] = "test_risk"
    log: Log = False
    positive: PositiveValues = False

    def measure(self, cube: Dataset, probes: Probes) -> Measurement:
        """cube: scores.nc of a study. A cell without a value, or of a failed training, leaves no interval."""
        values, cells = self.scores(cube, self.variable)
        return self.sound(mean_of(values, self.log, self.positive), cube, cells)
