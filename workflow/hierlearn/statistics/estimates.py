"""The quantities that a claim can name, with their intervals, as functions of arrays."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hierlearn.statistics.complexity import (
    Complexities,
    bounds,
    medians,
    observes_every_seed,
    ratio_bounds,
)
from hierlearn.statistics.exponents import Slope, difference, local_slopes, ratio_slope, seed_slopes, slope
from hierlearn.statistics.intervals import LEVEL, Estimate, log_interval, median, median_interval, t_interval
from hierlearn.statistics.intervals import failure_rate as clopper_pearson
from hierlearn.statistics.learning_curves import MISSING

COUNTED = {"missing": "not measured", "censored": "censored"}
# What stands for the ratio to a bound that is not positive.
UNBOUNDED = 1e99


@dataclass(frozen=True)
class Measurement:
    """A measured quantity.

    value, low, high: in its units; NaN ends where there is no interval, and then `reason` says why. Sizes left out are
    in `reason` too. seeds: how many it rests on. detail: what a page may show beside it, in the words of strict JSON (a
    number that is not finite is None); of an interval about sizes also its degrees of freedom, `dof`. sizes: the range
    of sizes that it rests on, in words. positive: whether the quantity cannot be negative. bound: whether it is a lower
    bound on what is asked for, so that its upper end is open."""

    value: float
    low: float
    high: float
    reason: str
    seeds: int
    detail: dict[str, Any] = field(default_factory=dict)
    sizes: str = ""
    positive: bool = False
    bound: bool = False


def plain(value: float) -> float | None:
    """Return a number in the words of strict JSON: None where it is not finite."""
    return float(value) if np.isfinite(value) else None


def no_value(reason: str, seeds: int, **more: Any) -> Measurement:
    """Return a measurement without a value, and why."""
    return Measurement(np.nan, np.nan, np.nan, reason, seeds, **more)


def of_estimate(
    estimate: Estimate | Slope, seeds: int, detail: dict[str, Any] | None = None, **more: Any
) -> Measurement:
    """Return an estimate as a measurement. more: fields in place of those that the estimate gives."""
    fields = {"reason": estimate.reason, "detail": detail or {}} | more
    return Measurement(estimate.value, estimate.low, estimate.high, seeds=seeds, **fields)


def over_splits(measured: Measurement, ratio: float) -> Measurement:
    """Widen a Student interval over seeds that split one finite set, as `intervals.split_interval` does.

    ratio: test points over those that are left. What cannot be negative was measured by its logarithm. The detail says
    the `split_ratio`.
    """
    if not measured.seeds or np.isnan([measured.low, measured.high]).any():
        return measured
    factor = float(np.sqrt(1 + measured.seeds * ratio))
    ends = measured.value, measured.low, measured.high
    by_logarithm = measured.positive and min(ends) > 0
    value, low, high = np.log(ends) if by_logarithm else ends
    low, high = value + (low - value) * factor, value + (high - value) * factor
    low, high = np.exp([low, high]) if by_logarithm else (low, high)
    return replace(measured, low=float(low), high=float(high), detail=measured.detail | {"split_ratio": ratio})


def exponent(
    table: Complexities, regressor: ArrayLike | None = None, fitted: Sequence[Any] | None = None, level: float = LEVEL
) -> Measurement:
    """Estimate the slope of log n* on log regressor (a counted dimension; else the sizes), by `exponents.slope`.

    regressor: (K,). fitted: the sizes named beforehand. detail: the fit, the bounds of the sizes that could
    not be fitted, the slopes between neighbouring sizes and the slope over single seeds (secondary)."""
    detail = {
        "local": [_plain(slope) for slope in local_slopes(table, regressor, level)],
        "seed_slopes": _plain(seed_slopes(table, regressor, fitted, level)),
        "bounds": _bounds(table.sizes, *bounds(table), table.status == MISSING),
    }
    return _measured(slope(table, regressor, fitted, level), table.samples.shape[1], detail)


def spanning_seeds(line: Measurement) -> Measurement:
    """Return the `exponent` with an interval that spans its own and that of the mean of the seeds' own slopes.

    Along an axis on which a seed keeps its draw, a slope that differs from seed to seed does not show in the scatter
    about the common line. dof of the detail: the larger of the two. Where the seeds' slopes are not known there is no
    interval; a table of one seed, such as a theory's, stays as it is.
    """
    own = line.detail["seed_slopes"]
    if line.seeds < 2:
        return line
    if own["low"] is None:
        reason = "; ".join(part for part in (own["reason"], line.reason) if part)
        return replace(line, low=np.nan, high=np.nan, reason=reason)
    detail = line.detail | {"dof": max(line.detail["dof"], line.seeds - 1)}
    return replace(line, low=min(line.low, own["low"]), high=max(line.high, own["high"]), detail=detail)


def exponent_difference(
    above: Complexities, below: Complexities, regressor: ArrayLike | None = None, fitted: Sequence[Any] | None = None
) -> Measurement:
    """Estimate the exponent of `above` minus that of `below`: the slope of paired log(n*_above / n*_below).

    In the log of the size itself (log d) where the regressor is None. The tables have the same sizes and seeds.
    detail: the fit, and the bounds where the ratio is censored."""
    fit = ratio_slope(above, below, regressor, fitted)
    return _measured(fit, above.samples.shape[1], {"bounds": _ratio_bounds(above, below)})


def slope_difference(
    above: Complexities,
    below: Complexities,
    regressors: Sequence[ArrayLike | None] = (None, None),
    fitted: Sequence[Sequence[Any] | None] = (None, None),
) -> Measurement:
    """Estimate the exponent of `above` minus that of `below`, each over its own sizes, by `exponents.difference`.

    regressors: (K,) of each table; fitted: the sizes of each named beforehand. seeds: those of the table with fewer.
    detail: both fits."""
    tables = (above, below)
    fits = [slope(*given) for given in zip(tables, regressors, fitted, strict=True)]
    (estimate, dof), seeds = difference(*fits), min(table.samples.shape[1] for table in tables)
    described = {name: _measured(fit, seeds, {}) for name, fit in zip(("above", "below"), fits, strict=True)}
    reasons = [f"{name}: {one.reason}" for name, one in described.items() if one.reason]
    detail = {name: one.detail | {"slope": plain(one.value)} for name, one in described.items()}
    return of_estimate(estimate, seeds, detail | {"dof": plain(dof)}, reason="; ".join(reasons))


def over_theory(table: Complexities, theory: ArrayLike, fitted: Sequence[Any] | None = None) -> Measurement:
    """Estimate how far n* lies above a theory's: the mean over sizes of the median log(n* / theory), with a
    t-interval over the sizes, which holds whatever a size adds beside the noise of its seeds.

    theory: (K,) positive, n* that the theory gives at the table's own sizes. A size with half its seeds or more
    censored, or with a seed missing, is left out and said so. detail: the log ratio of every size with the t-interval
    over its seeds."""
    theory = np.asarray(theory, dtype=np.float64)
    if theory.shape != table.sizes.shape or not np.all(np.isfinite(theory) & (theory > 0)):
        raise ValueError(f"theory {theory}; expected one positive number for each of the {len(table.sizes)} sizes")
    named = np.isin(table.sizes, table.sizes if fitted is None else list(fitted))
    points, obstacles = medians(table)
    ratios = points - np.log(theory)
    used = named & np.isfinite(ratios)
    estimate = t_interval(ratios[used])
    low, high = bounds(table)
    rows = []
    for k in np.flatnonzero(named):
        at_size = t_interval(np.where(low[k] == high[k], low[k], np.nan) - np.log(theory[k]))
        rows.append({"size": table.sizes[k].item(), "median": plain(ratios[k])} | _plain(at_size))
    left_out = [f"size {table.sizes[k]} left out: {obstacles[k]}" for k in np.flatnonzero(named & ~used)]
    reason = "; ".join([part for part in (estimate.reason, *left_out) if part])
    detail = {"sizes": rows, "dof": max(int(used.sum()) - 1, 0)}
    return of_estimate(estimate, table.samples.shape[1], detail, reason=reason)


def paired_log_ratio(above: Complexities, below: Complexities) -> Measurement:
    """Estimate the mean over seeds of log(n*_above / n*_below), with a t-interval, at the largest size at which every
    seed of both is observed.

    Larger sizes, censored for one or both, do not enter; `reason` gives the bound that each of them sets.
    Without a size that qualifies there is no interval. detail: the size, the ratios of its seeds, the bounds.
    """
    low, _ = ratio_bounds(above, below)
    usable = np.flatnonzero(observes_every_seed(above) & observes_every_seed(below))
    return _at_largest(above, below, usable, lambda k: t_interval(low[k]), "uncensored for both")


def median_log_ratio(above: Complexities, below: Complexities) -> Measurement:
    """Estimate the median over seeds of log(n*_above / n*_below), with the sign test's interval, at the largest size at
    which both of its ends are known: a few censored seeds leave them.

    Larger sizes, reason and detail as of `paired_log_ratio`; the ratio of a censored seed is None, and how many there
    are is in the reason.
    """
    low, high = ratio_bounds(above, below)
    found = [median_interval(*ends) for ends in zip(low, high, strict=True)]
    found = [
        one
        if one.reason or not unknown
        else replace(one, reason=f"{unknown} of {low.shape[1]} seeds have a bound alone")
        for one, unknown in zip(found, np.sum(low != high, axis=1), strict=True)
    ]
    usable = np.flatnonzero([np.isfinite([one.low, one.high]).all() for one in found])
    few = f", {found[-1].reason}" if np.isnan(found[-1].low) else ""
    return _at_largest(above, below, usable, lambda k: found[k], f"whose median has an interval{few}")


def _at_largest(
    above: Complexities, below: Complexities, usable: np.ndarray, interval: Callable[[int], Estimate], which: str
) -> Measurement:
    """Return the log ratio n*_above / n*_below at the largest usable size, its interval, and larger sizes' bounds."""
    low, high = ratio_bounds(above, below)
    used = usable[-1] if len(usable) else -1
    censored = _ratio_bounds(above, below)
    beyond = [_bound_in_words(one) for one in censored if used < 0 or one["size"] > above.sizes[used]]
    if used < 0:
        reason = "; ".join([f"no size {which}", *beyond])
        return no_value(reason, low.shape[1], detail={"bounds": censored})
    estimate, size = interval(used), above.sizes[used].item()
    where = f"at size {size}, the largest {which}" if beyond else f"at size {size}"
    parts = [part for part in (where, estimate.reason, *beyond) if part]
    ratios = np.where(low[used] == high[used], low[used], np.nan)
    detail = {"size": size, "log_ratios": [plain(ratio) for ratio in ratios], "bounds": censored}
    return of_estimate(estimate, low.shape[1], detail, reason="; ".join(parts))


def cases(larger: ArrayLike, smaller: ArrayLike, seeds: int) -> Measurement:
    """Measure the inequality larger >= smaller case by case, for the rule `bound`.

    larger, smaller: equal shapes (..., S), in the same units; the last axis is the seed, or has length 1. value: the
    largest ratio smaller / larger over the cases, 0 where smaller is not positive and UNBOUNDED where larger alone is
    not; low: the largest of the seed that has the smallest one, high: the value. A case that is NaN on either side
    leaves the value NaN. detail: the ratios of all cases, (cases, S)."""
    larger, smaller = np.asarray(larger, dtype=np.float64), np.asarray(smaller, dtype=np.float64)
    if larger.shape != smaller.shape or larger.size == 0:
        raise ValueError(
            f"sides of shapes {larger.shape} and {smaller.shape}; expected equal ones with a case at least"
        )
    unknown = int(np.sum(np.isnan(larger) | np.isnan(smaller)))
    if unknown:
        return no_value(f"{unknown} of {larger.size} cases not measured", seeds, positive=True)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratios = np.where(larger > 0, smaller / larger, np.where(smaller > larger, UNBOUNDED, 0.0))
    ratios = np.clip(ratios, 0.0, UNBOUNDED).reshape(-1, larger.shape[-1])
    return _largest(ratios, np.ones(ratios.shape, dtype=bool), seeds)


def mean_cases(larger: ArrayLike, smaller: ArrayLike) -> Measurement:
    """Measure the inequality E[larger] >= E[smaller] case by case, for the rule `bound`.

    larger, smaller: (cases, S) in the same units, S seeds, positive on average. value: the largest ratio of the means
    over the cases. high: the largest upper end of the ratios' intervals, since all lie below it only if each does; low:
    the largest lower end at a level that holds for all cases at once (Bonferroni). Each interval is Student's of what
    is left of smaller without ratio * larger. detail: the ratios of all cases, (cases, 1), and their ends, (cases, 2).
    """
    larger, smaller = np.asarray(larger, dtype=np.float64), np.asarray(smaller, dtype=np.float64)
    count, seeds = larger.shape
    scale = larger.mean(axis=1)
    ratios = smaller.mean(axis=1) / scale
    rest = (smaller - ratios[:, None] * larger) / scale[:, None]
    lows = ratios + [t_interval(one, 1 - (1 - LEVEL) / count).low for one in rest]
    highs = ratios + [t_interval(one).high for one in rest]
    ends = np.stack([np.maximum(lows, 0.0), highs], axis=1)
    value, (low, high) = float(ratios.max()), ends.max(axis=0).tolist()
    detail = {"cases": count, "counted": count, "ratios": ratios[:, None].tolist(), "ends": ends.tolist()}
    reason = f"{count} cases" + ("" if seeds > 1 else ", one seed each: no interval")
    return Measurement(value, low, high, reason, seeds, detail, positive=True)


def decisive_cases(measured: Measurement, control: Measurement) -> Measurement:
    """Return those `cases` of a claim that its control does not satisfy too, beside those the claim does not satisfy.

    Where the two have other cases, or every case satisfies both, the measurement as it is. One without an interval is
    not to be trusted, and gets none.
    """
    own, other = (np.array(one.detail.get("ratios", ())) for one in (measured, control))
    counting = (other > 1) | (own > 1) if own.shape == other.shape else np.ones(own.shape, dtype=bool)
    if not own.size or not counting.any() or counting.all():
        return measured
    found = _largest(own, counting, measured.seeds)
    if "ends" in measured.detail:
        ends = np.array(measured.detail["ends"])
        low, high = ends[counting[:, 0]].max(axis=0).tolist()
        found = replace(found, low=low, high=high, detail=found.detail | {"ends": measured.detail["ends"]})
    told = [part for part in measured.reason.split("; ") if part != f"{own.size} cases"]
    notes = "; ".join(part for part in (found.reason, *told) if part)
    low, high = (measured.low, measured.high) if np.isnan(measured.low) else (found.low, found.high)
    return replace(measured, value=found.value, low=low, high=high, reason=notes, detail=found.detail)


def _largest(ratios: np.ndarray, counting: np.ndarray, seeds: int) -> Measurement:
    """Return the largest ratio (cases, S) over the cases that count, with its range over seeds."""
    by_seed = np.where(counting, ratios, -np.inf).max(axis=0)[counting.any(axis=0)]
    detail = {"cases": ratios.size, "counted": int(counting.sum()), "ratios": ratios.tolist()}
    reason = f"{counting.sum()} cases" if counting.all() else f"{counting.sum()} of {ratios.size} cases count"
    low, high = float(by_seed.min()), float(by_seed.max())
    return Measurement(high, low, high, reason, seeds, detail, positive=True)


def mean(values: np.ndarray, level: float = LEVEL) -> Measurement:
    """Estimate the mean over seeds with a t-interval. values: (S,), in their own units (take logs of ratios first)."""
    return of_estimate(t_interval(values, level), len(values))


def positive_mean(values: np.ndarray, level: float = LEVEL) -> Measurement:
    """Estimate the geometric mean over seeds, t-interval of the logarithm. values: (S,), positive, in their own units;
    one that is not leaves no interval."""
    return of_estimate(log_interval(values, level), len(values), positive=True)


def lowest(
    parts: Sequence[Any], names: Sequence[str], estimate: Callable[[Any, float], Measurement] = mean
) -> Measurement:
    """Estimate the lowest value over some parts, with an interval for the lowest of the true ones.

    estimate: of a part and a level. The lower end is the lowest lower end at the usual level: all are above it only if
    each is. The upper end is the lowest at a level that holds for all of them at once (Bonferroni). A measurement
    without an interval leaves none.
    """
    single, joint = ([estimate(part, level) for part in parts] for level in (LEVEL, 1 - (1 - LEVEL) / len(parts)))
    least = min(single, key=lambda one: (one.value == one.value, one.value))
    reason = "; ".join(f"{name}: {one.reason}" for name, one in zip(names, single, strict=True) if one.reason)
    whole = all(one.low == one.low and one.high == one.high for one in single)
    ends = (min(one.low for one in single), min(one.high for one in joint)) if whole else (float("nan"),) * 2
    detail: dict[str, Any] = {
        name: {"value": plain(one.value), "low": plain(one.low), "high": plain(one.high)}
        for name, one in zip(names, single, strict=True)
    }
    detail["sizes_fitted"] = list(dict.fromkeys(size for one in single for size in one.detail.get("sizes_fitted", ())))
    freedom = [one.detail["dof"] for one in single if "dof" in one.detail]
    detail |= {"dof": min(freedom)} if freedom else {}
    return replace(least, low=ends[0], high=ends[1], reason=reason, detail=detail)


def largest(
    parts: Sequence[np.ndarray],
    places: Sequence[dict[str, Any]],
    estimate: Callable[[np.ndarray, float], Measurement] = mean,
) -> Measurement:
    """Estimate the largest over P places of a mean over seeds, with an interval for the largest of the true ones.

    parts: (S,) for each place. estimate: of a part and a level. At the level 1 - 0.05 / P all intervals hold together,
    so that the largest true mean lies between the largest of their lower and the largest of their upper ends. A
    place without a mean or an interval leaves none.
    """
    found = [estimate(part, 1 - (1 - LEVEL) / len(parts)) for part in parts]
    value, low, high = np.max([(one.value, one.low, one.high) for one in found], axis=0).tolist()
    reason = "; ".join(dict.fromkeys(one.reason for one in found if one.reason))
    detail = {"places": list(places), "means": [plain(one.value) for one in found]}
    return replace(found[0], value=value, low=low, high=high, reason=reason, detail=detail)


def failure_rate(failed: np.ndarray) -> Measurement:
    """Estimate the probability of a failure; Clopper and Pearson's exact interval. failed: (S,) bool, independent.

    detail: the number of failures."""
    count = int(np.sum(failed))
    reason = f"{count} of {len(failed)} seeds"
    return of_estimate(clopper_pearson(count, len(failed)), len(failed), {"failures": count}, reason=reason)


def share(reached: np.ndarray) -> Measurement:
    """Return the share of seeds that reach something, with the exact interval of Clopper and Pearson.

    reached: (S,) bool.
    """
    counted = failure_rate(reached)
    return replace(counted, detail={"reached": counted.detail["failures"]})


def _measured(fit: Slope, seeds: int, detail: dict[str, Any]) -> Measurement:
    left_out = "; ".join(f"size {size} not fitted: {why}" for size, why in fit.sizes_excluded)
    reason = fit.reason or left_out
    described = {
        "sizes_fitted": list(fit.sizes_fitted),
        "sizes_excluded": [list(one) for one in fit.sizes_excluded],
        "medians": [plain(one) for one in fit.medians],
        "intercept": plain(fit.intercept),
        "residual_sd": plain(fit.residual_sd),
        "dof": fit.dof,
    }
    return of_estimate(fit, seeds, {**described, **detail}, reason=reason)


def _ratio_bounds(above: Complexities, below: Complexities) -> list[dict[str, Any]]:
    unmeasured = (above.status == MISSING) | (below.status == MISSING)
    return _bounds(above.sizes, *ratio_bounds(above, below), unmeasured)


def _bounds(sizes: np.ndarray, low: np.ndarray, high: np.ndarray, unmeasured: np.ndarray) -> list[dict[str, Any]]:
    """For each size with a censored or missing seed the interval in which its median lies, in natural logs.

    low, high, unmeasured: (K, S). None is an open end; a missing seed is not counted as a censored one.
    """
    open_ended = low != high
    return [
        {
            "size": sizes[i].item(),
            "low": plain(median(low[i])),
            "high": plain(median(high[i])),
            "censored": int(np.sum(open_ended[i] & ~unmeasured[i])),
            "missing": int(np.sum(unmeasured[i])),
        }
        for i in np.flatnonzero(open_ended.any(axis=1))
    ]


def _plain(estimate: Estimate) -> dict[str, Any]:
    return {name: one if isinstance(one, str) else plain(one) for name, one in asdict(estimate).items()}


def _bound_in_words(bound: dict[str, Any]) -> str:
    counts = [f"{bound[key]} seed(s) {word}" for key, word in COUNTED.items() if bound[key]]
    ends = [f"{sign} {bound[end]:.3g}" for sign, end in ((">=", "low"), ("<=", "high")) if bound[end] is not None]
    if len(ends) == 2 and np.isclose(bound["low"], bound["high"], rtol=1e-9, atol=1e-12):
        ends = [f"= {bound['low']:.3g}"]
    known = f"median log ratio {' and '.join(ends)}" if ends else "median log ratio unknown"
    return f"size {bound['size']}: {', '.join([*counts, known])}"
