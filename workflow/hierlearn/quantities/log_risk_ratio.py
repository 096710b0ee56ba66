"""How much larger the risk of one learner is than that of another, at one number of samples."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray

from hierlearn.core.protocols import Quantity
from hierlearn.quantities._tables import FAILED, at, unjudged
from hierlearn.statistics import estimates
from hierlearn.statistics.estimates import Measured

PARAMETERS = {
    "above": {"description": "Learner in the numerator.", "type": "string", "reference": "learners"},
    "below": {"description": "Learner in the denominator.", "type": "string", "reference": "learners"},
    "above_where": {
        "description": "Values of coordinates for the learner above, beside or in place of those in `where`.",
        "type": "object",
        "reference": "some coordinates",
        "default": {},
    },
    "below_where": {
        "description": "The same for the learner below.",
        "type": "object",
        "reference": "some coordinates",
        "default": {},
    },
    "where": {"description": "Values of the axes.", "type": "object", "reference": "place", "default": {}},
    "samples": {
        "description": "Number of labelled samples n.",
        "type": "integer",
        "minimum": 1,
        "reference": "samples",
    },
    "risk": {
        "description": "Which measure is compared.",
        "type": "string",
        "reference": "scores",
        "default": "test_risk",
    },
}


@dataclass(frozen=True)
class LogRiskRatio(Quantity):
    """Mean over seeds of log(risk_above / risk_below) at one n, with a t-interval; paired, since seeds share data."""

    above: str
    below: str
    samples: int
    above_where: dict[str, Any] = field(default_factory=dict)
    below_where: dict[str, Any] = field(default_factory=dict)
    where: dict[str, Any] = field(default_factory=dict)
    risk: str = "test_risk"

    @property
    def learners(self) -> list[str]:
        """The learners that the quantity rests on."""
        return [self.above, self.below]

    def measure(self, cube: xarray.Dataset, probes: dict[str, xarray.Dataset]) -> Measured:
        """cube: scores.nc of a study. A cell without a risk, or of a failed training, leaves no interval."""
        values, failed = [], []
        for learner, here in ((self.above, self.above_where), (self.below, self.below_where)):
            chosen = at(cube, learner, self.where | here | {"samples": self.samples}, ("seed",))
            values.append(chosen[self.risk].values)
            if np.isin(chosen.status.values, FAILED).any():
                failed.append(f"{learner}: training failed at n = {self.samples}")
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.log(values[0] / values[1])
        return unjudged(estimates.mean(ratios), *failed)
