"""The lowest among several learners of the mean over seeds of a score."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import numpy as np
from annotated_types import MinLen

from hierlearn.core.parameters import Reference
from hierlearn.core.protocols import Quantity
from hierlearn.quantities._lowest import lowest
from hierlearn.quantities._parameters import Log, Place, PositiveValues, Samples
from hierlearn.quantities._sizes import at_place
from hierlearn.quantities._tables import FAILED, at, mean_of, without_interval
from hierlearn.statistics.estimates import Measurement

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class LowestScoreMean(Quantity):
    """Lowest of the means over seeds that `score_mean` has for each of some learners, as of the best kernel at one n.

    Interval: see `quantities._lowest`.
    """

    predictors: Annotated[list[str], MinLen(1), Reference("learners"), "Names of the learners."]
    samples: Samples
    where: Place = field(default_factory=dict)
    variable: Annotated[str, Reference("scores"), "A variable of scores.nc."] = "test_risk"
    log: Log = False
    positive: PositiveValues = False

    @property
    def learners(self) -> list[str]:
        """The learners among which the lowest counts."""
        return list(self.predictors)

    def measure(self, cube: "xarray.Dataset", probes: "dict[str, xarray.Dataset]") -> Measurement:
        """cube: scores.nc of a study. A cell without a value, or of a failed training, leaves no interval."""
        place = dict(self.where) | {"samples": self.samples}
        cells = {name: at(cube, name, place, ("seed",)) for name in self.predictors}

        def means(level: float) -> list[Measurement]:
            return [mean_of(one[self.variable].values, self.log, self.positive, level) for one in cells.values()]

        found = at_place(lowest(means, self.predictors), cube, self.where, self.samples)
        failed = [name for name, one in cells.items() if np.isin(one.status.values, FAILED).any()]
        return without_interval(found, *(f"{name}: training failed at n = {self.samples}" for name in failed))
