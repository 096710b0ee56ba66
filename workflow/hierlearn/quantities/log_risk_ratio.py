"""How much larger the risk of one learner is than that of another, at one number of samples."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from hierlearn.core.parameters import Reference
from hierlearn.core.protocols import Quantity
from hierlearn.quantities._parameters import Above, Below, Place, Samples
from hierlearn.quantities._sizes import at_place
from hierlearn.quantities._tables import FAILED, at, without_interval
from hierlearn.statistics import estimates
from hierlearn.statistics.estimates import Measurement

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class LogRiskRatio(Quantity):
    """Mean over seeds of log(risk_above / risk_below) at one n, with a t-interval; paired, since seeds share data."""

    above: Above
    below: Below
    samples: Samples
    above_where: Annotated[
        dict[str, Any],
        Reference("some coordinates"),
        "Values of coordinates for the learner above, beside or in place of those in `where`.",
    ] = field(default_factory=dict)
    below_where: Annotated[dict[str, Any], Reference("some coordinates"), "The same for the learner below."] = field(
        default_factory=dict
    )
    where: Place = field(default_factory=dict)
    risk: Annotated[str, Reference("scores"), "Which measure is compared."] = "test_risk"

    @property
    def learners(self) -> list[str]:
        """The learners that the quantity rests on."""
        return [self.above, self.below]

    def measure(self, cube: "xarray.Dataset", probes: "dict[str, xarray.Dataset]") -> Measurement:
        """cube: scores.nc of a study. A cell without a risk, or of a failed training, leaves no interval."""
        values, failed = [], []
        for learner, here in ((self.above, self.above_where), (self.below, self.below_where)):
            chosen = at(cube, learner, self.where | here | {"samples": self.samples}, ("seed",))
            values.append(chosen[self.risk].values)
            if np.isin(chosen.status.values, FAILED).any():
                failed.append(f"{learner}: training failed at n = {self.samples}")
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.log(values[0] / values[1])
        return without_interval(at_place(estimates.mean(ratios), cube, self.where, self.samples), *failed)
