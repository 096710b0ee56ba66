"""How several errors of a learner fall along an axis: the smallest of the slopes."""

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from annotated_types import MinLen

from hierlearn.core.parameters import Reference
from hierlearn.quantities._bases import Coordinates, OfRisksAlongAxis, Samples
from hierlearn.statistics import estimates
from hierlearn.statistics.complexity import where_positive


@dataclass(frozen=True, kw_only=True)
class LowestRiskSlope(OfRisksAlongAxis):
    """Smallest of the slopes of some measures, each as `risk_slope`: log measure in log of an axis at one n.

    Interval: see `statistics.estimates.lowest`.
    """

    UNIT: ClassVar[str] = "slope"
    samples: Samples
    risks: Annotated[list[str], MinLen(1), Reference("scores"), "The measures."]
    where: Coordinates = field(default_factory=dict)

    def _estimate(self, cells) -> estimates.Measurement:
        tables = [where_positive(cells[self.axis].values, cells[risk].values) for risk in self.risks]

        def slopes(level: float) -> list[estimates.Measurement]:
            return [estimates.exponent(table, None, self.values, level) for table in tables]

        return estimates.lowest(slopes, self.risks)
