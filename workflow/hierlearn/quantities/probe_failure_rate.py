"""How often an inequality between two variables of a probe fails for a seed."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hierlearn.quantities._bases import OfInequality
from hierlearn.quantities._sizes import over
from hierlearn.statistics import estimates
from hierlearn.statistics.estimates import Measurement

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class ProbeFailureRate(OfInequality):
    """The probability that larger >= smaller fails in some case of a seed, with the interval of Clopper and Pearson.

    For statements that hold with some probability over draws: cases of one seed share its draw, seeds are independent.
    """

    def measure(self, cube: "xarray.Dataset", probes: "dict[str, xarray.Dataset]") -> Measurement:
        """probes: datasets by name. A case that was not measured leaves no interval; so does a probe without seeds."""
        sides = self.sides(probes)
        if "seed" not in sides[0].dims:
            return estimates.no_value("no seeds, and no draw that could fail", 0)
        seeds = sides[0].sizes["seed"]
        larger, smaller = (side.transpose("seed", ...).values.reshape(seeds, -1) for side in sides)
        unknown = int(np.sum(np.isnan(larger) | np.isnan(smaller)))
        if unknown:
            return estimates.no_value(f"{unknown} of {larger.size} cases not measured", seeds)
        return over(estimates.failure_rate(np.any(larger < smaller, axis=1)), sides[0])
