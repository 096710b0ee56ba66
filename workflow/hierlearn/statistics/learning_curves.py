"""Sample complexity: where a learning curve falls to a threshold, and on which side when it does not."""

import numpy as np
from numpy.typing import ArrayLike

OBSERVED = "observed"
RIGHT_CENSORED = "right_censored"
LEFT_CENSORED = "left_censored"
MISSING = "missing"
STATUSES = (OBSERVED, RIGHT_CENSORED, LEFT_CENSORED, MISSING)

# A crossing needs no more than a decade around the threshold: a zero or an exploded risk must not outvote its
# neighbours.
REACH = np.log(10.0)


def crossings(samples: ArrayLike, risk: ArrayLike, threshold: float) -> tuple[np.ndarray, np.ndarray]:
    """Find n* of many curves over one grid: log risk is made non-increasing in log n, then interpolated.

    samples: (N,) increasing and positive. risk: (..., N) >= 0, in the units of `threshold`; NaN = not visited (the walk
    had stopped, or over the cap), +inf = visited and above. A curve that never falls to the threshold is right-censored
    at its last visited n; one already below it at the first is left-censored there. Returns n* (...) float64, that end
    where censored and NaN where missing, and status (...), strings of STATUSES. Raises ValueError on a grid that does
    not increase, a negative risk or a threshold that is not positive."""
    samples, risk = np.asarray(samples, dtype=np.float64), np.asarray(risk, dtype=np.float64)
    _check(samples, risk, threshold)
    curves = risk.reshape(-1, len(samples))
    visited = ~np.isnan(curves)
    count = visited.sum(axis=1)
    # The visited cells of each curve to the front; what follows is padded with the least value, which pools
    # with nothing.
    order = np.argsort(~visited, axis=1, kind="stable")
    log_n = np.log(samples)[order]
    risks = np.take_along_axis(curves, order, axis=1)
    fitted = isotonic_heights(np.where(np.arange(len(samples)) < count[:, None], risks, 0.0), threshold)

    below = fitted <= 0
    first = np.where(below.any(axis=1), below.argmax(axis=1), len(samples))
    rows, last = np.arange(len(curves)), np.maximum(count - 1, 0)
    right, before = np.clip(first, 1, None).clip(max=len(samples) - 1), np.clip(first - 1, 0, None)
    high, low = fitted[rows, before], fitted[rows, right]
    share = np.divide(high, high - low, out=np.zeros_like(high), where=high > low)
    interpolated = log_n[rows, before] + share * (log_n[rows, right] - log_n[rows, before])

    never = first >= count
    already = (first == 0) & (fitted[:, 0] < 0)
    at_first = (first == 0) & ~already
    # A censored n* is a point of the grid, to the last bit.
    grid = samples[order]
    edge = np.where(at_first | already, grid[:, 0], grid[rows, last])
    values = np.where(at_first | already | never, edge, np.exp(interpolated))
    status = np.full(len(curves), OBSERVED, dtype="<U14")
    status[already], status[never], status[count == 0] = LEFT_CENSORED, RIGHT_CENSORED, MISSING
    values[count == 0] = np.nan
    return values.reshape(risk.shape[:-1]), status.reshape(risk.shape[:-1])


def value_at(falling: np.ndarray, values: np.ndarray, threshold: float) -> float:
    """Return what a curve has where another first falls to a threshold, interpolated in the logs of both.

    falling, values: (T,), of which steps where either is not finite, or falling not positive, do not count. NaN where
    it never falls so far, the first value where it begins below."""
    known = np.isfinite(falling) & np.isfinite(values) & (falling > 0)
    falling, values = falling[known], values[known]
    below = np.flatnonzero(falling <= threshold)
    if not len(below):
        return np.nan
    i = int(below[0])
    if i == 0:
        return float(values[0])
    part = np.log(falling[i - 1] / threshold) / np.log(falling[i - 1] / falling[i])
    return float(np.exp((1 - part) * np.log(values[i - 1]) + part * np.log(values[i])))


def isotonic_heights(risk: ArrayLike, threshold: float) -> np.ndarray:
    """Return log risk over the threshold, made non-increasing by least squares.

    risk: (..., N) >= 0, +inf allowed -> (..., N) float64, within a factor of ten of the threshold on either side.
    """
    heights = np.log(np.maximum(risk, 1e-300)) - np.log(threshold)
    flat = np.clip(heights, -REACH, REACH).reshape(-1, np.shape(risk)[-1])
    return non_increasing(flat).reshape(np.shape(risk))


def non_increasing(values: ArrayLike) -> np.ndarray:
    """Fit non-increasing values by least squares: min over a <= i of max over b >= i of mean(values[a..b]).

    values: (C, N) finite -> (C, N) float64. Quadratic in N but without a loop over curves.
    """
    # Curves along the last axis in memory, so that every step runs over neighbours.
    columns = np.ascontiguousarray(np.asarray(values, dtype=np.float64).T)
    length = len(columns)
    total = np.concatenate([np.zeros((1, columns.shape[1])), np.cumsum(columns, axis=0)])
    fitted = np.full(columns.shape, np.inf)
    for a in range(length):
        means = (total[a + 1 :] - total[a]) / np.arange(1, length - a + 1)[:, None]
        largest = np.maximum.accumulate(means[::-1], axis=0)[::-1]
        np.minimum(fitted[a:], largest, out=fitted[a:])
    return fitted.T


def _check(samples: np.ndarray, risk: np.ndarray, threshold: float) -> None:
    if samples.ndim != 1 or len(samples) == 0 or samples[0] <= 0 or np.any(np.diff(samples) <= 0):
        raise ValueError(f"samples {samples}; expected a grid of positive numbers that increases")
    if risk.shape[-1:] != samples.shape:
        raise ValueError(f"risk of shape {risk.shape} over {len(samples)} sample sizes; expected (..., {len(samples)})")
    if not threshold > 0:
        raise ValueError(f"threshold {threshold}; expected a positive number")
    if np.any(risk < 0):
        raise ValueError(f"risk as low as {np.nanmin(risk)}; expected no negative value")
