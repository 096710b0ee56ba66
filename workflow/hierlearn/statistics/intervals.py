"""Intervals for a mean, a shift, one further run and a failure rate, from a few values; p-values read off them."""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

LEVEL = 0.95


@dataclass(frozen=True)
class Estimate:
    """A number with its interval, in the units of the values; NaN ends and a reason where there is no interval."""

    value: float
    low: float
    high: float
    reason: str = ""


def t_quantile(dof: float, level: float = LEVEL) -> float:
    """Return the half-width of a two-sided Student interval in standard errors. dof >= 1, whole or not."""
    return float(scipy.special.stdtrit(dof, 0.5 + level / 2))


def t_interval(values: ArrayLike, level: float = LEVEL) -> Estimate:
    """Return Student's interval for the mean of independent values (S,); one that is not finite leaves no interval."""
    values = _vector(values)
    if not np.isfinite(values).all():
        return Estimate(np.nan, np.nan, np.nan, f"{np.sum(~np.isfinite(values))} of {len(values)} values not finite")
    if len(values) < 2:
        mean = float(values.mean()) if len(values) else np.nan
        return Estimate(mean, np.nan, np.nan, f"{len(values)} value(s): no interval from fewer than 2")
    mean = float(values.mean())
    half = t_quantile(len(values) - 1, level) * float(values.std(ddof=1)) / np.sqrt(len(values))
    return Estimate(mean, mean - half, mean + half)


def split_interval(values: ArrayLike, ratio: float, level: float = LEVEL) -> Estimate:
    """Return the interval of a mean over random splits, corrected for what splits share  (Nadeau, Bengio 2003).

    values: (S,), one of each split. ratio: test rows over training rows of a split that uses the whole table. Splits
    overlap, so that their mean has a variance of (1/S + ratio) s^2 and not of s^2/S. With ratio 0 it is `t_interval`.
    Raises ValueError for a ratio that is negative or not finite.
    """
    values = _vector(values)
    if not 0 <= ratio < np.inf:
        raise ValueError(f"ratio {ratio}; expected a number of at least 0")
    plain = t_interval(values, level)
    factor = float(np.sqrt(1 + len(values) * ratio))
    low, high = (plain.value + (end - plain.value) * factor for end in (plain.low, plain.high))
    return Estimate(plain.value, low, high, plain.reason)


def log_interval(values: ArrayLike, level: float = LEVEL) -> Estimate:
    """Return the geometric mean of independent positive values, with the Student interval of their logarithms.

    values: (S,), in any unit; the interval is in the same unit and positive. One that is not positive and finite
    leaves no interval.
    """
    values = _vector(values)
    if not np.all(np.isfinite(values) & (values > 0)):
        unusable = np.sum(~(np.isfinite(values) & (values > 0)))
        return Estimate(np.nan, np.nan, np.nan, f"{unusable} of {len(values)} values not positive and finite")
    of_log = t_interval(np.log(values), level)
    return _from_log(of_log.value, of_log.low, of_log.high, of_log.reason)


def prediction_interval(values: ArrayLike) -> Estimate:
    """Predict where one further run lies: Student's interval of the logarithm of independent positive values.

    values: (S,), in any unit, S >= 2. A number that was printed for one run is compared with it; the interval of a
    mean would shrink with S while the printed run keeps its own scatter. Value: the geometric mean.
    """
    centre = log_interval(values)
    if centre.reason:
        return centre
    logs = np.log(_vector(values))
    count = len(logs)
    half = t_quantile(count - 1) * float(logs.std(ddof=1)) * np.sqrt(1 + 1 / count)
    middle = float(logs.mean())
    return _from_log(middle, middle - half, middle + half)


def failure_rate(failures: int, trials: int, level: float = LEVEL) -> Estimate:
    """Return the probability of a failure, with the exact interval of Clopper and Pearson.

    The coverage is the level at least.

    failures of trials that are independent of one another: seeds, not cases that share one. Raises ValueError unless
    0 <= failures <= trials. Without trials there is no interval.
    """
    if not 0 <= failures <= trials:
        raise ValueError(f"{failures} failures in {trials} trials; expected 0 to {trials}")
    if not trials:
        return Estimate(np.nan, np.nan, np.nan, "no trial")
    tail = (1 - level) / 2
    low = scipy.special.betaincinv(failures, trials - failures + 1, tail) if failures else 0.0
    high = scipy.special.betaincinv(failures + 1, trials - failures, 1 - tail) if failures < trials else 1.0
    return Estimate(failures / trials, float(low), float(high))


def shift_interval(
    first: tuple[np.ndarray, np.ndarray], second: tuple[np.ndarray, np.ndarray], level: float = LEVEL
) -> Estimate:
    """Return how far `second` lies above `first`: Hodges-Lehmann shift with the exact Mann-Whitney interval (unpaired).

    first, second: pairs (lows, highs) of arrays (S,), (S',) between which each value lies, equal where it is known; so
    censored values widen the interval instead of biasing it. An open side of the interval is -inf or +inf."""
    (first_low, first_high), (second_low, second_high) = first, second
    smallest = np.sort(np.subtract.outer(second_low, first_high), axis=None)
    largest = np.sort(np.subtract.outer(second_high, first_low), axis=None)
    below = np.cumsum(_mann_whitney(len(first_low), len(second_low)))
    # The largest rank for which P(statistic < rank) stays within one tail; 0 if there is none.
    rank = int(np.searchsorted(below, (1 - level) / 2, side="right"))
    middle = median(smallest), median(largest)
    value = middle[0] if middle[0] == middle[1] else np.nan
    if rank < 1:
        return Estimate(value, np.nan, np.nan, f"{len(first_low)} and {len(second_low)} values are too few")
    return Estimate(value, float(smallest[rank - 1]), float(largest[-rank]))


def median(values: ArrayLike) -> float:
    """Return the median of (S,) values that may be infinite; NaN if the two middle ones are opposite infinities."""
    values = np.sort(_vector(values))
    if not len(values):
        return np.nan
    a, b = values[(len(values) - 1) // 2], values[len(values) // 2]
    with np.errstate(invalid="ignore"):
        return float(a) if a == b else float((a + b) / 2)


def median_interval(low: ArrayLike, high: ArrayLike) -> Estimate:
    """Return the median of independent values with the exact interval of the sign test (coverage at least 95 %).

    low, high: (S,), in any unit, between which each value lies, equal where it is known, infinite where it is open. A
    value that is open on one side moves that end outwards by a place; where as many are open as the end's rank it is
    infinite. The median is the middle of those of the lows and of the highs, and not finite where one of them is not.
    Fewer than six values leave no interval.
    """
    low, high = np.sort(_vector(low)), np.sort(_vector(high))
    value = median([median(low), median(high)])
    below = scipy.special.bdtr(np.arange(len(low)), len(low), 0.5)
    # The largest rank for which fewer values than it lie below the median with no more than one tail's probability.
    rank = int(np.searchsorted(below, (1 - LEVEL) / 2, side="right"))
    if rank < 1:
        return Estimate(value, np.nan, np.nan, f"{len(low)} value(s): no interval of a median from fewer than 6")
    return Estimate(value, float(low[rank - 1]), float(high[-rank]))


def holm(p_values: ArrayLike) -> np.ndarray:
    """Adjust p-values (m,) as Holm does, in their order: max over j <= i of (m - j + 1) p_(j), at most 1.

    Rejecting where they are at most a keeps the probability of any false rejection at most a, whatever the dependence
    (Holm 1979). Raises ValueError on values outside [0, 1].
    """
    p = np.asarray(p_values, dtype=float)
    if p.ndim != 1 or not np.all((p >= 0) & (p <= 1)):
        raise ValueError(f"p-values {p_values!r}; expected a list of numbers from 0 to 1")
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def _from_log(value: float, low: float, high: float, reason: str = "") -> Estimate:
    return Estimate(float(np.exp(value)), float(np.exp(low)), float(np.exp(high)), reason)


def _mann_whitney(m: int, n: int) -> np.ndarray:
    """Null probabilities of U = 0 .. mn: the coefficients of the Gaussian binomial (m+n choose m)."""
    counts = np.zeros(m * n + 1)
    counts[0] = 1
    for i in range(1, m + 1):
        for u in range(m * n, n + i - 1, -1):
            counts[u] -= counts[u - n - i]
        for u in range(i, m * n + 1):
            counts[u] += counts[u - i]
    return counts / counts.sum()


def _vector(values: ArrayLike) -> np.ndarray:
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(f"values of shape {values.shape}; expected one dimension")
    return values
