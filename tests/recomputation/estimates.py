"""Estimates with their intervals, from arrays over sizes and seeds, by numpy and scipy."""

from dataclasses import dataclass, replace
from math import comb

import numpy as np
from scipy import stats


@dataclass
class Found:
    """A value with its 95 % interval, NaN where there is none. ratios: of every case of an inequality, (cases, S).
    open: whether what is asked for may lie above the interval. ends: of every case's mean, (cases, 2).
    seeds: of a mean over seeds; log: whether the mean is one of logarithms."""

    value: float
    low: float = np.nan
    high: float = np.nan
    ratios: np.ndarray | None = None
    open: bool = False
    ends: np.ndarray | None = None
    seeds: int = 0
    log: bool = False


NOTHING = Found(np.nan)


def t_mean(values, log=False, level=0.95) -> Found:
    """Mean with Student's interval; of the logarithm, given back in the unit, if `log`."""
    values = np.asarray(values, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.log(values) if log else values
    if not np.isfinite(values).all():
        return NOTHING
    mean, error = float(np.mean(values)), float(stats.sem(values)) if len(values) > 1 else np.nan
    half = stats.t.isf((1 - level) / 2, len(values) - 1) * error if len(values) > 1 else np.nan
    back = np.exp if log else float
    ends = [float(back(end)) for end in (mean, mean - half, mean + half)]
    return Found(*ends, seeds=len(values), log=log)


def over_splits(found: Found, ratio: float) -> Found:
    """A mean over seeds that split one finite set (Nadeau and Bengio). ratio: test points over all others."""
    if not found.seeds or np.isnan(found.low):
        return found
    ends = np.array([found.value, found.low, found.high])
    ends = np.log(ends) if found.log else ends
    ends = ends[0] + (ends - ends[0]) * np.sqrt(1 + found.seeds * ratio)
    low, high = (np.exp(ends) if found.log else ends)[1:]
    return replace(found, low=float(low), high=float(high))


def fitted_line(x, low, high, level=0.95) -> Found:
    """Slope of the medians over seeds of what lies between low and high (K, S) on x (K,), with Student's interval.

    A size without a median, as too many of its seeds have none, is left out.
    """
    points = np.array([median(a, b) for a, b in zip(low, high, strict=True)])
    used = np.isfinite(points)
    if used.sum() < 2:
        return NOTHING
    fit = stats.linregress(np.asarray(x, dtype=float)[used], points[used])
    # A line through equal values has no scatter; the library's correlation of them is NaN.
    error = 0.0 if np.ptp(points[used]) == 0 else fit.stderr
    half = stats.t.ppf((1 + level) / 2, used.sum() - 2) * error if used.sum() > 2 else np.nan
    return Found(float(fit.slope), float(fit.slope - half), float(fit.slope + half))


def spanning(line: Found, own: Found) -> Found:
    """The line, with an interval that has its own and that of the mean slope of single seeds; none without both."""
    if not np.isfinite(own.low):
        return Found(line.value)
    return Found(line.value, min(line.low, own.low), max(line.high, own.high))


def lowest(single, joint) -> Found:
    """The lowest of several; its low end at 95 %, its high end at 95 % for all of them at once."""
    ends = [f.value for f in single], [f.low for f in single], [f.high for f in joint]
    return Found(*map(min, ends), seeds=single[0].seeds)


def median(low, high) -> float:
    """The median of values each of which lies between two ends; NaN unless more than half are known and all agree."""
    unknown = low != high
    if np.isnan(low).any() or np.isnan(high).any() or 2 * unknown.sum() >= len(low) > 0:
        return np.nan
    ends = np.median(low), np.median(high)
    return float(ends[0]) if ends[0] == ends[1] else np.nan


def harmonics(d, p) -> int:
    return comb(d + p - 1, p) - (comb(d + p - 3, p - 2) if p > 1 else 0)


def log_counts(name, sizes, where) -> np.ndarray:
    degree = dict(where).get("degree")

    def up_to_half(d) -> int:
        return sum(harmonics(d, k) for k in range((degree + 1) // 2 + 1))

    counts = {
        "dimension": lambda d: d,
        "harmonic_dimension": lambda d: harmonics(int(d), degree),
        "polynomial_dimension": lambda d: up_to_half(int(d)),
        "polynomial_dimension_log": lambda d: up_to_half(int(d)) * np.log(d),
        "polynomial_dimension_log2": lambda d: up_to_half(int(d)) * np.log(d) ** 2,
        "quad_raw_dimension": lambda d: d * harmonics(int(d), degree - 2),
        # Along orders k in place of dimensions.
        "products": lambda k: sum(comb(dict(where)["dimension"], j) for j in range(int(k) + 1)),
    }
    return np.log([float(counts[name](d)) for d in sizes])


def share(failures, trials):
    """A probability with the interval of Clopper and Pearson."""
    found = stats.binomtest(failures, trials).proportion_ci(0.95, method="exact")
    return Found(failures / trials, float(found.low), float(found.high))


def cases(larger, smaller) -> Found:
    """The largest ratio smaller / larger; low is the smallest of the largest of each seed."""
    if np.isnan(larger).any() or np.isnan(smaller).any():
        return NOTHING
    with np.errstate(divide="ignore", invalid="ignore"):
        # No bound that is not positive is kept by a side above it.
        ratio = np.where(larger > 0, np.maximum(smaller, 0) / larger, np.where(smaller > larger, 1e99, 0.0))
    return extremes(np.minimum(ratio, 1e99).reshape(-1, larger.shape[-1]))


def extremes(ratio, counting=None) -> Found:
    counting = np.ones(ratio.shape, dtype=bool) if counting is None else counting
    by_seed = [ratio[counting[:, s], s].max() for s in range(ratio.shape[1]) if counting[:, s].any()]
    return Found(max(by_seed), min(by_seed), max(by_seed), ratio)


def one_run(ratio) -> Found:
    """Where one further run lies: Student's prediction interval of the logarithm."""
    typical, count = t_mean(ratio, log=True), len(ratio)
    wider = (np.log(typical.high / typical.value)) * np.sqrt(count + 1) if count > 1 else np.nan
    return Found(typical.value, typical.value * np.exp(-wider), typical.value * np.exp(wider))


def best(ratio) -> Found:
    """The smallest of as many runs drawn anew from these: the i-th smallest is exceeded with (1 - i/S)^S."""
    ordered, count = np.sort(ratio), len(ratio)
    at_most = 1 - (1 - np.arange(1, count + 1) / count) ** count
    ends = (ordered[np.argmax(at_most >= part)] for part in (0.025, 0.975)) if count > 1 else (np.nan, np.nan)
    return Found(float(ordered[0]), *map(float, ends))


def positive_log(values):
    """The logarithm, NaN of what is not positive and finite."""
    sound = np.isfinite(values) & (values > 0)
    return np.where(sound, np.log(np.where(sound, values, 1.0)), np.nan)


def of_mean(values, log, positive, level=0.95):
    with np.errstate(divide="ignore", invalid="ignore"):
        return t_mean(np.log(values), level=level) if log else t_mean(values, log=positive, level=level)


def unless(failed: bool, found: Found) -> Found:
    """What rests on a training that failed has no interval."""
    return Found(found.value, ratios=found.ratios) if failed else found


def named(sizes, given) -> np.ndarray:
    return np.isin(sizes, sizes if given is None else given)
