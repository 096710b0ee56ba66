"""How the risk of a learner at one number of samples changes along an axis."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray

from hierlearn.core.protocols import Quantity
from hierlearn.quantities._tables import FAILED, at, unjudged
from hierlearn.statistics import estimates
from hierlearn.statistics.complexity import Complexities
from hierlearn.statistics.estimates import Measured

PARAMETERS = {
    "learner": {"description": "Name of the learner.", "type": "string", "reference": "learners"},
    "axis": {
        "description": "The axis or swept parameter.",
        "type": "string",
        "reference": "axis",
        "default": "dimension",
    },
    "where": {
        "description": "Values of the other axes; a list goes along with the axis, one value for each of its values.",
        "type": "object",
        "reference": "paired coordinates",
        "default": {},
    },
    "samples": {
        "description": "Number of labelled samples n; largest: at every place the largest that was trained.",
        "oneOf": [{"type": "integer", "minimum": 1}, {"const": "largest"}],
        "reference": "samples",
        "default": "largest",
    },
    "values": {
        "description": "Values of the axis that the line is fitted to, named before the run; null: all.",
        "type": ["array", "null"],
        "items": {"type": "number"},
        "reference": "axis values",
        "default": None,
    },
    "risk": {
        "description": "Which measure.",
        "type": "string",
        "reference": "scores",
        "default": "test_risk",
    },
}


@dataclass(frozen=True)
class RiskSlope(Quantity):
    """Slope of log risk in log of an axis at one n, a line through the medians over seeds."""

    learner: str
    samples: int | str = "largest"
    axis: str = "dimension"
    where: dict[str, Any] = field(default_factory=dict)
    values: list[float] | None = None
    risk: str = "test_risk"

    @property
    def learners(self) -> list[str]:
        """The learner that the quantity rests on."""
        return [self.learner]

    def measure(self, cube: xarray.Dataset, probes: dict[str, xarray.Dataset]) -> Measured:
        """cube: scores.nc of a study."""
        chosen = at(cube, self.learner, self.where | {"samples": self.samples}, (self.axis, "seed"))
        chosen = chosen.sortby(self.axis)
        risks = chosen[self.risk].values
        known = np.isfinite(risks) & (risks > 0)
        table = Complexities(
            chosen[self.axis].values, np.where(known, risks, np.nan), np.where(known, "observed", "missing")
        )
        failed = np.isin(chosen.status.values, FAILED).any()
        reason = f"{self.learner}: training failed at n = {self.samples}" if failed else ""
        return unjudged(estimates.exponent(table, None, self.values), reason)
