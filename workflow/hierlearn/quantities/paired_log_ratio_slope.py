"""How the ratio of two sample complexities grows with the dimension."""

from dataclasses import dataclass, field
from typing import Any

import xarray

from hierlearn.core.protocols import Quantity
from hierlearn.quantities._tables import complexities, failures, noted, unfinished, unjudged
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
    "sizes": {
        "description": "Dimensions that the line is fitted to, named before the run; null: all of the study's.",
        "type": ["array", "null"],
        "items": {"type": "integer"},
        "reference": "dimensions",
        "default": None,
    },
}


@dataclass(frozen=True)
class PairedLogRatioSlope(Quantity):
    """Slope of log(n*_above / n*_below), paired by seed, in log d."""

    above: str
    below: str
    sizes: list[int] | None = None
    where: dict[str, Any] = field(default_factory=dict)
    threshold: float = 0.5

    @property
    def learners(self) -> list[str]:
        """The learners that the quantity rests on."""
        return [self.above, self.below]

    def measure(self, cube: xarray.Dataset, probes: dict[str, xarray.Dataset]) -> Measured:
        """cube: scores.nc of a study; probes: its probes by name."""
        above, below = (complexities(cube, name, self.where, self.threshold) for name in self.learners)
        rested = [(cube, name, self.where, t) for name, t in zip(self.learners, (above, below), strict=True)]
        measured = unjudged(
            estimates.paired_log_ratio_slope(above, below, self.sizes), *(failures(*one) for one in rested)
        )
        return noted(measured, *(unfinished(*one) for one in rested))
