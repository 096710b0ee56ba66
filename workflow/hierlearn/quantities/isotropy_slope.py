"""How the ratio of two sample complexities follows the isotropy of the inputs at one dimension."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hierlearn.core.parameters import Count, Reference
from hierlearn.quantities._bases import OfSampleComplexities, OfTwoLearners, Threshold
from hierlearn.statistics import estimates
from hierlearn.theory.stretched_spheres import leading_moment


@dataclass(frozen=True, kw_only=True)
class IsotropySlope(OfTwoLearners, OfSampleComplexities):
    """Slope of log(n*_above / n*_below), paired by seed, in the log of the inputs' largest eigenvalue.

    Along the share of Sigma that the leading directions of the anisotropic sphere have. The largest eigenvalue of the
    second moment of its points, which are of norm 1, is M_{x,op}^2, 1/d where all are equal (bai2020, Theorem 6).
    """

    UNIT: ClassVar[str] = "slope"
    spikes: Annotated[Count, "Number of leading directions, as the input has it."] = 2
    axis: Annotated[str, Reference("axis"), "The axis of the shares."] = "spike_share"
    threshold: Threshold = 0.3

    def _estimate(self, tables, probes) -> estimates.Measurement:
        above, below = tables
        dimension = int(self.where["dimension"])
        largest = [leading_moment(dimension, self.spikes, share, 2) for share in above.sizes]
        return estimates.exponent_difference(above, below, np.array(largest))
