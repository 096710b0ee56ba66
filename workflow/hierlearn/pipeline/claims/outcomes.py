"""Results of draws and the outcome of two: what a claim and its rivals come to, each from two pooled draws.

| outcome | when |
| --- | --- |
| holds | the rule passes for the claim and fails for every rival |
| fails | the rule fails for the claim |
| no test | the rule passes for the claim and for a rival |
| undecided | anything else |

The level of an interval grows with the number of designs that were judged, so that the chance of a false pass at the
limit over all of them stays below half of a hundredth.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hierlearn.core.aliases import present_rule
from hierlearn.pipeline.claims import rules
from hierlearn.pipeline.claims.rules import FAILS, PASSES, UNDECIDED
from hierlearn.statistics.intervals import LEVEL, Estimate, failure_rate, t_quantile

HOLDS, NO_TEST = "holds", "no test"
# Of what two draws differ by, in place of what one of them is.
JOINT = 0.99
# An interval that is symmetric on one scale is less so on the other; equal to this share it counts as symmetric.
SYMMETRY = 0.05


@dataclass(frozen=True)
class Draw:
    """A value with its 95 % interval, in the units of the quantity, and the degrees of freedom of the interval.

    Infinite degrees of freedom, where they are not known, give the wider pooled interval. trials: of a share, of whose
    two draws the trials are counted together; 0 of what is no share. common: the share of its variance that a second
    draw has in common with it, as where both split one finite set.
    """

    value: float
    low: float
    high: float
    freedom: float = math.inf
    trials: int = 0
    common: float = 0.0

    @property
    def is_exact(self) -> bool:
        """Whether nothing in it is random."""
        return self.low == self.value == self.high

    @property
    def is_on_the_log(self) -> bool:
        """Whether its interval is symmetric on the logarithm and not as it stands."""
        if self.low <= 0:
            return False
        return _asymmetry(*map(math.log, (self.value, self.low, self.high))) < min(
            SYMMETRY, _asymmetry(self.value, self.low, self.high)
        )

    def error(self, on_the_log: bool) -> tuple[float, float]:
        """Return the value and its standard error by the longer side of the interval, of the logarithm where asked."""
        value, low, high = (math.log(one) if on_the_log else one for one in (self.value, self.low, self.high))
        return value, max(value - low, high - value) / t_quantile(self.freedom, LEVEL)


def level(designs: int) -> float:
    """Return the level of an interval: 1 - 0.01 * 6 / (pi^2 r^2), with r designs judged so far, this one among them."""
    if designs < 1:
        raise ValueError(f"{designs} designs; expected at least 1")
    return 1 - 0.01 * 6 / (math.pi**2 * designs**2)


def pooled(draws: tuple[Draw, Draw], at: float) -> Estimate:
    """Return the mean of two values, with the half-width t(nu1 + nu2) * sqrt(s1^2 + s2^2) / 2 at a level.

    Positive values whose intervals are symmetric on the logarithm are pooled there. Where the values differ by more
    than their joint 99 % interval there is no interval and a reason.
    """
    on_the_log = all(draw.is_on_the_log for draw in draws)
    (first, first_error), (second, second_error) = (draw.error(on_the_log) for draw in draws)
    freedom, error = sum(draw.freedom for draw in draws), math.hypot(first_error, second_error)
    # What both have in common stays in their mean and goes out of their difference.
    shared = 2 * min(draw.common for draw in draws) * first_error * second_error
    apart, error = math.sqrt(max(error**2 - shared, 0.0)), math.sqrt(error**2 + shared)
    value, half = (first + second) / 2, t_quantile(freedom, at) * error / 2
    low, high = value - half, value + half
    value, low, high = (math.exp(one) if on_the_log else one for one in (value, low, high))
    if abs(first - second) > t_quantile(freedom, JOINT) * apart:
        return Estimate(value, math.nan, math.nan, "the two draws differ by more than their joint interval")
    return Estimate(value, low, high)


def result(
    rule: str, draws: Sequence[Draw], predicted: float, slack: float | None, side: str, at: float
) -> tuple[str, Estimate]:
    """Return what two draws of one design come to under a rule, and their pooled interval at a level.

    A bound passes if no case exceeds it on either draw, and fails if one does on both; one on a mean is judged by the
    pooled interval of that mean. An exact value needs no second draw. predicted, slack, side: as `rules.outcome` has
    them.
    """
    # Further draws are shown, never used.
    first, draws = draws[0], draws[:2]
    rule = present_rule(rule)
    if rule == "bound" and any(rules.bounds_a_mean(draw.value, draw.high) for draw in draws):
        rule, predicted, slack = "upper", 1.0, None
    if rule == "bound":
        over = [draw.value > 1 for draw in draws]
        word = UNDECIDED if len(draws) < 2 else FAILS if all(over) else UNDECIDED if any(over) else PASSES
        return word, Estimate(max(draw.value for draw in draws), math.nan, math.nan)
    if all(draw.trials for draw in draws) and len(draws) == 2:
        counted = _counted(draws, at)
        return rules.outcome(rule, counted.value, counted.low, counted.high, predicted, slack, side)[0], counted
    if first.is_exact and not first.trials:
        return rules.outcome(rule, first.value, first.low, first.high, predicted, slack, side)[0], Estimate(
            *_ends(first)
        )
    if len(draws) < 2:
        return UNDECIDED, Estimate(first.value, math.nan, math.nan, "one draw")
    estimate = pooled((draws[0], draws[1]), at)
    word = rules.outcome(rule, estimate.value, estimate.low, estimate.high, predicted, slack, side)[0]
    alone = {rules.outcome(rule, *(draw.value,) * 3, predicted, slack, side)[0] for draw in draws[:2]}
    return (word if alone == {word} else UNDECIDED), estimate


def outcome(claim: str, rivals: Iterable[str]) -> str:
    """Return the outcome of a claim's result and those of its rivals."""
    results = set(rivals)
    if claim == FAILS:
        return FAILS
    if claim == PASSES and PASSES in results:
        return NO_TEST
    return HOLDS if claim == PASSES and results <= {FAILS} else UNDECIDED


def _counted(draws: Sequence[Draw], at: float) -> Estimate:
    """The share of the trials of all draws together, with its exact interval at a level."""
    reached = sum(round(draw.value * draw.trials) for draw in draws)
    return failure_rate(reached, sum(draw.trials for draw in draws), at)


def _ends(draw: Draw) -> tuple[float, float, float]:
    return draw.value, draw.low, draw.high


def _asymmetry(value: float, low: float, high: float) -> float:
    """How far the two sides of an interval differ, as a share of its width; 0 of an exact value."""
    return abs((high - value) - (value - low)) / (high - low) if high > low else 0.0
