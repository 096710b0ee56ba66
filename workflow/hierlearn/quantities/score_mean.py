"""The mean over seeds of what a learner scored, or of its logarithm."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray

from hierlearn.claims import quantities
from hierlearn.claims.quantities import Measured
from hierlearn.quantities._tables import FAILED, at, unjudged

PARAMETERS = {
    "learner": {"description": "Name of the learner.", "type": "string", "reference": "learners"},
    "variable": {
        "description": "A variable of scores.nc.",
        "type": "string",
        "reference": "scores",
        "default": "test_risk",
    },
    "where": {"description": "Values of the axes.", "type": "object", "reference": "place", "default": {}},
    "samples": {
        "description": "Number of labelled samples n.",
        "type": "integer",
        "minimum": 1,
        "reference": "samples",
    },
    "log": {"description": "Whether the natural logarithm is averaged.", "type": "boolean", "default": False},
}


@dataclass(frozen=True)
class ScoreMean:
    """Mean over seeds of a score at one place, or of its natural logarithm, with a t-interval."""

    learner: str
    samples: int
    variable: str = "test_risk"
    where: dict[str, Any] = field(default_factory=dict)
    log: bool = False

    @property
    def learners(self) -> list[str]:
        """The learner that the quantity rests on."""
        return [self.learner]

    def measure(self, cube: xarray.Dataset, probes: dict[str, xarray.Dataset]) -> Measured:
        """cube: scores.nc of a study. A cell without a value, or of a failed training, leaves no interval."""
        chosen = at(cube, self.learner, self.where | {"samples": self.samples}, ("seed",))
        values = chosen[self.variable].values
        if self.log:
            values = np.log(np.where(values > 0, values, np.nan))
        failed = np.isin(chosen.status.values, FAILED).any()
        return unjudged(
            quantities.mean(values), *([f"{self.learner}: training failed at n = {self.samples}"] if failed else [])
        )
