"""The mean over seeds of what a learner scored, or of its logarithm."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from hierlearn.core.parameters import Reference
from hierlearn.core.protocols import Quantity
from hierlearn.quantities._parameters import Learner, Log, Place, PositiveValues, Samples
from hierlearn.quantities._sizes import at_place
from hierlearn.quantities._tables import by_seed, mean_of, without_interval
from hierlearn.statistics.estimates import Measurement

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class ScoreMean(Quantity):
    """Mean over seeds of a score at one place, or of its natural logarithm, with a t-interval."""

    learner: Learner
    samples: Samples
    variable: Annotated[str, Reference("scores"), "A variable of scores.nc."] = "test_risk"
    where: Place = field(default_factory=dict)
    lowest_over: Annotated[
        str | None,
        Reference("axis"),
        "An axis or swept parameter over whose values the smallest counts, for every seed.",
    ] = None
    log: Log = False
    positive: PositiveValues = False

    @property
    def learners(self) -> list[str]:
        """The learner that the quantity rests on."""
        return [self.learner]

    def measure(self, cube: "xarray.Dataset", probes: "dict[str, xarray.Dataset]") -> Measurement:
        """cube: scores.nc of a study. A cell without a value, or of a failed training, leaves no interval."""
        here = self.where | {"samples": self.samples}
        values, failed = by_seed(cube, self.learner, here, self.variable, self.lowest_over)
        measured = at_place(mean_of(values, self.log, self.positive), cube, self.where, self.samples)
        return without_interval(measured, f"{self.learner}: training failed at n = {self.samples}" if failed else "")
