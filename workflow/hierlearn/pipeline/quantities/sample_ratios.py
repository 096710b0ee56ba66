"""How many times more samples one learner needs than another, and how the ratio of two n* grows."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import MinLen

from hierlearn.core.parameters import UNIQUE, Count, Reference
from hierlearn.core.protocols import Dataset, Probes, Quantity
from hierlearn.pipeline.quantities._bases import (
    FittedDimensions,
    OfSampleComplexities,
    OfTwoLearners,
    Regressor,
    SomeCoordinates,
    Threshold,
)
from hierlearn.pipeline.quantities._tables import add_notes, at, complexities, reservations, span, without_interval
from hierlearn.statistics import estimates
from hierlearn.statistics.complexity import Complexities, bounds
from hierlearn.statistics.learning_curves import OBSERVED, RIGHT_CENSORED
from hierlearn.theory.stretched_spheres import leading_moment


@dataclass(frozen=True, kw_only=True)
class _LogRatio(OfTwoLearners, OfSampleComplexities):
    """A quantity of log(n*_above / n*_below) over the seeds, at the largest dimension at which it is known.

    ratio: of the two tables, with its size in the detail where there is one.
    """

    UNIT = "log ratio"
    ratio: ClassVar[Callable[[Complexities, Complexities], estimates.Measurement]]
    lower_bound: Annotated[
        bool,
        "n* of the learner above counts as its cap where it lies beyond, so that the ratio is a lower bound: how large "
        "it is stays open.",
    ] = False

    def _estimate(self, tables, probes) -> estimates.Measurement:
        """As it is where that is known at the largest size; else the cap stands for what lies beyond, a bound."""
        above, below = tables
        known = ratio = self.ratio(above, below)
        if self.lower_bound:
            capped = replace(above, status=np.where(above.status == RIGHT_CENSORED, OBSERVED, above.status))
            ratio = self.ratio(capped, below)
        size, at_cap = ratio.detail.get("size"), 0
        if size == known.detail.get("size"):
            ratio = known
        else:
            at_cap = np.sum(above.status[above.sizes == size] == RIGHT_CENSORED)
        note = f"a lower bound: {self.above} has not crossed at its cap, {at_cap} seed(s)" if at_cap else ""
        sizes = span("dimension", [] if size is None else [size])
        return replace(add_notes(ratio, note), sizes=sizes, bound=bool(at_cap))


@dataclass(frozen=True, kw_only=True)
class PairedLogRatio(_LogRatio):
    """Mean over seeds of log(n*_above / n*_below) at the largest dimension that is uncensored for both."""

    METHOD = "t over seeds"
    ratio = staticmethod(estimates.paired_log_ratio)


@dataclass(frozen=True, kw_only=True)
class MedianLogRatio(_LogRatio):
    """Median over seeds of log(n*_above / n*_below), by the sign test, at the largest dimension at which it is known.

    For learners of which one training in a dozen finds nothing: a mean is then unknown. It needs six seeds or more, and
    suits secondary rows: the p-value of a primary one takes its interval for that of a mean.
    """

    METHOD = "sign test"
    ratio = staticmethod(estimates.median_log_ratio)


@dataclass(frozen=True, kw_only=True)
class PairedLogRatioSlope(OfTwoLearners, OfSampleComplexities):
    """Slope of log(n*_above / n*_below), paired by seed, in log d."""

    UNIT = "slope"
    METHOD = "line through sizes"
    sizes: FittedDimensions = None

    def _estimate(self, tables, probes) -> estimates.Measurement:
        return estimates.exponent_difference(*tables, fitted=self.sizes)


@dataclass(frozen=True, kw_only=True)
class SlopeDifference(OfTwoLearners, OfSampleComplexities):
    """Slope of log n*_above minus slope of log n*_below in one regressor, with Welch's interval.

    Each line has sizes of its own: a rival that is out of reach at large sizes is compared where it can be measured.
    Over the same sizes `paired_log_ratio_slope` pairs the seeds and is narrower.
    """

    UNIT = "difference of slopes"
    METHOD = "two lines through sizes"
    above_sizes: FittedDimensions = None
    below_sizes: FittedDimensions = None
    regressor: Regressor = "dimension"

    def _estimate(self, tables, probes) -> estimates.Measurement:
        regressors = self.regressor_values(tables)
        difference = estimates.slope_difference(*tables, regressors, (self.above_sizes, self.below_sizes))
        fitted = [size for name in ("above", "below") for size in difference.detail[name]["sizes_fitted"]]
        return replace(difference, sizes=span("dimension", fitted))


@dataclass(frozen=True, kw_only=True)
class IsotropySlope(OfTwoLearners, OfSampleComplexities):
    """Slope of log(n*_above / n*_below), paired by seed, in the log of the inputs' largest eigenvalue.

    Along the share of Sigma that the leading directions of the anisotropic sphere have. The largest eigenvalue of the
    second moment of its points, which are of norm 1, is M_{x,op}^2, 1/d where all are equal (bai2020, Theorem 6).
    """

    UNIT = "slope"
    METHOD = "line through sizes"
    spikes: Annotated[Count, "Number of leading directions, as the input has it."] = 2
    axis: Annotated[str, Reference("axis"), "The axis of the shares."] = "spike_share"
    threshold: Threshold = 0.3

    def _estimate(self, tables, probes) -> estimates.Measurement:
        above, below = tables
        dimension = int(self.where["dimension"])
        largest = [leading_moment(dimension, self.spikes, share, 2) for share in above.sizes]
        return estimates.exponent_difference(above, below, np.array(largest))


@dataclass(frozen=True, kw_only=True)
class TotalSamplesLogRatio(Quantity):
    """Mean over seeds of log((n* + n0)_above / (n* + n0)_below) at one dimension, n0 chosen by each seed.

    A side is a list of learners, such as one learner on representations of several n0; each seed takes the one whose
    n* on validation points, with its n0, is smallest, and n* is then read off the test points: what chooses is not
    what is reported. A side whose choice is censored is an end, not a value: the ratio then has only a bound.
    """

    UNIT = "log ratio"
    METHOD = "t over seeds"
    READS = ("test_risk", "validation_risk", "unlabelled_samples")
    above: Annotated[list[str], MinLen(1), UNIQUE, Reference("learners"), "Learners among which each seed chooses."]
    below: Annotated[list[str], MinLen(1), UNIQUE, Reference("learners"), "The same for the denominator."]
    dimension: Annotated[Count, Reference("dimensions"), "Dimension at which the totals are compared."]
    where: SomeCoordinates = field(default_factory=dict)
    threshold: Threshold = 0.5

    @property
    def learners(self) -> list[str]:
        return [*self.above, *self.below]

    def measure(self, cube: Dataset, probes: Probes) -> estimates.Measurement:
        """cube: scores.nc of a study. detail: both totals and the learner that each seed chose, side by side."""
        sides = [self._totals(cube, names) for names in (self.above, self.below)]
        (a_low, a_high, _, _), (b_low, b_high, _, _) = sides
        low, high = a_low - b_high, a_high - b_low
        measured = estimates.mean(np.where(low == high, low, np.nan))
        detail = {name: _plain(side) for name, side in zip(("above", "below"), sides, strict=True)}
        measured = replace(measured, detail=detail, sizes=span("dimension", [self.dimension]))
        ends = int(np.sum(low != high))
        failed, notes = zip(*(doubt for side in sides for doubt in side[3]), strict=True)
        measured = without_interval(measured, f"{ends} of {len(low)} seeds censored" if ends else "", *failed)
        return add_notes(measured, *notes)

    def _totals(self, cube: Dataset, names: list[str]) -> tuple[np.ndarray, np.ndarray, list[str], list[tuple]]:
        """Log total of the learner that each seed chooses (S,), as the lowest and highest that it can be; the names
        chosen; and the `reservations` of these."""
        here = cube.sel(dimension=[self.dimension])
        lows, highs, guesses, tables = [], [], [], []
        for name in names:
            spent = at(here, name, self.where).unlabelled_samples.max().item()
            table = complexities(here, name, self.where, self.threshold)
            low, high = bounds(table)
            lows.append(np.log(np.exp(low[0]) + spent))
            highs.append(np.log(np.exp(high[0]) + spent))
            chosen = complexities(here, name, self.where, self.threshold, "validation_risk")
            # What never falls to the threshold on validation points is never chosen, unless all are.
            guesses.append(np.exp(bounds(chosen)[1][0]) + spent)
            tables.append(table)
        best = np.argmin(np.array(guesses), axis=0)
        rows = np.arange(len(best))
        doubted = []
        for i, (name, table) in enumerate(zip(names, tables, strict=True)):
            own = best == i
            part = replace(table, samples=table.samples[:, own], status=table.status[:, own])
            doubted += [reservations(here.isel(seed=own), name, self.where, part)] if any(own) else []
        return np.array(lows)[best, rows], np.array(highs)[best, rows], [names[i] for i in best], doubted


def _plain(side: tuple) -> list[dict[str, Any]]:
    """The seeds of a side in the words of strict JSON; a total that has no value is None."""
    low, high, chosen, _ = side
    return [
        {"learner": name, "total": float(np.exp(a)) if a == b else None}
        for a, b, name in zip(low, high, chosen, strict=True)
    ]
