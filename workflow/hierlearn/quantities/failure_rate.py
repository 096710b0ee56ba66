"""How often a learner fails."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import numpy as np

from hierlearn.core.parameters import Positive, Reference
from hierlearn.core.protocols import Quantity
from hierlearn.quantities._parameters import Learner, Place, Samples
from hierlearn.quantities._sizes import at_place
from hierlearn.quantities._tables import FAILED, at
from hierlearn.statistics import intervals
from hierlearn.statistics.estimates import Measurement

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class FailureRate(Quantity):
    """The probability that the risk at one n stays above a level, with the exact interval of Clopper and Pearson.

    Seeds draw teacher, points and start, so that they are independent trials. A training that failed is a failure.
    """

    learner: Learner
    samples: Samples
    level: Annotated[Positive, "Risk above which a seed has failed."]
    where: Place = field(default_factory=dict)
    risk: Annotated[str, Reference("scores"), "Which measure is compared with the level."] = "test_risk"

    @property
    def learners(self) -> list[str]:
        """The learners that the quantity rests on."""
        return [self.learner]

    def measure(self, cube: "xarray.Dataset", probes: "dict[str, xarray.Dataset]") -> Measurement:
        """cube: scores.nc of a study. A seed that was not trained leaves no interval."""
        chosen = at(cube, self.learner, self.where | {"samples": self.samples}, ("seed",))
        risk, broken = chosen[self.risk].values, np.isin(chosen.status.values, FAILED)
        unknown = int(np.sum(np.isnan(risk) & ~broken))
        if unknown:
            return Measurement(np.nan, np.nan, np.nan, f"{unknown} of {len(risk)} seeds not measured", len(risk))
        failed = broken | (np.nan_to_num(risk, nan=np.inf) > self.level)
        found = intervals.failure_rate(int(failed.sum()), len(failed))
        reason = f"{failed.sum()} of {len(failed)} seeds"
        detail = {"failures": int(failed.sum())}
        measured = Measurement(found.value, found.low, found.high, reason, len(failed), detail)
        return at_place(measured, chosen, self.where, self.samples)
