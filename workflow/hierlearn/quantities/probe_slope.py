"""How a probe's variable grows along one of its coordinates."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray

from hierlearn.core.protocols import Quantity
from hierlearn.quantities._probes import along
from hierlearn.statistics import estimates
from hierlearn.statistics.complexity import Complexities
from hierlearn.statistics.estimates import Measured

PARAMETERS = {
    "probe": {"description": "Name of the probe.", "type": "string", "reference": "probes"},
    "variable": {"description": "Its variable, positive.", "type": "string", "reference": "probe measures"},
    "axis": {
        "description": "Coordinate along which the variable grows.",
        "type": "string",
        "reference": "probe axis",
        "default": "dimension",
    },
    "where": {
        "description": "Values of the other coordinates.",
        "type": "object",
        "reference": "probe coordinates",
        "default": {},
    },
    "values": {
        "description": "Values of the axis that the line is fitted to, named before the run; null: all.",
        "type": ["array", "null"],
        "items": {"type": "number"},
        "reference": "probe axis values",
        "default": None,
    },
}


@dataclass(frozen=True)
class ProbeSlope(Quantity):
    """Slope of log variable on log axis, a line through the medians over seeds."""

    probe: str
    variable: str
    axis: str = "dimension"
    where: dict[str, Any] = field(default_factory=dict)
    values: list[float] | None = None

    @property
    def learners(self) -> list[str]:
        """None: a probe is no learner."""
        return []

    def measure(self, cube: xarray.Dataset, probes: dict[str, xarray.Dataset]) -> Measured:
        """probes: datasets by name. A value that is not positive and finite leaves its place out, and is said so."""
        sizes, values = along(probes[self.probe], self.variable, self.axis, self.where)
        positive = np.isfinite(values) & (values > 0)
        status = np.where(positive, "observed", "missing")
        table = Complexities(sizes, np.where(positive, values, np.nan), status)
        return estimates.exponent(table, None, self.values)
