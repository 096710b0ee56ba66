"""The mean over seeds of what a learner scored, or of its logarithm."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray

from hierlearn.core.protocols import Quantity
from hierlearn.quantities._tables import by_seed, unjudged
from hierlearn.statistics import estimates
from hierlearn.statistics.estimates import Measured

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
    "lowest_over": {
        "description": "An axis or swept parameter over whose values the smallest counts, for every seed.",
        "type": ["string", "null"],
        "reference": "axis",
        "default": None,
    },
    "log": {"description": "Whether the natural logarithm is averaged.", "type": "boolean", "default": False},
}


@dataclass(frozen=True)
class ScoreMean(Quantity):
    """Mean over seeds of a score at one place, or of its natural logarithm, with a t-interval."""

    learner: str
    samples: int
    variable: str = "test_risk"
    where: dict[str, Any] = field(default_factory=dict)
    lowest_over: str | None = None
    log: bool = False

    @property
    def learners(self) -> list[str]:
        """The learner that the quantity rests on."""
        return [self.learner]

    def measure(self, cube: xarray.Dataset, probes: dict[str, xarray.Dataset]) -> Measured:
        """cube: scores.nc of a study. A cell without a value, or of a failed training, leaves no interval."""
        here = self.where | {"samples": self.samples}
        values, failed = by_seed(cube, self.learner, here, self.variable, self.lowest_over)
        if self.log:
            values = np.log(np.where(values > 0, values, np.nan))
        return unjudged(
            estimates.mean(values), *([f"{self.learner}: training failed at n = {self.samples}"] if failed else [])
        )
