"""How a probe's variable grows along one of its coordinates."""

from dataclasses import dataclass

from hierlearn.core.protocols import Dataset, Probes
from hierlearn.quantities._bases import AlongProbe
from hierlearn.quantities._tables import line_along
from hierlearn.statistics import estimates


@dataclass(frozen=True, kw_only=True)
class ProbeSlope(AlongProbe):
    """Slope of log variable on log axis, a line through the medians over seeds."""

    def measure(self, cube: Dataset, probes: Probes) -> estimates.Measurement:
        """probes: datasets by name. A value that is not positive and finite leaves its place out, and is said so."""
        line = estimates.exponent(self.positive_values(probes), fitted=self.values)
        return line_along(self.axis, line)
