"""How much larger the risk of one learner is than that of another where it is largest among several places."""

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np

from hierlearn.core.parameters import Reference
from hierlearn.core.protocols import Dataset, Probes
from hierlearn.quantities._bases import AtSamples, OfTwoLearners, SomeCoordinates, SomePlaces
from hierlearn.statistics import estimates


@dataclass(frozen=True, kw_only=True)
class LargestLogRiskRatio(OfTwoLearners, AtSamples):
    """The largest over places of the mean over seeds of log(risk_above / risk_below), paired by seed, at one n.

    Each of P places has a t-interval of level 1 - 0.05 / P. All hold together, so that the largest mean lies between
    the largest of their lower and the largest of their upper ends.
    """

    UNIT: ClassVar[str] = "log ratio"
    places: SomePlaces
    where: SomeCoordinates = field(default_factory=dict)
    risk: Annotated[str, Reference("scores"), "Which measure is compared."] = "test_risk"

    def measure(self, cube: Dataset, probes: Probes) -> estimates.Measurement:
        """cube: scores.nc of a study. A cell without a risk, or of a failed training, leaves no interval."""
        cells = [self.cells(cube, self.above, place) for place in self.places]
        base = self.cells(cube, self.below)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = [np.log(one[self.risk].values / base[self.risk].values) for one in cells]
        largest = estimates.largest(ratios, self.places, estimates.mean)
        return self.sound(largest, cube, base, *cells)
