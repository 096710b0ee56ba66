"""How fast the least number of points grows from which counting allows a kernel a risk."""

from dataclasses import dataclass, replace
from math import comb
from typing import Annotated

import numpy as np
from annotated_types import Ge, MinLen

from hierlearn.core.parameters import Positive
from hierlearn.core.protocols import Dataset, Probes, Quantity
from hierlearn.quantities._tables import line_along
from hierlearn.statistics import estimates
from hierlearn.statistics.complexity import where_positive


@dataclass(frozen=True, kw_only=True)
class CountingExponent(Quantity):
    """Slope in log d of log N, where k alpha^2 (1 - N / C(d, k)) = risk  (allenzhu2019, Theorem 3, by counting).

    Every kernel needs so many points for that risk on the teacher residual_composition, `product`, averaged over the
    coordinates: theory.dimensions has the proof. No learner is trained and there are no seeds; the interval is that of
    the line's own curvature.
    """

    sizes: Annotated[list[Annotated[int, Ge(2)]], MinLen(3), "Dimensions that the line is fitted to."]
    risk: Annotated[Positive, "Risk that is allowed, in the teacher's own units."]
    order: Annotated[int, Ge(2), "Number k of signs in the teacher's product."] = 4
    alpha: Annotated[Positive, "Factor alpha of the teacher."] = 0.3

    def measure(self, cube: Dataset, probes: Probes) -> estimates.Measurement:
        """A risk that the zero function has already, and a dimension below the order, leave no interval."""
        share = 1.0 - self.risk / (self.order * self.alpha**2)
        if share <= 0 or min(self.sizes) < self.order:
            why = f"every risk up to {self.order * self.alpha**2:.3g} binds" if share <= 0 else "d is below k"
            return estimates.Measurement(np.nan, np.nan, np.nan, f"nothing is counted: {why}", 0)
        counts = np.array([[share * comb(d, self.order)] for d in self.sizes])
        table = where_positive(np.array(self.sizes), counts)
        return line_along("dimension", replace(estimates.exponent(table), seeds=0))
