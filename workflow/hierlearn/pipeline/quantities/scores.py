"""What learners score at one number of samples: means, differences, rates of failure, and the published number."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import MinLen

from hierlearn.core.parameters import Positive, Reference
from hierlearn.core.protocols import Dataset, Probes
from hierlearn.pipeline.files.published import coordinates_in, number
from hierlearn.pipeline.quantities._bases import (
    AtSamples,
    Log,
    OfLearner,
    OfScores,
    OfTwoScores,
    PositiveValues,
    Risk,
    SomeCoordinates,
    SomePlaces,
    Variable,
)
from hierlearn.pipeline.quantities._tables import FAILED, at_place, mean_of, without_interval
from hierlearn.statistics import estimates
from hierlearn.statistics.intervals import LEVEL, Estimate, prediction_interval
from hierlearn.statistics.learning_curves import value_at


@dataclass(frozen=True, kw_only=True)
class _Mean(AtSamples):
    """A quantity of means over seeds of a score."""

    UNIT = "{averaged}"
    METHOD = "t over seeds"
    variable: Variable = "test_risk"
    log: Log = False
    positive: PositiveValues = False

    def mean(self, values: np.ndarray, level: float = LEVEL) -> estimates.Measurement:
        """The mean over seeds of values (S,)."""
        return mean_of(values, self.log, self.positive, level)


@dataclass(frozen=True, kw_only=True)
class ScoreMean(OfScores, _Mean):
    """Mean over seeds of a score at one place, or of its natural logarithm, with a t-interval."""

    def measure(self, cube: Dataset, probes: Probes) -> estimates.Measurement:
        """cube: scores.nc of a study. A cell without a value, or of a failed training, leaves no interval."""
        values, cells = self.scores(cube, self.variable)
        return self.sound(self.mean(values), cube, cells)


@dataclass(frozen=True, kw_only=True)
class LowestScoreMean(_Mean):
    """Lowest of the means over seeds that `score_mean` has for each of some learners, as of the best kernel at one n.

    Interval: see `statistics.estimates.lowest`.
    """

    METHOD = "t over seeds, jointly over places"
    predictors: Annotated[list[str], MinLen(1), Reference("learners"), "Names of the learners."]

    @property
    def learners(self) -> list[str]:
        return list(self.predictors)

    def measure(self, cube: Dataset, probes: Probes) -> estimates.Measurement:
        """cube: scores.nc of a study. A cell without a value, or of a failed training, leaves no interval."""
        cells = [self.cells(cube, name) for name in self.predictors]
        values = [cell[self.variable].values for cell in cells]
        return self.sound(estimates.lowest(values, self.predictors, self.mean), cube, *cells)


@dataclass(frozen=True, kw_only=True)
class LargestScoreMean(OfLearner, _Mean):
    """The largest over places of the mean over seeds that `score_mean` has there, at one n.

    Interval: as that of `largest_log_risk_ratio`, the largest lower and the largest upper end of intervals that hold
    together.
    """

    METHOD = "t over seeds, jointly over places"
    places: SomePlaces
    where: SomeCoordinates = field(default_factory=dict)

    def measure(self, cube: Dataset, probes: Probes) -> estimates.Measurement:
        """cube: scores.nc of a study. A cell without a value, or of a failed training, leaves no interval."""
        cells = [self.cells(cube, self.learner, place) for place in self.places]
        values = [cell[self.variable].values for cell in cells]
        return self.sound(estimates.largest(values, self.places, self.mean), cube, *cells)


@dataclass(frozen=True, kw_only=True)
class ScoreDifference(OfTwoScores):
    """Mean over seeds of score_above - score_below at one n, with a t-interval; paired, since seeds share data."""

    UNIT = "difference of {averaged}"
    METHOD = "t over seeds"
    above: Annotated[str, Reference("learners"), "Learner from whose score is taken."]
    below: Annotated[str, Reference("learners"), "Learner whose score is taken away."]
    variable: Variable = "test_accuracy"

    def _estimate(self, above, below) -> estimates.Measurement:
        return estimates.mean(above[self.variable].values - below[self.variable].values)


@dataclass(frozen=True, kw_only=True)
class ScoreOverRoot(OfTwoScores):
    """Geometric mean over seeds of score_above / sqrt(score_below) at one n, its interval from the logarithms.

    As a cross-entropy over the epsilon of a squared error epsilon^2.
    """

    UNIT = "ratio"
    METHOD = "t over seeds"
    score: Annotated[str, Reference("scores"), "Score of the learner above, positive."] = "cross_entropy"
    squared: Annotated[str, Reference("scores"), "Score of the learner below, whose root is taken."] = "squared_error"

    def _estimate(self, above, below) -> estimates.Measurement:
        return estimates.positive_mean(above[self.score].values / np.sqrt(below[self.squared].values))


@dataclass(frozen=True, kw_only=True)
class FailureRate(OfLearner, AtSamples):
    """The probability that the risk at one n stays above a level, with the exact interval of Clopper and Pearson.

    Seeds draw teacher, points and start, so that they are independent trials. A training that failed is a failure.
    """

    UNIT = "share of seeds"
    METHOD = "exact binomial"
    level: Annotated[Positive, "Risk above which a seed has failed."]
    risk: Risk = "test_risk"

    def measure(self, cube: Dataset, probes: Probes) -> estimates.Measurement:
        """cube: scores.nc of a study. A seed that was not trained leaves no interval."""
        cells = self.cells(cube, self.learner)
        risk, broken = cells[self.risk].values, np.isin(cells.status.values, FAILED)
        unknown = int(np.sum(np.isnan(risk) & ~broken))
        if unknown:
            return estimates.no_value(f"{unknown} of {len(risk)} seeds not measured", len(risk))
        rate = estimates.failure_rate(broken | (np.nan_to_num(risk, nan=np.inf) > self.level))
        return at_place(rate, cells, self.where, self.samples)


@dataclass(frozen=True, kw_only=True)
class Share(AtSamples):
    """The share of seeds that reach a level at one n, with the exact interval of Clopper and Pearson.

    For theorems that hold "with probability": a mean over seeds hides those that miss the level. A seed reaches it
    whose score, or the score above over the one below, is at most the level. A training that failed reaches nothing.
    Of two draws the seeds are counted together.
    """

    UNIT = "share of seeds"
    METHOD = "exact binomial"
    above: Annotated[str, Reference("learners"), "Learner whose score is to reach the level."]
    below: Annotated[str | None, Reference("learners"), "Learner over whose score it is taken; null: none."] = None
    level: Annotated[Positive, "The level, which is reached from above."]
    variable: Variable = "test_risk"
    above_where: Annotated[
        dict[str, Any], Reference("some coordinates"), "Values of coordinates for the learner above, beside `where`."
    ] = field(default_factory=dict)
    below_where: Annotated[dict[str, Any], Reference("some coordinates"), "The same for the learner below."] = field(
        default_factory=dict
    )

    @property
    def learners(self) -> list[str]:
        return [self.above] if self.below is None else [self.above, self.below]

    def measure(self, cube: Dataset, probes: Probes) -> estimates.Measurement:
        """cube: scores.nc of a study. A seed that was not trained leaves no interval."""
        places = zip(self.learners, (self.above_where, self.below_where), strict=False)
        cells = [self.cells(cube, learner, where) for learner, where in places]
        score, *others = (cell[self.variable].values for cell in cells)
        with np.errstate(divide="ignore", invalid="ignore"):
            score = score / others[0] if others else score
        broken = np.any([np.isin(cell.status.values, FAILED) for cell in cells], axis=0)
        unknown = int(np.sum(np.isnan(score) & ~broken))
        if unknown:
            return estimates.no_value(f"{unknown} of {len(score)} seeds not measured", len(score))
        return at_place(estimates.share(~broken & (score <= self.level)), cube, self.where, self.samples)


@dataclass(frozen=True, kw_only=True)
class NormAtError(OfLearner, AtSamples):
    """Geometric mean over seeds of |W|_F where train_loss first falls to `error`, interpolated in the logs of both.

    Norms compare only at matched training error: they grow as the training goes on  (allenzhu2019, Figure 1).
    """

    UNIT = "norm"
    METHOD = "t over seeds"
    READS = ("train_loss", "frobenius_norm")
    reads_traces = True
    learner: Annotated[str, Reference("learners"), "Name of a learner that records its training."]
    error: Annotated[Positive, "Training error."]

    def measure(self, cube: Dataset, probes: Probes, traces: Dataset) -> estimates.Measurement:
        """traces: traces.nc of the study. A seed whose training error stays above leaves no interval."""
        recorded = self.cells(traces[["train_loss", "frobenius_norm"]], self.learner, over=("step",))
        recorded = recorded.transpose("seed", "step")
        curves = zip(recorded.train_loss.values, recorded.frobenius_norm.values, strict=True)
        norms = np.array([value_at(*curve, self.error) for curve in curves])
        above = int(np.sum(~np.isfinite(norms)))
        stay = f"{self.learner}: {above} seeds stay above a training error of {self.error:g}" if above else ""
        mean = self.sound(estimates.positive_mean(norms), cube, self.cells(cube, self.learner))
        return without_interval(mean, stay)


@dataclass(frozen=True, kw_only=True)
class PublishedRatio(OfScores):
    """Where a risk of ours lies, over the published one; the interval is one of prediction, or resampled.

    run: the geometric mean over seeds, and the interval in which one further run lies, as a printed number is that of
    one run and keeps its scatter however many seeds ours have. best: the central 95 % of the smallest of S seeds drawn
    anew, with replacement, from the S seeds, which is known without drawing: P(above the i-th smallest) = (1 - i/S)^S.
    The rule `published` compares with 1.
    """

    UNIT = "ratio"
    METHOD = "one further run"
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
