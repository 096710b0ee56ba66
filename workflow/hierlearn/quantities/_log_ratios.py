"""How many times more samples one learner needs than another, at one dimension."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np

from hierlearn.quantities._bases import OfSampleComplexities, OfTwoLearners
from hierlearn.quantities._tables import add_notes, span
from hierlearn.statistics.complexity import Complexities
from hierlearn.statistics.estimates import Measurement
from hierlearn.statistics.learning_curves import OBSERVED, RIGHT_CENSORED


@dataclass(frozen=True, kw_only=True)
class OfLogRatio(OfTwoLearners, OfSampleComplexities):
    """A quantity of log(n*_above / n*_below) over the seeds, at the largest dimension at which it is known."""

    UNIT: ClassVar[str] = "log ratio"
    lower_bound: Annotated[
        bool,
        "n* of the learner above counts as its cap where it lies beyond, so that the ratio is a lower bound: how large "
        "it is stays open.",
    ] = False

    @abstractmethod
    def _ratio(self, above: Complexities, below: Complexities) -> Measurement:
        """The quantity, with its size in the detail where there is one."""

    def _estimate(self, tables, probes) -> Measurement:
        """As it is where that is known at the largest size; else the cap stands for what lies beyond, a bound."""
        above, below = tables
        known = ratio = self._ratio(above, below)
        if self.lower_bound:
            capped = replace(above, status=np.where(above.status == RIGHT_CENSORED, OBSERVED, above.status))
            ratio = self._ratio(capped, below)
        size, at_cap = ratio.detail.get("size"), 0
        if size == known.detail.get("size"):
            ratio = known
        else:
            at_cap = np.sum(above.status[above.sizes == size] == RIGHT_CENSORED)
        note = f"a lower bound: {self.above} has not crossed at its cap, {at_cap} seed(s)" if at_cap else ""
        sizes = span("dimension", [] if size is None else [size])
        return replace(add_notes(ratio, note), sizes=sizes, bound=bool(at_cap))
