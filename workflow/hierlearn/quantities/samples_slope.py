"""How the risk of a learner falls with the number of samples."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import numpy as np
from annotated_types import MinLen

from hierlearn.core.parameters import Count, Reference
from hierlearn.core.protocols import Quantity
from hierlearn.quantities._parameters import Learner, Place
from hierlearn.quantities._sizes import fitted_along
from hierlearn.quantities._tables import FAILED, at, without_interval
from hierlearn.statistics import estimates
from hierlearn.statistics.complexity import Complexities
from hierlearn.statistics.estimates import Measurement

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class SamplesSlope(Quantity):
    """Slope of log risk in the log of the number of samples, a line through the medians over seeds."""

    learner: Learner
    sizes: Annotated[
        list[Count],
        MinLen(3),
        Reference("samples"),
        "Numbers of samples that the line is fitted to, named before the run.",
    ]
    where: Place = field(default_factory=dict)
    risk: Annotated[str, Reference("scores"), "Which measure."] = "test_risk"

    @property
    def learners(self) -> list[str]:
        """The learner that the quantity rests on."""
        return [self.learner]

    def measure(self, cube: "xarray.Dataset", probes: "dict[str, xarray.Dataset]") -> Measurement:
        """cube: scores.nc of a study. A training that failed at one of the sizes leaves no interval."""
        chosen = at(cube, self.learner, self.where, ("samples", "seed")).sel(samples=self.sizes).sortby("samples")
        risks = chosen[self.risk].values
        known = np.isfinite(risks) & (risks > 0)
        table = Complexities(
            chosen.samples.values, np.where(known, risks, np.nan), np.where(known, "observed", "missing")
        )
        failed = np.isin(chosen.status.values, FAILED).any()
        reason = f"{self.learner}: training failed at one of the sizes" if failed else ""
        return without_interval(fitted_along("samples", estimates.exponent(table)), reason)
