"""How a sample complexity grows with the length of the direction that a target hides."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hierlearn.core.parameters import Count, Reference
from hierlearn.quantities._bases import OfLearner, OfSampleComplexities
from hierlearn.statistics import estimates
from hierlearn.theory.stretched_spheres import leading_moment


@dataclass(frozen=True, kw_only=True)
class DirectionSlope(OfLearner, OfSampleComplexities):
    """Slope of log n* in log |beta|^-2, |beta| the length at which the target <beta, x>^p has an L2 norm of 1.

    Along the share of the second moment that the anisotropic sphere has in the direction beta, its only spike:
    |beta|^-2 = (E t^{2p})^{1/p}, t = x_1, less where the inputs hardly vary. A bound that grows as
    |beta|^{2 ceil(p/2)} (chen2020, Theorem 2) has the slope -ceil(p/2).
    """

    UNIT: ClassVar[str] = "slope"
    degree: Annotated[Count, "Degree p of the target."] = 2
    axis: Annotated[str, Reference("axis"), "The axis of the shares."] = "spike_share"

    def _estimate(self, tables, probes) -> estimates.Measurement:
        (table,) = tables
        dimension = int(self.where["dimension"])
        moments = [leading_moment(dimension, 1, share, 2 * self.degree) for share in table.sizes]
        return estimates.exponent(table, np.power(moments, 1 / self.degree))
