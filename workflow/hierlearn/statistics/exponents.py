"""Exponents: slopes of log n* in the log of a size, with intervals whose coverage is tested by simulation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hierlearn.statistics.complexity import Complexities, bounds, medians, observes_every_seed, ratio_medians
from hierlearn.statistics.intervals import LEVEL, Estimate, shift_interval, t_interval, t_quantile

FEWEST_SIZES = 3


@dataclass(frozen=True)
class Slope:
    """A line through one point per size.

    value, low, high: its slope (dimensionless), NaN ends where there is no interval. reason: why, or "". sizes_fitted:
    the sizes on the line; sizes_excluded: (size, why) of those named beforehand that could not be fitted. medians: (K,)
    the point of every size of the table (natural log), NaN if it has none. intercept: of the line, in natural logs.
    residual_sd: scatter about it, NaN without spare points. dof: two fewer than sizes_fitted, at least 0."""

    value: float
    low: float
    high: float
    reason: str
    sizes_fitted: tuple[Any, ...]
    sizes_excluded: tuple[tuple[object, str], ...]
    medians: np.ndarray
    intercept: float
    residual_sd: float
    dof: int


def slope(
    table: Complexities, regressor: ArrayLike | None = None, fitted: Sequence[Any] | None = None, level: float = LEVEL
) -> Slope:
    """Fit the exponent of n*: the slope of per-size medians over seeds of log n* in log regressor.

    The t-interval is that of the line's residuals (K sizes, K - 2 degrees of freedom). The primary method.

    regressor: (K,) positive, a counted dimension; the sizes themselves if None. fitted: the sizes named beforehand; all
    if None. A size with half its seeds or more censored, or with a seed missing, is excluded and said so. Raises
    ValueError on a regressor that does not increase and on a named size that the table lacks.
    """
    points, obstacles = medians(table)
    return _through(points, obstacles, table.sizes, regressor, fitted, level)


def ratio_slope(
    above: Complexities, below: Complexities, regressor: ArrayLike | None = None, fitted: Sequence[Any] | None = None
) -> Slope:
    """Fit, as `slope` does, the per-size medians of the paired log(n*_above / n*_below)."""
    points, obstacles = ratio_medians(above, below)
    return _through(points, obstacles, above.sizes, regressor, fitted, LEVEL)


def difference(first: Slope, second: Slope) -> tuple[Estimate, float]:
    """Return the first slope minus the second, Welch's interval: squared standard errors add, degrees of freedom are
    Satterthwaite's. Also these, NaN where there is no interval.

    For lines over different sizes; over the same sizes and seeds `ratio_slope` pairs them and is narrower. Where the
    two share seeds whose scatter has one sign in both, the interval is too wide, never too narrow.
    """
    value = first.value - second.value
    names = [f"{which}: {one.reason}" for which, one in (("first", first), ("second", second)) if one.reason]
    if names:
        return Estimate(value, np.nan, np.nan, "; ".join(names)), np.nan
    errors = [(one.high - one.low) / 2 / t_quantile(one.dof) for one in (first, second)]
    variances = np.square(errors)
    if not variances.any():
        return Estimate(value, value, value), float(min(first.dof, second.dof))
    dof = float(variances.sum() ** 2 / np.sum(variances**2 / [first.dof, second.dof]))
    half = t_quantile(dof) * float(np.sqrt(variances.sum()))
    return Estimate(value, value - half, value + half), dof


def seed_slopes(
    table: Complexities, regressor: ArrayLike | None = None, fitted: Sequence[Any] | None = None, level: float = LEVEL
) -> Estimate:
    """Return the t-interval over slopes of single seeds. Secondary: it is right for seed noise alone, too narrow when
    sizes deviate from the power law. Sizes with any censored seed are left out, since dropping seeds would bias."""
    x, keep = _log(regressor, table.sizes), _named(fitted, table.sizes) & observes_every_seed(table)
    if keep.sum() < FEWEST_SIZES:
        return Estimate(np.nan, np.nan, np.nan, f"{keep.sum()} sizes without a censored seed; {FEWEST_SIZES} needed")
    centred = x[keep] - x[keep].mean()
    return t_interval(centred @ np.log(table.samples[keep]) / (centred @ centred), level)


def local_slopes(table: Complexities, regressor: ArrayLike | None = None, level: float = LEVEL) -> list[Estimate]:
    """Return the K - 1 slopes between neighbouring sizes, with intervals for seed noise alone (Mann-Whitney, exact).

    Censored seeds widen an interval, up to an open side (infinite); missing ones make it open on both.
    """
    x, (low, high) = _log(regressor, table.sizes), bounds(table)
    result = []
    for i in range(len(x) - 1):
        shift, step = shift_interval((low[i], high[i]), (low[i + 1], high[i + 1]), level), x[i + 1] - x[i]
        result.append(Estimate(shift.value / step, shift.low / step, shift.high / step, shift.reason))
    return result


def line(x: ArrayLike, y: ArrayLike, level: float = LEVEL) -> tuple[Estimate, float, float]:
    """Fit a line by least squares: its slope with a t-interval of K - 2 degrees of freedom, intercept, residual sd.

    x, y: (K,). Two points give a slope without an interval, fewer give NaN. Points are equally weighted: what
    scatters them is mostly the deviation of sizes from the power law, which does not shrink with seeds."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    too_few = f"{len(x)} size(s) can be fitted; {FEWEST_SIZES} needed"
    if len(x) < 2:
        return Estimate(np.nan, np.nan, np.nan, too_few), np.nan, np.nan
    centred = x - x.mean()
    spread = centred @ centred
    value = float(centred @ y / spread)
    intercept = float(y.mean() - value * x.mean())
    if len(x) < FEWEST_SIZES:
        return Estimate(value, np.nan, np.nan, too_few), intercept, np.nan
    residuals = y - intercept - value * x
    sd = float(np.sqrt(residuals @ residuals / (len(x) - 2)))
    half = t_quantile(len(x) - 2, level) * sd / np.sqrt(spread)
    return Estimate(value, value - half, value + half), intercept, sd


def _through(
    points: np.ndarray,
    obstacles: Sequence[str],
    sizes: np.ndarray,
    regressor: ArrayLike | None,
    fitted: Sequence[Any] | None,
    level: float,
) -> Slope:
    x, named = _log(regressor, sizes), _named(fitted, sizes)
    usable = named & np.isfinite(points)
    excluded = tuple((sizes[i].item(), obstacles[i]) for i in np.flatnonzero(named & ~usable).tolist())
    fit, intercept, sd = line(x[usable], points[usable], level)
    kept = tuple(sizes[usable].tolist())
    reason = "; ".join([fit.reason, *(f"size {size}: {why}" for size, why in excluded)]) if fit.reason else ""
    dof = max(len(kept) - 2, 0)
    return Slope(fit.value, fit.low, fit.high, reason, kept, excluded, points, intercept, sd, dof)


def _log(regressor: ArrayLike | None, sizes: np.ndarray) -> np.ndarray:
    values = np.asarray(sizes if regressor is None else regressor, dtype=np.float64)
    if values.shape != sizes.shape:
        raise ValueError(f"regressor of shape {values.shape}; expected one value for each of the {len(sizes)} sizes")
    if not np.all(np.isfinite(values) & (values > 0)) or np.any(np.diff(values) <= 0):
        raise ValueError(f"regressor {values}; expected positive numbers that increase with the size")
    return np.log(values)


def _named(fitted: Sequence[Any] | None, sizes: np.ndarray) -> np.ndarray:
    if fitted is None:
        return np.ones(len(sizes), dtype=bool)
    unknown = sorted(set(fitted) - set(sizes.tolist()))
    if unknown:
        raise ValueError(f"sizes to fit {unknown} are not among {sizes.tolist()}")
    return np.isin(sizes, list(fitted))
