"""Every quantity that a primary row names, computed anew: value, low, high, and the ratios of a `bound`."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import xarray
from recomputation import designs
from recomputation.estimates import (
    NOTHING,
    Found,
    best,
    fitted_line,
    log_counts,
    lowest,
    median,
    named,
    of_mean,
    one_run,
    positive_log,
    share,
    spanning,
    t_mean,
    unless,
)
from recomputation.many_cells import (
    composed_counting_bound,
    counting_bound,
    largest_log_risk_ratio,
    largest_score_mean,
    lowest_score_mean,
    order_table,
)
from recomputation.of_probes import probe_difference, probe_holds, probe_mean, probe_slope, probe_theory_ratio
from recomputation.spikes import direction_slope, isotropy_slope
from recomputation.tables import FAILED, UNTRAINED, at, complexities, crossing, ratios
from scipy import stats


@dataclass
class Files:
    """What a study left: its scores, probes by name and what its trainings recorded; its paper's published tables."""

    cube: xarray.Dataset | None
    probes: dict[str, xarray.Dataset]
    traces: xarray.Dataset | None
    published: Path


def measure(quantity: dict[str, Any], files: Files) -> Found:
    """Raises KeyError for a quantity that is not recomputed."""
    q = {key: value for key, value in quantity.items() if key != "name"}
    return QUANTITIES[quantity["name"]](files, **q)


def exponent(
    files, learner, sizes=None, axis="dimension", where=(), threshold=0.5, regressor="dimension", risk="test_risk"
):
    found, low, high, failed = complexities(files.cube, learner, dict(where), threshold, risk, axis)
    keep = named(found, sizes)
    x = log_counts(regressor, found, where)
    return unless(failed, fitted_line(x[keep], low[keep], high[keep]))


def paired_log_ratio_slope(files, above, below, sizes=None, where=(), threshold=0.5):
    found, low, high, failed = ratios(files, above, below, dict(where), threshold)
    keep = named(found, sizes)
    return unless(failed, fitted_line(np.log(found[keep]), low[keep], high[keep]))


def paired_log_ratio(files, above, below, where=(), threshold=0.5, lower_bound=False):
    _, low, high, failed = ratios(files, above, below, dict(where), threshold)
    # Unbounded above alone: n* of the learner above lies beyond its cap, that of the one below is known.
    capped = lower_bound & np.isfinite(low) & np.isposinf(high)
    whole = np.flatnonzero((capped | (low == high)).all(axis=1))
    found = replace(t_mean(low[whole[-1]]), open=bool(capped[whole[-1]].any())) if len(whole) else NOTHING
    return unless(failed, found)


def accuracy_exponent(files, learner, risks, where=()):
    curves = at(files.cube, learner, dict(where), ("seed", "samples"))
    levels = sorted(risks, reverse=True)
    ends = [[crossing(curves.samples.values, curve, level) for curve in curves.test_risk.values] for level in levels]
    whole = np.array([all(side == "seen" for _, side in row) for row in ends])
    if whole.sum() < 3:
        return NOTHING
    x, y = -np.log(levels)[whole], np.log([[n for n, _ in row] for row in ends])[whole]
    found = t_mean([stats.linregress(x, one).slope for one in y.T])
    return unless(bool(np.isin(curves.status.values, FAILED).any()), found)


def slope_difference(
    files, above, below, above_sizes=None, below_sizes=None, where=(), threshold=0.5, regressor="dimension"
):
    fits, degrees = [], []
    for learner, sizes in ((above, above_sizes), (below, below_sizes)):
        fits.append(exponent(files, learner, sizes, "dimension", where, threshold, regressor))
        found, low, high, _ = complexities(files.cube, learner, dict(where), threshold)
        usable = [np.isfinite(median(a, b)) for a, b in zip(low, high, strict=True)]
        degrees.append(int(np.sum(named(found, sizes) & usable)) - 2)
    value = fits[0].value - fits[1].value
    if not all(np.isfinite(fit.low) for fit in fits):
        return Found(value)
    spare = np.array(degrees)
    variances = np.array([(fit.high - fit.value) / stats.t.isf(0.025, k) for fit, k in zip(fits, spare, strict=True)])
    variances **= 2
    if not variances.any():
        return Found(value, value, value)
    welch = variances.sum() ** 2 / np.sum(variances**2 / spare)
    half = stats.t.isf(0.025, welch) * np.sqrt(variances.sum())
    return Found(value, value - half, value + half)


def slope_change(files, learner, other, sizes=None, where=(), threshold=0.5):
    found, low, high, failed = complexities(files.cube, learner, dict(other), threshold)
    _, low_below, high_below, failed_below = complexities(files.cube, learner, dict(where), threshold)
    keep = named(found, sizes)
    changed = fitted_line(np.log(found[keep]), (low - high_below)[keep], (high - low_below)[keep])
    return unless(failed or failed_below, changed)


def theory_exponent(files, probe, line, sizes=None, where=(), threshold=0.5, regressor="dimension"):
    chosen = files.probes[probe].sample_complexity.sel(line=line, threshold=threshold, **dict(where))
    found, log_n = chosen.dimension.values, np.log(chosen.values)[:, None]
    keep = named(found, sizes)
    return fitted_line(log_counts(regressor, found, where)[keep], log_n[keep], log_n[keep])


def theory_ratio(files, learner, probe, line, sizes=None, where=(), threshold=0.5):
    found, low, high, failed = complexities(files.cube, learner, dict(where), threshold)
    theory = files.probes[probe].sample_complexity
    place = {"line": line, "threshold": threshold} | dict(where)
    theory = theory.sel({axis: value for axis, value in place.items() if axis in theory.dims})
    known = dict(zip(theory.dimension.values.tolist(), theory.squeeze(drop=True).values.reshape(-1), strict=True))
    keep = np.flatnonzero(named(found, sizes))
    logs = np.array([median(low[k], high[k]) - np.log(known[int(found[k])]) for k in keep])
    return unless(failed, t_mean(logs[np.isfinite(logs)]) if np.isfinite(logs).any() else NOTHING)


def log_risk_ratio(files, above, below, samples, above_where=(), below_where=(), where=(), risk="test_risk"):
    sides = ((above, above_where), (below, below_where))
    (a, one), (b, two) = (by_seed(files, name, samples, dict(where) | dict(at_), risk, None) for name, at_ in sides)
    with np.errstate(divide="ignore", invalid="ignore"):
        return unless(one or two, t_mean(np.log(a) - np.log(b)))


def score_over_root(files, above, below, samples, above_where=(), below_where=(), where=(), **names):
    scores = {"score": "cross_entropy", "squared": "squared_error"} | names
    sides = zip((above, below), (above_where, below_where), scores.values(), strict=True)
    (a, one), (b, two) = (by_seed(files, who, samples, dict(where) | dict(at_), name, None) for who, at_, name in sides)
    return unless(one or two, of_mean(a / np.sqrt(b), False, True))


def samples_slope(files, learner, sizes, where=(), risk="test_risk"):
    table = at(files.cube, learner, dict(where), ("samples", "seed")).sel(samples=sorted(sizes))
    x, logs = np.log(table.samples.values), positive_log(table[risk].values)
    own = t_mean([stats.linregress(x, one).slope for one in logs.T])
    return unless(np.isin(table.status, FAILED).any(), spanning(fitted_line(x, logs, logs), own))


def counting_log_ratio(files, learner, where=(), threshold=0.5, order=4, alpha=0.3):
    found, low, high, failed = complexities(files.cube, learner, dict(where), threshold)
    whole = np.flatnonzero((low == high).all(axis=1))
    if not len(whole) or threshold >= order * alpha**2:
        return NOTHING
    d = found[whole[-1]]
    products = np.prod(d - np.arange(order)) / np.prod(1.0 + np.arange(order))
    return unless(failed, t_mean(np.log(products * (1 - threshold / (order * alpha**2))) - low[whole[-1]]))


def by_seed(files, learner, samples, where, variable, lowest_over):
    """A score at one place (S,), the smallest along an axis if one is named, and whether a training failed."""
    left = ("seed",) if lowest_over is None else (lowest_over, "seed")
    chosen = at(files.cube, learner, dict(where) | {"samples": samples}, left)
    failed, values = bool(np.isin(chosen.status.values, FAILED).any()), chosen[variable]
    return (values if lowest_over is None else values.min(lowest_over, skipna=True)).values, failed


def score_mean(files, learner, samples, variable="test_risk", where=(), lowest_over=None, log=False, positive=False):
    values, failed = by_seed(files, learner, samples, where, variable, lowest_over)
    return unless(failed, of_mean(values, log, positive))


def score_difference(files, above, below, samples, above_where=(), below_where=(), where=(), variable="test_accuracy"):
    sides = ((above, above_where), (below, below_where))
    (a, one), (b, two) = (by_seed(files, name, samples, dict(where) | dict(at_), variable, None) for name, at_ in sides)
    return unless(one or two, t_mean(a - b))


def norm_at_error(files, learner, samples, error, where=()):
    place = dict(where) | {"samples": samples}
    recorded = at(files.traces[["train_loss", "frobenius_norm"]], learner, place, ("seed", "step"))
    norms = []
    for losses, sizes in zip(recorded.train_loss.values, recorded.frobenius_norm.values, strict=True):
        known = np.isfinite(losses) & np.isfinite(sizes) & (losses > 0)
        x, y = np.log(losses[known] / error), np.log(sizes[known])
        k = next((k for k, value in enumerate(x) if value <= 0), None)
        if k is None:
            norms.append(np.nan)
        else:
            norms.append(np.exp(y[0] if k == 0 else np.interp(0.0, x[[k, k - 1]], y[[k, k - 1]])))
    failed = np.isin(at(files.cube, learner, place, ("seed",)).status.values, FAILED).any()
    return unless(failed, t_mean(np.array(norms), log=True))


def failure_rate(files, learner, samples, level, where=(), risk="test_risk"):
    chosen = at(files.cube, learner, dict(where) | {"samples": samples}, ("seed",))
    values, broken = chosen[risk].values, np.isin(chosen.status.values, FAILED)
    if np.isnan(values[~broken]).any():
        return NOTHING
    return share(int(np.sum(broken | (values > level))), len(values))


def share_of_seeds(
    files, above, samples, level, below=None, where=(), above_where=(), below_where=(), variable="test_risk"
):
    named = [(above, above_where)] + ([(below, below_where)] if below else [])
    cells = [at(files.cube, name, dict(where) | dict(own) | {"samples": samples}, ("seed",)) for name, own in named]
    broken = np.any([np.isin(one.status.values, FAILED) for one in cells], axis=0)
    scores = cells[0][variable].values / (cells[1][variable].values if below else 1.0)
    if np.isnan(scores[~broken]).any():
        return NOTHING
    return share(int(np.sum(~broken & (scores <= level))), len(scores))


def risk_slope(
    files, learner, samples="largest", axis="dimension", where=(), values=None, risk="test_risk", explained=False
):
    place = dict(where) | ({} if samples == "largest" else {"samples": samples})
    if samples == "largest":
        table = at(files.cube, learner, place, (axis, "seed", "samples"))
        trained = ~np.isin(table.status.values, UNTRAINED)
        last = trained.shape[-1] - 1 - np.argmax(trained[..., ::-1], axis=-1)[..., None]
        risks, status = (np.take_along_axis(table[name].values, last, -1)[..., 0] for name in (risk, "status"))
    else:
        table = at(files.cube, learner, place, (axis, "seed"))
        risks, status = table[risk].values, table.status.values
    order = np.argsort(table[axis].values)
    sizes, logs = table[axis].values[order], positive_log(1 - risks[order] if explained else risks[order])
    keep = named(sizes, values)
    return unless(np.isin(status, FAILED).any(), fitted_line(np.log(sizes[keep]), logs[keep], logs[keep]))


def lowest_risk_slope(files, learner, samples, risks, axis="dimension", where=(), values=None):
    table = at(files.cube, learner, dict(where) | {"samples": samples}, (axis, "seed")).sortby(axis)
    keep = named(table[axis].values, values)
    logs = [positive_log(table[risk].values)[keep] for risk in risks]

    def lines(level):
        return [fitted_line(np.log(table[axis].values[keep]), one, one, level) for one in logs]

    return unless(np.isin(table.status.values, FAILED).any(), lowest(lines(0.95), lines(1 - 0.05 / len(risks))))


def log_fall_ratio(files, of, samples, first, middle, last, where=(), risk="test_risk"):
    found, failed = [], False
    for learner, *case in zip(of, first, middle, last, strict=True):
        (a, one), (b, two), (c, three) = (
            by_seed(files, learner, samples, dict(where) | dict(place), risk, None) for place in case
        )
        found.append(np.log(a / b) - np.log(b / c))
        failed |= one or two or three
    return unless(failed, lowest(*([t_mean(x, level=p) for x in found] for p in (0.95, 1 - 0.05 / len(found)))))


def total_samples_log_ratio(files, above, below, dimension, where=(), threshold=0.5):
    here = files.cube.sel(dimension=[dimension])
    (a_low, a_high, a), (b_low, b_high, b) = (
        chosen_totals(here, side, dict(where), threshold) for side in (above, below)
    )
    low, high = a_low - b_high, a_high - b_low
    return unless(a or b, t_mean(np.where(low == high, low, np.nan)))


def chosen_totals(cube, learners, where, threshold):
    """Log of n* + n0 (S,) of the learner whose total on validation points is smallest for each seed, as two ends."""
    lows, highs, guesses, failed = [], [], [], []
    for name in learners:
        cells = at(cube, name, where, ("dimension", "seed", "samples"))
        spent = float(np.nanmax(cells.unlabelled_samples.values))
        _, low, high, _ = complexities(cube, name, where, threshold)
        lows.append(np.log(np.exp(low[0]) + spent))
        highs.append(np.log(np.exp(high[0]) + spent))
        _, _, guess, _ = complexities(cube, name, where, threshold, "validation_risk")
        guesses.append(np.exp(guess[0]) + spent)
        failed.append([complexities(cube.isel(seed=[s]), name, where, threshold)[3] for s in range(cube.sizes["seed"])])
    best, seeds = np.argmin(guesses, axis=0), np.arange(len(guesses[0]))
    return np.array(lows)[best, seeds], np.array(highs)[best, seeds], bool(np.array(failed)[best, seeds].any())


def published_ratio(
    files,
    published,
    learner,
    samples,
    published_where=(),
    where=(),
    lowest_over=None,
    statistic="run",
    risk="test_risk",
):
    ours = dict(where) | {"samples": samples}
    wanted = designs.printed(files.published, published, dict(published_where), ours, lowest_over is not None)
    values, failed = by_seed(files, learner, samples, where, risk, lowest_over)
    ratio = values / wanted
    if not (np.isfinite(ratio) & (ratio > 0)).all():
        return NOTHING
    return unless(failed, {"run": one_run, "best": best}[statistic](ratio))


QUANTITIES = {
    one.__name__: one
    for one in (
        exponent,
        paired_log_ratio,
        paired_log_ratio_slope,
        slope_difference,
        slope_change,
        isotropy_slope,
        direction_slope,
        accuracy_exponent,
        theory_exponent,
        theory_ratio,
        log_risk_ratio,
        largest_log_risk_ratio,
        score_over_root,
        samples_slope,
        counting_log_ratio,
        largest_score_mean,
        lowest_risk_slope,
        log_fall_ratio,
        score_mean,
        lowest_score_mean,
        score_difference,
        norm_at_error,
        failure_rate,
        risk_slope,
        probe_slope,
        probe_mean,
        probe_difference,
        probe_theory_ratio,
        probe_holds,
        counting_bound,
        order_table,
        composed_counting_bound,
        total_samples_log_ratio,
        published_ratio,
    )
} | {"share": share_of_seeds}
