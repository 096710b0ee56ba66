"""How often an inequality between two variables of a probe fails for a seed."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from hierlearn.core.parameters import Reference
from hierlearn.core.protocols import Quantity
from hierlearn.quantities._parameters import Probe
from hierlearn.quantities._probes import variable_at
from hierlearn.quantities._sizes import over
from hierlearn.statistics import intervals
from hierlearn.statistics.estimates import Measurement

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class ProbeFailureRate(Quantity):
    """The probability that larger >= smaller fails in some case of a seed, with the interval of Clopper and Pearson.

    For statements that hold with some probability over draws: cases of one seed share its draw, seeds are independent.
    """

    probe: Probe
    larger: Annotated[str, Reference("probe measures"), "The side that is to be larger."]
    smaller: Annotated[str, Reference("probe measures"), "The other side."]
    where: Annotated[
        dict[str, Any], Reference("some probe coordinates"), "Coordinates that are fixed; all others are cases."
    ] = field(default_factory=dict)

    @property
    def learners(self) -> list[str]:
        """None: a probe is no learner."""
        return []

    def measure(self, cube: "xarray.Dataset", probes: "dict[str, xarray.Dataset]") -> Measurement:
        """probes: datasets by name. A case that was not measured leaves no interval; so does a probe without seeds."""
        import xarray

        sides = [variable_at(probes[self.probe], name, self.where) for name in (self.larger, self.smaller)]
        larger, smaller = xarray.broadcast(*sides)
        if "seed" not in larger.dims:
            return Measurement(np.nan, np.nan, np.nan, "no seeds, and no draw that could fail", 0)
        seeds = larger.sizes["seed"]
        cases = [side.transpose("seed", ...).values.reshape(seeds, -1) for side in (larger, smaller)]
        unknown = int(np.sum(np.isnan(cases[0]) | np.isnan(cases[1])))
        if unknown:
            return Measurement(np.nan, np.nan, np.nan, f"{unknown} of {cases[0].size} cases not measured", seeds)
        failed = int(np.sum(np.any(cases[0] < cases[1], axis=1)))
        found = intervals.failure_rate(failed, seeds)
        reason = f"{failed} of {seeds} seeds"
        measured = Measurement(found.value, found.low, found.high, reason, seeds, {"failures": failed})
        return over(measured, larger)
