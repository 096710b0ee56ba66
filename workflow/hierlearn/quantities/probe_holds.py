"""An inequality between two variables of a probe, case by case."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from hierlearn.core.parameters import Reference
from hierlearn.core.protocols import Quantity
from hierlearn.quantities._parameters import Probe
from hierlearn.quantities._probes import variable_at
from hierlearn.statistics import estimates
from hierlearn.statistics.estimates import Measurement

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class ProbeHolds(Quantity):
    """The share of the cases in which larger >= smaller, with the least and the greatest slack ratio."""

    probe: Probe
    larger: Annotated[str, Reference("probe measures"), "The side that is to be larger."]
    smaller: Annotated[str, Reference("probe measures"), "The other side."]
    where: Annotated[
        dict[str, Any],
        Reference("some probe coordinates"),
        "Coordinates that are fixed; every other place, and every seed, is a case.",
    ] = field(default_factory=dict)

    @property
    def learners(self) -> list[str]:
        """None: a probe is no learner."""
        return []

    def measure(self, cube: "xarray.Dataset", probes: "dict[str, xarray.Dataset]") -> Measurement:
        """probes: datasets by name. A case that was not measured leaves the claim inconclusive."""
        import xarray

        larger = variable_at(probes[self.probe], self.larger, self.where)
        smaller = variable_at(probes[self.probe], self.smaller, self.where)
        larger, smaller = xarray.broadcast(larger, smaller)
        seeds = larger.sizes.get("seed", 0)
        return estimates.cases(np.atleast_1d(larger.values), np.atleast_1d(smaller.values), seeds)
