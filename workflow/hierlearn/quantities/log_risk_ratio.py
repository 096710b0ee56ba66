"""How much larger the risk of one learner is than that of another, at one number of samples."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from hierlearn.core.parameters import Reference
from hierlearn.quantities._bases import AtSamples, OfTwoLearners
from hierlearn.statistics import estimates
from hierlearn.statistics.estimates import Measurement

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class LogRiskRatio(OfTwoLearners, AtSamples):
    """Mean over seeds of log(risk_above / risk_below) at one n, with a t-interval; paired, since seeds share data."""

    above_where: Annotated[
        dict[str, Any],
        Reference("some coordinates"),
        "Values of coordinates for the learner above, beside or in place of those in `where`.",
    ] = field(default_factory=dict)
    below_where: Annotated[dict[str, Any], Reference("some coordinates"), "The same for the learner below."] = field(
        default_factory=dict
    )
    risk: Annotated[str, Reference("scores"), "Which measure is compared."] = "test_risk"

    def measure(self, cube: "xarray.Dataset", probes: "dict[str, xarray.Dataset]") -> Measurement:
        """cube: scores.nc of a study. A cell without a risk, or of a failed training, leaves no interval."""
        above = self.cells(cube, self.above, self.above_where)
        below = self.cells(cube, self.below, self.below_where)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.log(above[self.risk].values / below[self.risk].values)
        return self.sound(estimates.mean(ratios), cube, above, below)
