"""Quantities over many cells: bounds by counting, and a table of exponents."""

from math import comb

import numpy as np
from recomputation.estimates import (
    NOTHING,
    Found,
    fitted_line,
    harmonics,
    lowest,
    named,
    of_mean,
    positive_log,
    unless,
)
from recomputation.tables import FAILED, at, complexities, own
from scipy import stats


def counting_bound(files, predictors, spans=1, where=()):
    def bound(place, n, norm):
        return 1 - spans * n / harmonics(int(place["dimension"]), int(place["degree"]))

    return bounded(files, predictors, ("dimension", "degree"), where, bound)


def composed_counting_bound(
    files, predictors, features=None, features_axis=None, alpha=0.3, beta=1, order=4, spans=1, where=()
):
    def bound(place, n, norm):
        a, b, k = (place.get(name, own) for name, own in (("alpha", alpha), ("beta", beta), ("order", order)))
        functions = place[features_axis] if features_axis else n if features is None else features
        free = max(0.0, 1 - spans * functions / comb(int(place["dimension"]), int(k)))
        return a**2 / (a**2 + b**2) * free * norm**2

    axes = ("dimension", "alpha", "beta", "order", *([features_axis] if features_axis else []))
    return bounded(files, predictors, axes, where, bound)


def bounded(files, predictors, axes, where, bound):
    """Ratios of a bound to the mean over seeds of the risk, cell by cell where the bound says something."""
    larger, smaller, failed = [], [], False
    for learner in predictors:
        chosen = own(files.cube.sel(learner=learner, **dict(where)), (*axes, "samples", "seed"))
        failed |= bool(np.isin(chosen.status.values, FAILED).any())
        outer = [axis for axis in chosen.test_risk.dims if axis != "seed"]
        table = chosen.transpose(*outer, "seed")
        fixed = {axis: table.coords[axis].item() for axis in axes if axis in table.coords and axis not in outer}
        for index in np.ndindex(table.test_risk.shape[:-1]):
            cell = dict(zip(outer, index, strict=True))
            risks, norms = table.test_risk.values[index], table.target_norm.values[index]
            place = fixed | {axis: table.coords[axis].values[i] for axis, i in cell.items()}
            samples = place["samples"] if "samples" in place else table.samples.item()
            bounds = np.array([bound(place, samples, norm) for norm in norms])
            if np.isfinite(risks).all() and (bounds > 0).all():
                larger.append(risks)
                smaller.append(bounds)
    if not larger:
        return NOTHING
    return unless(failed, of_means(np.array(larger), np.array(smaller)))


def of_means(larger, smaller):
    """The largest ratio of two means over cells (cells, S): intervals by the delta method, written out."""
    ratios, lows, highs, seeds = [], [], [], larger.shape[1]
    for x, y in zip(larger, smaller, strict=True):
        ratio = y.mean() / x.mean()
        variance = np.var(y, ddof=1) - 2 * ratio * np.cov(x, y)[0, 1] + ratio**2 * np.var(x, ddof=1)
        error = np.sqrt(max(variance, 0) / seeds) / x.mean()
        ratios.append(ratio)
        lows.append(max(0.0, ratio - stats.t.isf(0.025 / len(larger), seeds - 1) * error))
        highs.append(ratio + stats.t.isf(0.025, seeds - 1) * error)
    ends = np.array([lows, highs]).T
    return Found(max(ratios), max(lows), max(highs), ratios=np.array(ratios)[:, None], ends=ends)


def lowest_score_mean(files, predictors, samples, variable="test_risk", where=(), log=False, positive=False):
    place = dict(where) | {"samples": samples}
    cells = [at(files.cube, name, place, ("seed",)) for name in predictors]

    def means(level):
        return [of_mean(one[variable].values, log, positive, level) for one in cells]

    failed = any(np.isin(one.status.values, FAILED).any() for one in cells)
    return unless(failed, lowest(means(0.95), means(1 - 0.05 / len(cells))))


def order_table(
    files,
    learners_of_order,
    degrees,
    axis="order",
    expected="order",
    regressor="count",
    sizes=None,
    where=(),
    threshold=0.5,
):
    """The largest distance of an exponent from a table; low: the largest that all cells together leave certain."""
    chosen, failed = [], False
    for k, names in enumerate(learners_of_order, start=1):
        for i, (degree, name) in enumerate(zip(degrees, names, strict=True)):
            wanted = max(1, degree - k + 1) if expected == "order" else degree
            chosen.append((name, dict(where) | {axis: degree}, wanted, sizes[i] if sizes else None))
    ends = []
    for name, place, wanted, fitted in chosen:
        found, low, high, broken = complexities(files.cube, name, place, threshold)
        failed |= broken
        keep = named(found, fitted)
        counts = [comb(int(d), wanted) ** (1 / wanted) if regressor == "count" else float(d) for d in found[keep]]
        one, joint = (
            fitted_line(np.log(counts), low[keep], high[keep], level) for level in (0.95, 1 - 0.05 / len(chosen))
        )
        if not np.isfinite(one.high):
            return NOTHING
        least = max(joint.low - wanted, wanted - joint.high, 0.0)
        ends.append((abs(one.value - wanted), least, max(wanted - one.low, one.high - wanted)))
    value, low, high = np.max(ends, axis=0)
    return unless(failed, Found(float(value), float(low), float(high)))


def largest_log_risk_ratio(files, above, below, samples, places, where=(), risk="test_risk"):
    place, failed, rows = dict(where) | {"samples": samples}, False, []
    sides = [(below, place), *((above, place | one) for one in places)]
    for learner, here in sides:
        chosen = at(files.cube, learner, here, ("seed",))
        failed |= bool(np.isin(chosen.status.values, FAILED).any())
        rows.append(positive_log(chosen[risk].values))
    ratios = np.array(rows[1:]) - rows[0]
    means, seeds = ratios.mean(axis=1), ratios.shape[1]
    half = stats.t.isf(0.025 / len(ratios), seeds - 1) * stats.sem(ratios, axis=1)
    return unless(failed, Found(*(float(np.max(end)) for end in (means, means - half, means + half))))


def largest_score_mean(files, learner, samples, places, where=(), variable="test_risk", log=False, positive=False):
    place, failed, logs = dict(where) | {"samples": samples}, False, []
    for one in places:
        chosen = at(files.cube, learner, place | one, ("seed",))
        failed |= bool(np.isin(chosen.status.values, FAILED).any())
        values = chosen[variable].values
        logs.append(positive_log(values) if log or positive else values)
    means, seeds = np.mean(logs, axis=1), np.shape(logs)[1]
    half = stats.t.isf(0.025 / len(logs), seeds - 1) * stats.sem(logs, axis=1)
    ends = [float(np.max(end)) for end in (means, means - half, means + half)]
    return unless(failed, Found(*(np.exp(ends) if positive and not log else ends)))
