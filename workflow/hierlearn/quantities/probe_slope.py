"""How a probe's variable grows along one of its coordinates."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from hierlearn.core.parameters import Reference
from hierlearn.core.protocols import Quantity
from hierlearn.quantities._parameters import Probe
from hierlearn.quantities._probes import along
from hierlearn.quantities._sizes import fitted_along
from hierlearn.statistics import estimates
from hierlearn.statistics.complexity import Complexities
from hierlearn.statistics.estimates import Measurement

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class ProbeSlope(Quantity):
    """Slope of log variable on log axis, a line through the medians over seeds."""

    probe: Probe
    variable: Annotated[str, Reference("probe measures"), "Its variable, positive."]
    axis: Annotated[str, Reference("probe axis"), "Coordinate along which the variable grows."] = "dimension"
    where: Annotated[dict[str, Any], Reference("probe coordinates"), "Values of the other coordinates."] = field(
        default_factory=dict
    )
    values: Annotated[
        list[float] | None,
        Reference("probe axis values"),
        "Values of the axis that the line is fitted to, named before the run; null: all.",
    ] = None

    @property
    def learners(self) -> list[str]:
        """None: a probe is no learner."""
        return []

    def measure(self, cube: "xarray.Dataset", probes: "dict[str, xarray.Dataset]") -> Measurement:
        """probes: datasets by name. A value that is not positive and finite leaves its place out, and is said so."""
        sizes, values = along(probes[self.probe], self.variable, self.axis, self.where)
        positive = np.isfinite(values) & (values > 0)
        status = np.where(positive, "observed", "missing")
        table = Complexities(sizes, np.where(positive, values, np.nan), status)
        return fitted_along(self.axis, estimates.exponent(table, None, self.values))
