"""How the ratio of two sample complexities grows with the dimension."""

from dataclasses import dataclass
from typing import ClassVar

from hierlearn.quantities._bases import FittedDimensions, OfSampleComplexities, OfTwoLearners
from hierlearn.statistics import estimates


@dataclass(frozen=True, kw_only=True)
class PairedLogRatioSlope(OfTwoLearners, OfSampleComplexities):
    """Slope of log(n*_above / n*_below), paired by seed, in log d."""

    UNIT: ClassVar[str] = "slope"
    sizes: FittedDimensions = None

    def _estimate(self, tables, probes) -> estimates.Measurement:
        return estimates.exponent_difference(*tables, fitted=self.sizes)
