"""How far a probe's variable lies above what a theory gives at the same places."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from hierlearn.core.parameters import Reference
from hierlearn.core.protocols import Quantity
from hierlearn.quantities._parameters import Probe
from hierlearn.quantities._probes import along
from hierlearn.statistics import estimates
from hierlearn.statistics.complexity import Complexities
from hierlearn.statistics.estimates import Measurement

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class ProbeTheoryRatio(Quantity):
    """Mean over the places of an axis of the median log(variable / theory), with a t-interval over the places.

    0 where the theory is exact at finite sizes. detail: every place by itself.
    """

    probe: Probe
    variable: Annotated[str, Reference("probe measures"), "Its variable, positive."]
    theory: Annotated[str, Reference("probe measures"), "The theory's, positive, the same for all seeds."]
    axis: Annotated[str, Reference("probe axis"), "Coordinate along which the two are compared."] = "dimension"
    where: Annotated[dict[str, Any], Reference("probe coordinates"), "Values of the other coordinates."] = field(
        default_factory=dict
    )
    values: Annotated[
        list[float] | None,
        Reference("probe axis values"),
        "Values of the axis that are compared, named before the run; null: all.",
    ] = None

    @property
    def learners(self) -> list[str]:
        """None: a probe is no learner."""
        return []

    def measure(self, cube: "xarray.Dataset", probes: "dict[str, xarray.Dataset]") -> Measurement:
        """probes: datasets by name. A value that is not positive and finite leaves its place out, and is said so."""
        sizes, values = along(probes[self.probe], self.variable, self.axis, self.where)
        known, theory = along(probes[self.probe], self.theory, self.axis, self.where)
        if not np.array_equal(sizes, known):
            raise ValueError(f"probe {self.probe}: {self.theory} has other values of {self.axis} than {self.variable}")
        positive = np.isfinite(values) & (values > 0)
        table = Complexities(sizes, np.where(positive, values, np.nan), np.where(positive, "observed", "missing"))
        return estimates.over_theory(table, np.median(theory, axis=1), self.values)
