"""How many times more samples one learner needs than another."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from hierlearn.core.protocols import Quantity
from hierlearn.quantities._parameters import Above, Below, Coordinates, Threshold
from hierlearn.quantities._sizes import span
from hierlearn.quantities._tables import add_notes, complexities, failures, without_interval
from hierlearn.statistics import estimates
from hierlearn.statistics.estimates import Measurement
from hierlearn.statistics.learning_curves import OBSERVED, RIGHT_CENSORED

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class PairedLogRatio(Quantity):
    """Mean over seeds of log(n*_above / n*_below) at the largest dimension that is uncensored for both."""

    above: Above
    below: Below
    where: Coordinates = field(default_factory=dict)
    threshold: Threshold = 0.5
    lower_bound: Annotated[
        bool,
        "n* of the learner above counts as its cap where it lies beyond, so that the ratio is a lower bound: for rules "
        "that only ask whether it is large, `ordering` and `lower`.",
    ] = False

    @property
    def learners(self) -> list[str]:
        """The learners that the quantity rests on."""
        return [self.above, self.below]

    def measure(self, cube: "xarray.Dataset", probes: "dict[str, xarray.Dataset]") -> Measurement:
        """cube: scores.nc of a study; probes: its probes by name."""
        above, below = (complexities(cube, name, self.where, self.threshold) for name in self.learners)
        failed = [failures(cube, name, self.where, t) for name, t in zip(self.learners, (above, below), strict=True)]
        beyond = above.status == RIGHT_CENSORED
        if self.lower_bound:
            above = replace(above, status=np.where(beyond, OBSERVED, above.status))
        measured = estimates.paired_log_ratio(above, below)
        used = [measured.detail["size"]] if "size" in measured.detail else []
        measured = replace(measured, sizes=span("dimension", used))
        at_cap = int(beyond[np.isin(above.sizes, used)].sum())
        note = f"a lower bound: {self.above} has not crossed at its cap, {at_cap} seed(s)" if at_cap else ""
        return add_notes(without_interval(measured, *failed), note)
