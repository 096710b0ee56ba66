"""The mean over seeds of a probe's variable, or of a ratio of two."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray

from hierlearn.core.protocols import Quantity
from hierlearn.quantities._probes import pooled
from hierlearn.statistics import estimates
from hierlearn.statistics.estimates import Measured

PARAMETERS = {
    "probe": {"description": "Name of the probe.", "type": "string", "reference": "probes"},
    "variable": {"description": "Its variable.", "type": "string", "reference": "probe measures"},
    "over": {
        "description": "Variable that it is divided by, seed by seed; null: none.",
        "type": ["string", "null"],
        "reference": "probe measures",
        "default": None,
    },
    "log": {"description": "Whether the natural logarithm is averaged.", "type": "boolean", "default": False},
    "where": {
        "description": "Values of the coordinates.",
        "type": "object",
        "reference": "probe place",
        "default": {},
    },
}


@dataclass(frozen=True)
class ProbeMean(Quantity):
    """Mean over seeds of a variable, of its ratio to another, or of the logarithm, with a t-interval."""

    probe: str
    variable: str
    over: str | None = None
    log: bool = False
    where: dict[str, Any] = field(default_factory=dict)

    @property
    def learners(self) -> list[str]:
        """None: a probe is no learner."""
        return []

    def measure(self, cube: xarray.Dataset, probes: dict[str, xarray.Dataset]) -> Measured:
        """probes: datasets by name. A logarithm of what is not positive leaves no interval."""
        values = pooled(probes[self.probe], self.variable, self.where)
        if self.over is not None:
            values = values / pooled(probes[self.probe], self.over, self.where)
        if self.log:
            values = np.log(np.where(values > 0, values, np.nan))
        return estimates.mean(values)
