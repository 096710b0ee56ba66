"""How many times more samples one learner needs than another."""

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np

from hierlearn.core.protocols import Dataset, Probes
from hierlearn.quantities._bases import OfSampleComplexities, OfTwoLearners
from hierlearn.quantities._tables import add_notes, doubts, span, without_interval
from hierlearn.statistics import estimates
from hierlearn.statistics.learning_curves import OBSERVED, RIGHT_CENSORED


@dataclass(frozen=True, kw_only=True)
class PairedLogRatio(OfTwoLearners, OfSampleComplexities):
    """Mean over seeds of log(n*_above / n*_below) at the largest dimension that is uncensored for both."""

    UNIT: ClassVar[str] = "log ratio"
    lower_bound: Annotated[
        bool,
        "n* of the learner above counts as its cap where it lies beyond, so that the ratio is a lower bound: how large "
        "it is stays open.",
    ] = False

    def _estimate(self, tables, probes) -> estimates.Measurement:
        above, below = tables
        if self.lower_bound:
            above = replace(above, status=np.where(above.status == RIGHT_CENSORED, OBSERVED, above.status))
        ratio = estimates.paired_log_ratio(above, below)
        return replace(ratio, sizes=span("dimension", [ratio.detail["size"]] if "size" in ratio.detail else []))

    def measure(self, cube: Dataset, probes: Probes) -> estimates.Measurement:
        """cube: scores.nc of a study; probes: its probes by name."""
        above, _ = tables = self.sample_complexities(cube)
        failed = [doubts(cube, name, self.where, one)[0] for name, one in zip(self.learners, tables, strict=True)]
        ratio = self._estimate(tables, probes)
        at_cap = np.sum(above.status[above.sizes == ratio.detail.get("size", np.nan)] == RIGHT_CENSORED)
        note = f"a lower bound: {self.above} has not crossed at its cap, {at_cap} seed(s)" if at_cap else ""
        return replace(add_notes(without_interval(ratio, *failed), note), bound=bool(at_cap))
