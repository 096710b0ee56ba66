"""How much more a probe's variable is at one place of an axis than at others."""

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from annotated_types import MinLen

from hierlearn.core.parameters import Reference
from hierlearn.quantities._bases import OfProbe, ProbeCoordinates
from hierlearn.quantities._tables import at_place, over_seeds
from hierlearn.statistics import estimates


@dataclass(frozen=True, kw_only=True)
class ProbeDifference(OfProbe):
    """Mean over seeds of variable(above) - variable(below), the lowest over the places below; paired by seed.

    So that a network is compared with the best of several kernels. Interval: see `statistics.estimates.lowest`.
    """

    UNIT: ClassVar[str] = "difference of {averaged}"
    variable: Annotated[str, Reference("probe measures"), "Its variable."]
    axis: Annotated[str, Reference("probe axis"), "Coordinate along which the places lie."]
    above: Annotated[float, Reference("probe axis values"), "Its value at the place that is to have more."]
    below: Annotated[list[float], MinLen(1), Reference("probe axis values"), "Its values at the others."]
    where: ProbeCoordinates = field(default_factory=dict)

    def _estimate(self, probe) -> estimates.Measurement:
        def at(value: float):
            return over_seeds(probe, self.variable, self.where | {self.axis: value})

        def differences(level: float) -> list[estimates.Measurement]:
            return [estimates.mean(at(self.above) - at(one), level) for one in self.below]

        found = estimates.lowest(differences, [f"{self.axis} {one:g}" for one in self.below])
        return at_place(found, probe, self.where)
