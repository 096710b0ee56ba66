"""The mean over seeds of a probe's variable, or of a ratio of two."""

from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar

import numpy as np

from hierlearn.core.parameters import Reference
from hierlearn.quantities._bases import Log, OfProbe, PositiveValues
from hierlearn.quantities._tables import at_place, mean_of, over_seeds
from hierlearn.statistics.estimates import Measurement


@dataclass(frozen=True, kw_only=True)
class ProbeMean(OfProbe):
    """Mean over seeds of a variable, of its ratio to another, or of the logarithm, with a t-interval."""

    UNIT: ClassVar[str] = "{averaged}"
    variable: Annotated[str, Reference("probe measures"), "Its variable."]
    over: Annotated[
        str | None, Reference("probe measures"), "Variable that it is divided by, seed by seed; null: none."
    ] = None
    log: Log = False
    positive: PositiveValues = False
    least: Annotated[float | None, "What no mean can be below; it and its interval end there. null: nothing."] = None
    most: Annotated[float | None, "What no mean can be above."] = None
    where: Annotated[dict[str, Any], Reference("probe place"), "Values of the coordinates."] = field(
        default_factory=dict
    )

    def _estimate(self, probe) -> Measurement:
        values = over_seeds(probe, self.variable, self.where)
        if self.over is not None:
            values = values / over_seeds(probe, self.over, self.where)
        mean = mean_of(values, self.log, self.positive)
        limits = (-np.inf if self.least is None else self.least), (np.inf if self.most is None else self.most)
        value, low, high = np.clip([mean.value, mean.low, mean.high], *limits).tolist()
        return at_place(replace(mean, value=value, low=low, high=high), probe, self.where)
