"""How a probe's variable grows along one of its coordinates."""

from dataclasses import dataclass
from typing import ClassVar

from hierlearn.quantities._bases import AlongProbe
from hierlearn.quantities._tables import line_along
from hierlearn.statistics import estimates


@dataclass(frozen=True, kw_only=True)
class ProbeSlope(AlongProbe):
    """Slope of log variable on log axis, a line through the medians over seeds."""

    UNIT: ClassVar[str] = "slope"

    def _estimate(self, probe) -> estimates.Measurement:
        return line_along(self.axis, estimates.exponent(self.positive_values(probe), fitted=self.values))
