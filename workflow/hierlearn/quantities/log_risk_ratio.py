"""How much larger the risk of one learner is than that of another, at one number of samples."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from hierlearn.core.parameters import Reference
from hierlearn.core.protocols import Dataset, Probes
from hierlearn.quantities._bases import OfTwoScores
from hierlearn.statistics import estimates


@dataclass(frozen=True, kw_only=True)
class LogRiskRatio(OfTwoScores):
    """Mean over seeds of log(risk_above / risk_below) at one n, with a t-interval; paired, since seeds share data."""

    risk: Annotated[str, Reference("scores"), "Which measure is compared."] = "test_risk"

    def measure(self, cube: Dataset, probes: Probes) -> estimates.Measurement:
        """cube: scores.nc of a study. A cell without a risk, or of a failed training, leaves no interval."""
        above, below = cells = self.both(cube)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.log(above[self.risk].values / below[self.risk].values)
        return self.sound(estimates.mean(ratios), cube, *cells)
