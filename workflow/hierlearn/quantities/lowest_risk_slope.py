"""How several errors of a learner fall along an axis: the smallest of the slopes."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from annotated_types import MinLen

from hierlearn.core.parameters import Reference
from hierlearn.core.protocols import Quantity
from hierlearn.quantities._lowest import lowest
from hierlearn.quantities._parameters import Learner, Samples
from hierlearn.quantities._sizes import fitted_along
from hierlearn.quantities._tables import FAILED, at, without_interval
from hierlearn.statistics import estimates
from hierlearn.statistics.complexity import Complexities
from hierlearn.statistics.estimates import Measurement

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class LowestRiskSlope(Quantity):
    """Smallest of the slopes of some measures, each as `risk_slope`: log measure in log of an axis at one n.

    Interval: see `quantities._lowest`.
    """

    learner: Learner
    samples: Samples
    risks: Annotated[list[str], MinLen(1), Reference("scores"), "The measures."]
    axis: Annotated[str, Reference("axis"), "The axis or swept parameter."] = "dimension"
    where: Annotated[dict[str, Any], Reference("coordinates"), "Values of the other axes."] = field(
        default_factory=dict
    )
    values: Annotated[
        list[float] | None,
        Reference("axis values"),
        "Values of the axis that the lines are fitted to, named before the run; null: all.",
    ] = None

    @property
    def learners(self) -> list[str]:
        """The learner that the quantity rests on."""
        return [self.learner]

    def measure(self, cube: "xarray.Dataset", probes: "dict[str, xarray.Dataset]") -> Measurement:
        """cube: scores.nc of a study. A training that failed leaves no interval."""
        chosen = at(cube, self.learner, self.where | {"samples": self.samples}, (self.axis, "seed")).sortby(self.axis)

        def slopes(level: float) -> list[Measurement]:
            return [estimates.exponent(self._table(chosen, risk), None, self.values, level) for risk in self.risks]

        failed = np.isin(chosen.status.values, FAILED).any()
        reason = f"{self.learner}: training failed at n = {self.samples}" if failed else ""
        return without_interval(fitted_along(self.axis, lowest(slopes, self.risks)), reason)

    def _table(self, chosen: "xarray.Dataset", risk: str) -> Complexities:
        values = chosen[risk].values
        known = np.isfinite(values) & (values > 0)
        status = np.where(known, "observed", "missing")
        return Complexities(chosen[self.axis].values, np.where(known, values, np.nan), status)
