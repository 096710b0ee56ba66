"""How much larger the risk of one learner is than that of another, at one number of samples."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hierlearn.core.parameters import Reference
from hierlearn.quantities._bases import OfTwoScores
from hierlearn.statistics import estimates


@dataclass(frozen=True, kw_only=True)
class LogRiskRatio(OfTwoScores):
    """Mean over seeds of log(risk_above / risk_below) at one n, with a t-interval; paired, since seeds share data."""

    UNIT: ClassVar[str] = "log ratio"
    risk: Annotated[str, Reference("scores"), "Which measure is compared."] = "test_risk"

    def _estimate(self, above, below) -> estimates.Measurement:
        return estimates.mean(np.log(above[self.risk].values / below[self.risk].values))
