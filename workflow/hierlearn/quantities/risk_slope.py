"""How the risk of a learner at one number of samples changes along an axis."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from hierlearn.core.parameters import Count, Reference
from hierlearn.quantities._bases import OfLearner
from hierlearn.quantities._sizes import fitted_along
from hierlearn.quantities._tables import FAILED, at, without_interval
from hierlearn.statistics import estimates
from hierlearn.statistics.complexity import where_positive
from hierlearn.statistics.estimates import Measurement

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class RiskSlope(OfLearner):
    """Slope of log risk, or of the log of what the risk lacks to 1, in log of an axis at one n, a line through the
    medians over seeds."""

    samples: Annotated[
        Count | Literal["largest"],
        Reference("samples"),
        "Number of labelled samples n; largest: at every place the largest that was trained.",
    ] = "largest"
    axis: Annotated[str, Reference("axis"), "The axis or swept parameter."] = "dimension"
    where: Annotated[
        dict[str, Any],
        Reference("paired coordinates"),
        "Values of the other axes; a list goes along with the axis, one value for each of its values.",
    ] = field(default_factory=dict)
    values: Annotated[
        list[float] | None,
        Reference("axis values"),
        "Values of the axis that the line is fitted to, named before the run; null: all.",
    ] = None
    risk: Annotated[str, Reference("scores"), "Which measure."] = "test_risk"
    explained: Annotated[bool, "Take 1 - risk, the explained part of the target, in its place."] = False

    def measure(self, cube: "xarray.Dataset", probes: "dict[str, xarray.Dataset]") -> Measurement:
        """cube: scores.nc of a study."""
        chosen = at(cube, self.learner, self.where | {"samples": self.samples}, (self.axis, "seed")).sortby(self.axis)
        risks = 1.0 - chosen[self.risk].values if self.explained else chosen[self.risk].values
        line = estimates.exponent(where_positive(chosen[self.axis].values, risks), fitted=self.values)
        failed = np.isin(chosen.status.values, FAILED).any()
        reason = f"{self.learner}: training failed at n = {self.samples}" if failed else ""
        return without_interval(fitted_along(self.axis, line), reason)
