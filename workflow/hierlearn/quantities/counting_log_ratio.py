"""How many times fewer samples a learner needs than counting allows every kernel."""

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge

from hierlearn.core.parameters import Positive
from hierlearn.quantities._bases import OfLearner, OfSampleComplexities
from hierlearn.quantities._tables import span
from hierlearn.statistics import estimates
from hierlearn.statistics.complexity import observes_every_seed
from hierlearn.theory.dimensions import composition_sample_bound


@dataclass(frozen=True, kw_only=True)
class CountingLogRatio(OfLearner, OfSampleComplexities):
    """Mean over seeds of log(N / n*) at the largest dimension at which every seed is observed.

    N solves k alpha^2 (1 - N / C(d, k)) = `threshold`: the samples that every kernel needs for that risk on the teacher
    residual_composition, `product`, averaged over the coordinates (allenzhu2019, Theorem 3, by counting);
    theory.dimensions has the proof. The threshold is in the target's own units, which risks have with `scale: paper`.
    """

    UNIT: ClassVar[str] = "log ratio"
    order: Annotated[int, Ge(2), "Number k of signs in the teacher's product."] = 4
    alpha: Annotated[Positive, "Factor alpha of the teacher."] = 0.3

    def _estimate(self, tables, probes) -> estimates.Measurement:
        (table,) = tables
        seeds = table.samples.shape[1]
        whole = np.flatnonzero(observes_every_seed(table) & (table.sizes >= self.order))
        if not len(whole):
            return estimates.no_value(f"no dimension from k = {self.order} on at which every seed is observed", seeds)
        size = table.sizes[whole[-1]].item()
        count = composition_sample_bound(self.threshold, size, self.order, self.alpha)
        if not count > 0:
            reason = f"nothing is counted: the zero function has a risk of {self.order * self.alpha**2:.3g}"
            return estimates.no_value(reason, seeds)
        ratio = estimates.mean(np.log(count / table.samples[whole[-1]]))
        return replace(ratio, detail={"size": size}, sizes=span("dimension", [size]))
