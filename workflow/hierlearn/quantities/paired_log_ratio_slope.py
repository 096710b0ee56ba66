"""How the ratio of two sample complexities grows with the dimension."""

from dataclasses import dataclass

from hierlearn.core.protocols import Dataset, Probes
from hierlearn.quantities._bases import OfSampleComplexities, OfTwoLearners
from hierlearn.quantities._parameters import FittedDimensions
from hierlearn.quantities._sizes import line_along
from hierlearn.statistics import estimates


@dataclass(frozen=True, kw_only=True)
class PairedLogRatioSlope(OfTwoLearners, OfSampleComplexities):
    """Slope of log(n*_above / n*_below), paired by seed, in log d."""

    sizes: FittedDimensions = None

    def measure(self, cube: Dataset, probes: Probes) -> estimates.Measurement:
        """cube: scores.nc of a study; probes: its probes by name."""
        tables = self.sample_complexities(cube)
        line = estimates.exponent_difference(*tables, fitted=self.sizes)
        return self.sound(line_along("dimension", line), cube, tables)
