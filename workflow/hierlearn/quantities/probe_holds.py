"""An inequality between two variables of a probe, case by case."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray

from hierlearn.core.protocols import Quantity
from hierlearn.quantities._probes import measured
from hierlearn.statistics import estimates
from hierlearn.statistics.estimates import Measured

PARAMETERS = {
    "probe": {"description": "Name of the probe.", "type": "string", "reference": "probes"},
    "larger": {"description": "The side that is to be larger.", "type": "string", "reference": "probe measures"},
    "smaller": {"description": "The other side.", "type": "string", "reference": "probe measures"},
    "where": {
        "description": "Coordinates that are fixed; every other place, and every seed, is a case.",
        "type": "object",
        "reference": "some probe coordinates",
        "default": {},
    },
}


@dataclass(frozen=True)
class ProbeHolds(Quantity):
    """The share of the cases in which larger >= smaller, with the least and the greatest slack ratio."""

    probe: str
    larger: str
    smaller: str
    where: dict[str, Any] = field(default_factory=dict)

    @property
    def learners(self) -> list[str]:
        """None: a probe is no learner."""
        return []

    def measure(self, cube: xarray.Dataset, probes: dict[str, xarray.Dataset]) -> Measured:
        """probes: datasets by name. A case that was not measured leaves the claim inconclusive."""
        larger = measured(probes[self.probe], self.larger, self.where)
        smaller = measured(probes[self.probe], self.smaller, self.where)
        larger, smaller = xarray.broadcast(larger, smaller)
        seeds = larger.sizes.get("seed", 0)
        return estimates.cases(np.atleast_1d(larger.values), np.atleast_1d(smaller.values), seeds)
