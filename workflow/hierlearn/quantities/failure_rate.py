"""How often a learner fails."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hierlearn.core.parameters import Positive, Reference
from hierlearn.core.protocols import Dataset, Probes
from hierlearn.quantities._bases import AtSamples, OfLearner
from hierlearn.quantities._tables import FAILED, at_place
from hierlearn.statistics import estimates


@dataclass(frozen=True, kw_only=True)
class FailureRate(OfLearner, AtSamples):
    """The probability that the risk at one n stays above a level, with the exact interval of Clopper and Pearson.

    Seeds draw teacher, points and start, so that they are independent trials. A training that failed is a failure.
    """

    UNIT: ClassVar[str] = "share of seeds"
    level: Annotated[Positive, "Risk above which a seed has failed."]
    risk: Annotated[str, Reference("scores"), "Which measure is compared with the level."] = "test_risk"

    def measure(self, cube: Dataset, probes: Probes) -> estimates.Measurement:
        """cube: scores.nc of a study. A seed that was not trained leaves no interval."""
        cells = self.cells(cube, self.learner)
        risk, broken = cells[self.risk].values, np.isin(cells.status.values, FAILED)
        unknown = int(np.sum(np.isnan(risk) & ~broken))
        if unknown:
            return estimates.no_value(f"{unknown} of {len(risk)} seeds not measured", len(risk))
        rate = estimates.failure_rate(broken | (np.nan_to_num(risk, nan=np.inf) > self.level))
        return at_place(rate, cells, self.where, self.samples)
