"""How the risk of a learner at one number of samples changes along an axis."""

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from hierlearn.core.parameters import Count, Reference
from hierlearn.quantities._bases import OfRisksAlongAxis
from hierlearn.statistics import estimates
from hierlearn.statistics.complexity import where_positive


@dataclass(frozen=True, kw_only=True)
class RiskSlope(OfRisksAlongAxis):
    """Slope of log risk, or of the log of what the risk lacks to 1, in log of an axis at one n, a line through the
    medians over seeds."""

    UNIT: ClassVar[str] = "slope"
    samples: Annotated[
        Count | Literal["largest"],
        Reference("samples"),
        "Number of labelled samples n; largest: at every place the largest that was trained.",
    ] = "largest"
    where: Annotated[
        dict[str, Any],
        Reference("paired coordinates"),
        "Values of the other axes; a list goes along with the axis, one value for each of its values.",
    ] = field(default_factory=dict)
    risk: Annotated[str, Reference("scores"), "Which measure."] = "test_risk"
    explained: Annotated[bool, "Take 1 - risk, the explained part of the target, in its place."] = False

    def _estimate(self, cells) -> estimates.Measurement:
        risks = 1.0 - cells[self.risk].values if self.explained else cells[self.risk].values
        return estimates.exponent(where_positive(cells[self.axis].values, risks), fitted=self.values)
