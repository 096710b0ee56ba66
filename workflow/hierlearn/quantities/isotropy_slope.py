"""How the ratio of two sample complexities follows the isotropy of the inputs at one dimension."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from hierlearn.core.parameters import Count, Reference
from hierlearn.core.protocols import Dataset, Probes
from hierlearn.quantities._bases import OfSampleComplexities, OfTwoLearners
from hierlearn.quantities._parameters import Threshold
from hierlearn.quantities._sizes import line_along
from hierlearn.statistics import estimates
from hierlearn.theory.spectra import eigenvalues


@dataclass(frozen=True, kw_only=True)
class IsotropySlope(OfTwoLearners, OfSampleComplexities):
    """Slope of log(n*_above / n*_below), paired by seed, in the log of the inputs' largest eigenvalue.

    Along the share of the second moment that the leading directions of the anisotropic sphere have; the largest
    eigenvalue of a second moment of trace 1 is M_{x,op}^2, 1/d where all are equal (bai2020, Theorem 6).
    """

    spikes: Annotated[Count, "Number of leading directions, as the input has it."] = 2
    axis: Annotated[str, Reference("axis"), "The axis of the shares."] = "spike_share"
    threshold: Threshold = 0.3

    def measure(self, cube: Dataset, probes: Probes) -> estimates.Measurement:
        """cube: scores.nc of a study; probes: its probes by name."""
        above, below = tables = self.sample_complexities(cube)
        dimension = int(self.where["dimension"])
        largest = [eigenvalues("spiked", dimension, 1.0, self.spikes, share).max() for share in above.sizes]
        line = estimates.exponent_difference(above, below, np.array(largest))
        return self.sound(line_along(self.axis, line), cube, tables)
