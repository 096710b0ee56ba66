"""How a risk of ours compares with the published number."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from hierlearn.core.parameters import Reference
from hierlearn.core.protocols import Quantity
from hierlearn.files.published import coordinates_in, number
from hierlearn.quantities._parameters import Learner, Place, Samples
from hierlearn.quantities._sizes import at_place
from hierlearn.quantities._tables import by_seed, without_interval
from hierlearn.statistics.estimates import Measurement
from hierlearn.statistics.intervals import LEVEL, Estimate, prediction_interval

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class PublishedRatio(Quantity):
    """Where a risk of ours lies, over the published one; the interval is one of prediction, or resampled.

    run: the geometric mean over seeds, and the interval in which one further run lies, as a printed number is that of
    one run and keeps its scatter however many seeds ours have. best: the central 95 % of the smallest of S seeds drawn
    anew, with replacement, from the S seeds, which is known without drawing: P(above the i-th smallest) = (1 - i/S)^S.
    The rule `published` compares with 1.
    """

    published: Annotated[str, Reference("published"), "A table of config/published."]
    learner: Learner
    samples: Samples
    published_where: Annotated[
        dict[str, Any],
        Reference("published place"),
        "Its coordinates that are none of ours, or other than ours; the rest are those of `where`.",
    ] = field(default_factory=dict)
    where: Place = field(default_factory=dict)
    lowest_over: Annotated[
        str | None,
        Reference("axis"),
        "An axis or swept parameter over whose values the smallest counts, for every seed; where a range is "
        "published, it is compared with its lower end.",
    ] = None
    statistic: Annotated[
        Literal["run", "best"],
        "run: one further run, as the printed one is; best: the smallest risk of all seeds, if a paper prints that.",
    ] = "run"
    risk: Annotated[Literal["test_risk", "test_error", "train_risk"], "Which measure is compared."] = "test_risk"

    @property
    def learners(self) -> list[str]:
        """The learner that the quantity rests on."""
        return [self.learner]

    def measure(self, cube: "xarray.Dataset", probes: "dict[str, xarray.Dataset]") -> Measurement:
        """cube: scores.nc of a study. A seed without a risk, or of a failed training, leaves no interval."""
        here = self.where | {"samples": self.samples}
        there = coordinates_in(self.published, here, self.published_where)
        wanted = number(self.published, there, self.lowest_over is not None)
        risks, failed = by_seed(cube, self.learner, here, self.risk, self.lowest_over)
        ratios = risks / wanted
        detail = {"published": wanted, "place": self.published["place"], "risks": (ratios * wanted).tolist()}
        unknown = int(np.sum(~(np.isfinite(ratios) & (ratios > 0))))
        if unknown:
            reason = f"{unknown} of {len(ratios)} seeds without a positive risk"
            return Measurement(np.nan, np.nan, np.nan, reason, len(ratios))
        found = (best if self.statistic == "best" else prediction_interval)(ratios)
        measured = Measurement(found.value, found.low, found.high, found.reason, len(ratios), detail, positive=True)
        measured = at_place(measured, cube, self.where, self.samples)
        return without_interval(measured, f"{self.learner}: training failed at n = {self.samples}" if failed else "")


def best(ratios: np.ndarray) -> Estimate:
    """The smallest ratio. ratios: (S,), positive."""
    ordered, count = np.sort(ratios), len(ratios)
    if count < 2:
        return Estimate(float(ordered[0]), np.nan, np.nan, f"{count} value(s): no interval from fewer than 2")
    above = (1 - np.arange(1, count + 1) / count) ** count
    tail = (1 - LEVEL) / 2
    low, high = (ordered[np.flatnonzero(above <= 1 - part)[0]] for part in (tail, 1 - tail))
    return Estimate(float(ordered[0]), float(low), float(high))
