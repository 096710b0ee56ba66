"""How much more one learner scores than another, at one number of samples."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from hierlearn.core.parameters import Reference
from hierlearn.core.protocols import Quantity
from hierlearn.quantities._parameters import Place, Samples
from hierlearn.quantities._sizes import at_place
from hierlearn.quantities._tables import FAILED, at, without_interval
from hierlearn.statistics import estimates
from hierlearn.statistics.estimates import Measurement

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class ScoreDifference(Quantity):
    """Mean over seeds of score_above - score_below at one n, with a t-interval; paired, since seeds share data."""

    above: Annotated[str, Reference("learners"), "Learner from whose score is taken."]
    below: Annotated[str, Reference("learners"), "Learner whose score is taken away."]
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
    variable: Annotated[str, Reference("scores"), "A variable of scores.nc."] = "test_accuracy"

    @property
    def learners(self) -> list[str]:
        """The learners that the quantity rests on."""
        return [self.above, self.below]

    def measure(self, cube: "xarray.Dataset", probes: "dict[str, xarray.Dataset]") -> Measurement:
        """cube: scores.nc of a study. A cell without a score, or of a failed training, leaves no interval."""
        values, failed = [], []
        for learner, here in ((self.above, self.above_where), (self.below, self.below_where)):
            chosen = at(cube, learner, self.where | here | {"samples": self.samples}, ("seed",))
            values.append(chosen[self.variable].values)
            if np.isin(chosen.status.values, FAILED).any():
                failed.append(f"{learner}: training failed at n = {self.samples}")
        differences = values[0] - values[1]
        return without_interval(at_place(estimates.mean(differences), cube, self.where, self.samples), *failed)
