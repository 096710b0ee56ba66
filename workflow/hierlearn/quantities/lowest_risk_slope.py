"""How several errors of a learner fall along an axis: the smallest of the slopes."""

from dataclasses import dataclass, field
from typing import Annotated

from annotated_types import MinLen

from hierlearn.core.parameters import Reference
from hierlearn.core.protocols import Dataset, Probes
from hierlearn.quantities._bases import OfRisksAlongAxis
from hierlearn.quantities._lowest import lowest
from hierlearn.quantities._parameters import Coordinates, Samples
from hierlearn.statistics import estimates
from hierlearn.statistics.complexity import where_positive


@dataclass(frozen=True, kw_only=True)
class LowestRiskSlope(OfRisksAlongAxis):
    """Smallest of the slopes of some measures, each as `risk_slope`: log measure in log of an axis at one n.

    Interval: see `quantities._lowest`.
    """

    samples: Samples
    risks: Annotated[list[str], MinLen(1), Reference("scores"), "The measures."]
    where: Coordinates = field(default_factory=dict)

    def measure(self, cube: Dataset, probes: Probes) -> estimates.Measurement:
        """cube: scores.nc of a study. A training that failed leaves no interval."""
        chosen = self.cells(cube)
        tables = [where_positive(chosen[self.axis].values, chosen[risk].values) for risk in self.risks]

        def slopes(level: float) -> list[estimates.Measurement]:
            return [estimates.exponent(table, None, self.values, level) for table in tables]

        return self.sound(lowest(slopes, self.risks), chosen)
