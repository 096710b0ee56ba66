"""How many times more samples one learner needs than another."""

from dataclasses import dataclass, field
from typing import Any

import xarray

from hierlearn.core.protocols import Quantity
from hierlearn.quantities._tables import complexities, failures, unjudged
from hierlearn.statistics import estimates
from hierlearn.statistics.estimates import Measured

PARAMETERS = {
    "above": {"description": "Learner in the numerator.", "type": "string", "reference": "learners"},
    "below": {"description": "Learner in the denominator.", "type": "string", "reference": "learners"},
    "where": {
        "description": "Values of the axes other than the dimension.",
        "type": "object",
        "reference": "coordinates",
        "default": {},
    },
    "threshold": {"description": "Risk that n* reaches.", "type": "number", "reference": "thresholds", "default": 0.5},
}


@dataclass(frozen=True)
class PairedLogRatio(Quantity):
    """Mean over seeds of log(n*_above / n*_below) at the largest dimension that is uncensored for both."""

    above: str
    below: str
    where: dict[str, Any] = field(default_factory=dict)
    threshold: float = 0.5

    @property
    def learners(self) -> list[str]:
        """The learners that the quantity rests on."""
        return [self.above, self.below]

    def measure(self, cube: xarray.Dataset, probes: dict[str, xarray.Dataset]) -> Measured:
        """cube: scores.nc of a study; probes: its probes by name."""
        above, below = (complexities(cube, name, self.where, self.threshold) for name in self.learners)
        failed = [failures(cube, name, self.where, t) for name, t in zip(self.learners, (above, below), strict=True)]
        return unjudged(estimates.paired_log_ratio(above, below), *failed)
