"""The mean over seeds of a score of one learner where it is largest among several places."""

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np

from hierlearn.core.parameters import Reference
from hierlearn.core.protocols import Dataset, Probes
from hierlearn.quantities._bases import AtSamples, Log, OfLearner, PositiveValues, SomeCoordinates, SomePlaces
from hierlearn.quantities._tables import mean_of
from hierlearn.statistics import estimates


@dataclass(frozen=True, kw_only=True)
class LargestScoreMean(OfLearner, AtSamples):
    """The largest over places of the mean over seeds that `score_mean` has there, at one n.

    Interval: as that of `largest_log_risk_ratio`, the largest lower and the largest upper end of intervals that hold
    together.
    """

    UNIT: ClassVar[str] = "{averaged}"
    places: SomePlaces
    where: SomeCoordinates = field(default_factory=dict)
    variable: Annotated[str, Reference("scores"), "A variable of scores.nc."] = "test_risk"
    log: Log = False
    positive: PositiveValues = False

    def measure(self, cube: Dataset, probes: Probes) -> estimates.Measurement:
        """cube: scores.nc of a study. A cell without a value, or of a failed training, leaves no interval."""
        cells = [self.cells(cube, self.learner, place) for place in self.places]
        values = [one[self.variable].values for one in cells]
        return self.sound(estimates.largest(values, self.places, self._mean), cube, *cells)

    def _mean(self, values: np.ndarray, level: float) -> estimates.Measurement:
        return mean_of(values, self.log, self.positive, level)
