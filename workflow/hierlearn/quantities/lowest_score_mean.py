"""The lowest among several learners of the mean over seeds of a score."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from annotated_types import MinLen

from hierlearn.core.parameters import Reference
from hierlearn.core.protocols import Dataset, Probes
from hierlearn.quantities._bases import AtSamples, Log, PositiveValues
from hierlearn.quantities._tables import mean_of
from hierlearn.statistics import estimates


@dataclass(frozen=True, kw_only=True)
class LowestScoreMean(AtSamples):
    """Lowest of the means over seeds that `score_mean` has for each of some learners, as of the best kernel at one n.

    Interval: see `statistics.estimates.lowest`.
    """

    UNIT: ClassVar[str] = "{averaged}"
    predictors: Annotated[list[str], MinLen(1), Reference("learners"), "Names of the learners."]
    variable: Annotated[str, Reference("scores"), "A variable of scores.nc."] = "test_risk"
    log: Log = False
    positive: PositiveValues = False

    @property
    def learners(self) -> list[str]:
        return list(self.predictors)

    def measure(self, cube: Dataset, probes: Probes) -> estimates.Measurement:
        """cube: scores.nc of a study. A cell without a value, or of a failed training, leaves no interval."""
        cells = [self.cells(cube, name) for name in self.predictors]

        def means(level: float) -> list[estimates.Measurement]:
            return [mean_of(one[self.variable].values, self.log, self.positive, level) for one in cells]

        return self.sound(estimates.lowest(means, self.predictors), cube, *cells)
