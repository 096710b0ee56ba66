"""How many times fewer samples a learner needs than counting allows every kernel."""

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge

from hierlearn.core.parameters import Positive
from hierlearn.quantities._bases import OfLearner, OfSampleComplexities
from hierlearn.quantities._tables import span
from hierlearn.statistics import estimates
from hierlearn.statistics.learning_curves import OBSERVED
from hierlearn.theory.dimensions import composition_sample_bound


@dataclass(frozen=True, kw_only=True)
class CountingLogRatio(OfLearner, OfSampleComplexities):
    """Mean over seeds of log(N / n*) at the largest dimension that is uncensored, k alpha^2 (1 - N / C(d, k)) = risk.

    N: the samples that every kernel needs for the risk `threshold` on the teacher residual_composition, `product`,
    averaged over the coordinates  (allenzhu2019, Theorem 3, by counting): theory.dimensions has the proof.
    """

    UNIT: ClassVar[str] = "log ratio"
    order: Annotated[int, Ge(2), "Number k of signs in the teacher's product."] = 4
    alpha: Annotated[Positive, "Factor alpha of the teacher."] = 0.3

    def _estimate(self, tables, probes) -> estimates.Measurement:
        (table,) = tables
        counts = [composition_sample_bound(self.threshold, d, self.order, self.alpha) for d in table.sizes.tolist()]
        if not all(count > 0 for count in counts):
            reason = f"nothing is counted: the zero function has a risk of {self.order * self.alpha**2:.3g}"
            return estimates.no_value(reason, table.samples.shape[1])
        every = np.broadcast_to(np.array(counts)[:, None], table.samples.shape)
        bound = replace(table, samples=every, status=np.full(table.status.shape, OBSERVED))
        ratio = estimates.paired_log_ratio(bound, table)
        return replace(ratio, sizes=span("dimension", [ratio.detail["size"]] if "size" in ratio.detail else []))
