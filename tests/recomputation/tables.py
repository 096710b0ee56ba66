"""What the netCDF files say: scores and probes at named places, and where a learning curve crosses a threshold."""

from typing import Any

import numpy as np
import xarray
from scipy.optimize import isotonic_regression

# Meanings of `status` in scores.nc; the file says the same in flag_meanings, which `scores` compares.
MEANINGS = ["ok", "not_visited", "over_cap", "not_planned", "not_converged", "diverged", "collapsed", "singular"]
NOT_VISITED = MEANINGS.index("not_visited")
UNTRAINED = [MEANINGS.index(name) for name in ("not_visited", "over_cap", "not_planned")]
FAILED = [MEANINGS.index(name) for name in ("diverged", "collapsed", "singular")]


def scores(file, group=None) -> xarray.Dataset:
    """Scores of a file, or of a group of it; raises ValueError where their flags have other meanings."""
    cube = xarray.load_dataset(file, group=group)
    if cube.status.attrs["flag_meanings"].split() != MEANINGS:
        raise ValueError(f"{file}: status has the meanings {cube.status.attrs['flag_meanings']}")
    return cube


def at(cube: xarray.Dataset, learner: str, where: dict[str, Any], left: tuple[str, ...]) -> xarray.Dataset:
    """The scores of a learner over the axes `left`: others are named, have one value, or are repeated along."""
    places = {axis: xarray.DataArray(v, dims=left[0]) if isinstance(v, list) else v for axis, v in where.items()}
    return over(cube.sel(learner=learner, **places), left).transpose(*left)


def over(chosen: xarray.Dataset, left: tuple[str, ...]) -> xarray.Dataset:
    """Without the axes along which nothing differs, but for those in `left`; raises ValueError if others are left."""
    chosen = own(chosen, left)
    if set(chosen.dims) - set(left):
        raise ValueError(f"{sorted(set(chosen.dims) - set(left))} left open")
    return chosen


def own(chosen: xarray.Dataset, left: tuple[str | None, ...]) -> xarray.Dataset:
    """Without the axes along which nothing differs, but for those in `left`."""
    for axis in sorted(set(chosen.dims) - set(left)):
        first = chosen.isel({axis: [0]})
        repeated = all(
            np.array_equal(
                values.transpose(axis, ...).values,
                np.broadcast_to(first[name].transpose(axis, ...).values, values.transpose(axis, ...).shape),
                equal_nan=values.dtype.kind == "f",
            )
            for name, values in chosen.data_vars.items()
            if axis in values.dims
        )
        if repeated:
            chosen = chosen.isel({axis: 0}, drop=True)
    return chosen


def probe_at(values: xarray.DataArray, where: dict[str, Any], left: tuple[str, ...]) -> np.ndarray:
    """A probe's variable over `left` and the seed, which comes last and has length 1 where there is none."""
    chosen = values.sel({axis: value for axis, value in where.items() if axis in values.dims})
    chosen = chosen.isel({axis: 0 for axis in chosen.dims if axis not in (*left, "seed") and chosen.sizes[axis] == 1})
    chosen = chosen if "seed" in chosen.dims else chosen.expand_dims("seed")
    return chosen.transpose(*left, "seed").values


def crossing(grid, risk, threshold: float) -> tuple[float, str]:
    """Where a curve falls to a threshold, and whether it was "seen" to, lies "above" the last n or "below" the first.

    Log risk over the threshold, cut at a decade on either side, is made non-increasing by least squares and
    interpolated in log n. (NaN, "unknown") without a point.
    """
    visited = ~np.isnan(risk)
    if not visited.any():
        return np.nan, "unknown"
    n, height = np.asarray(grid, dtype=float)[visited], np.log(np.maximum(risk[visited], 1e-300) / threshold)
    height = isotonic_regression(np.clip(height, -np.log(10), np.log(10)), increasing=False).x
    # What least squares puts at the threshold itself may miss it by rounding.
    height[np.abs(height) < 1e-13] = 0.0
    if height[0] < 0:
        return float(n[0]), "below"
    if height[-1] > 0:
        return float(n[-1]), "above"
    i = int(np.argmax(height <= 0))
    if i == 0:
        return float(n[0]), "seen"
    share = height[i - 1] / (height[i - 1] - height[i])
    return float(n[i - 1] * (n[i] / n[i - 1]) ** share), "seen"


def complexities(cube, learner, where, threshold, risk="test_risk", axis="dimension"):
    """n* of a learner: sizes (K,), the ends between which each log n* lies (K, S) twice, NaN where nothing is known,
    and whether some n* rests on a training that failed."""
    chosen = at(cube, learner, where, (axis, "seed", "samples"))
    grid, status = chosen.samples.values, chosen.status.values
    shape = status.shape[:2]
    low, high, failed = np.full(shape, np.nan), np.full(shape, np.nan), False
    for k, s in np.ndindex(shape):
        n, side = crossing(grid, chosen[risk].values[k, s], threshold)
        cells = status[k, s]
        broken = np.isin(cells, FAILED)
        if side == "unknown":
            failed |= broken.any()
            continue
        there = grid > n if side == "above" else grid < n
        if side != "seen" and (cells[there] == NOT_VISITED).any() and not broken[there].any():
            # The search ended there, as validation points had it: an end between the two crossings.
            side = "seen"
        low[k, s] = -np.inf if side == "below" else np.log(n)
        high[k, s] = np.inf if side == "above" else np.log(n)
        failed |= _beside(broken, ~np.isin(cells, UNTRAINED), grid, n)
        # Of a curve that does not cross n is the last cell with a risk; what lies beyond is the next.
        failed |= side == "above" and broken[grid > n].any()
    return chosen[axis].values, low, high, bool(failed)


def _beside(broken, visited, grid, n) -> bool:
    """Whether the nearest visited cell below n, or the nearest at n or above, failed."""
    above, below = np.flatnonzero(visited & (grid >= n)), np.flatnonzero(visited & (grid < n))
    nearest = above[0] if len(above) else len(grid) - 1, below[-1] if len(below) else 0
    return bool(broken[list(nearest)].any())


def ratios(files, above, below, where, threshold, axis="dimension"):
    (sizes, a_low, a_high, a), (_, b_low, b_high, b) = (
        complexities(files.cube, name, where, threshold, axis=axis) for name in (above, below)
    )
    return sizes, a_low - b_high, a_high - b_low, a or b
