"""A score over the root of another's: a cross-entropy over the epsilon of a squared error epsilon^2."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hierlearn.core.parameters import Reference
from hierlearn.quantities._bases import OfTwoScores
from hierlearn.statistics import estimates


@dataclass(frozen=True, kw_only=True)
class ScoreOverRoot(OfTwoScores):
    """Geometric mean over seeds of score_above / sqrt(score_below) at one n, its interval from the logarithms."""

    UNIT: ClassVar[str] = "ratio"
    score: Annotated[str, Reference("scores"), "Score of the learner above, positive."] = "cross_entropy"
    squared: Annotated[str, Reference("scores"), "Score of the learner below, whose root is taken."] = "squared_error"

    def _estimate(self, above, below) -> estimates.Measurement:
        return estimates.positive_mean(above[self.score].values / np.sqrt(below[self.squared].values))
