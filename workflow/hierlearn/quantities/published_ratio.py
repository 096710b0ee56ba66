"""How a risk of ours compares with the published number."""

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from hierlearn.core.parameters import Reference
from hierlearn.core.protocols import Dataset, Probes
from hierlearn.files.published import coordinates_in, number
from hierlearn.quantities._bases import OfScores
from hierlearn.statistics import estimates
from hierlearn.statistics.intervals import LEVEL, Estimate, prediction_interval


@dataclass(frozen=True, kw_only=True)
class PublishedRatio(OfScores):
    """Where a risk of ours lies, over the published one; the interval is one of prediction, or resampled.

    run: the geometric mean over seeds, and the interval in which one further run lies, as a printed number is that of
    one run and keeps its scatter however many seeds ours have. best: the central 95 % of the smallest of S seeds drawn
    anew, with replacement, from the S seeds, which is known without drawing: P(above the i-th smallest) = (1 - i/S)^S.
    The rule `published` compares with 1.
    """

    UNIT: ClassVar[str] = "ratio"
    published: Annotated[
        str, Reference("published"), "A table of config/published; with `lowest_over` a range counts as its lower end."
    ]
    published_where: Annotated[
        dict[str, Any],
        Reference("published place"),
        "Its coordinates that are none of ours, or other than ours; the rest are those of `where`.",
    ] = field(default_factory=dict)
    statistic: Annotated[
        Literal["run", "best"],
        "run: one further run, as the printed one is; best: the smallest risk of all seeds, if a paper prints that.",
    ] = "run"
    risk: Annotated[Literal["test_risk", "test_error", "train_risk"], "Which measure is compared."] = "test_risk"

    def measure(self, cube: Dataset, probes: Probes) -> estimates.Measurement:
        """cube: scores.nc of a study. A seed without a risk, or of a failed training, leaves no interval."""
        there = coordinates_in(self.published, self.where | {"samples": self.samples}, self.published_where)
        wanted = number(self.published, there, self.lowest_over is not None)
        risks, cells = self.scores(cube, self.risk)
        ratios = risks / wanted
        unknown = int(np.sum(~(np.isfinite(ratios) & (ratios > 0))))
        if unknown:
            return estimates.no_value(f"{unknown} of {len(ratios)} seeds without a positive risk", len(ratios))
        ratio = (best if self.statistic == "best" else prediction_interval)(ratios)
        detail = {"published": wanted, "place": self.published["place"], "risks": (ratios * wanted).tolist()}
        return self.sound(estimates.of_estimate(ratio, len(ratios), detail, positive=True), cube, cells)


def best(ratios: np.ndarray) -> Estimate:
    """The smallest ratio. ratios: (S,), positive."""
    ordered, count = np.sort(ratios), len(ratios)
    if count < 2:
        return Estimate(float(ordered[0]), np.nan, np.nan, f"{count} value(s): no interval from fewer than 2")
    above = (1 - np.arange(1, count + 1) / count) ** count
    tail = (1 - LEVEL) / 2
    low, high = (ordered[np.flatnonzero(above <= 1 - part)[0]] for part in (tail, 1 - tail))
    return Estimate(float(ordered[0]), float(low), float(high))
