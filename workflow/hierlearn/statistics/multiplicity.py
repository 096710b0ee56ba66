"""Many rows at once: p-values read off intervals, and Holm's correction, which no dependence between rows breaks."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats


def holm(p_values: ArrayLike) -> np.ndarray:
    """Holm's adjusted p-values (m,) of p-values (m,), in their order: max over j <= i of (m - j + 1) p_(j), at most 1.

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


def p_beyond(value: float, low: float, high: float, limit: float, seeds: int, level: float = 0.95) -> float:
    """One-sided p-value of a limit that an interval lies beyond; 1/2 at the value, (1 - level)/2 at its nearer end.

    value, low, high: of the interval, of that level. The tail is that of Student's t with seeds - 1 degrees of freedom
    (at least one), as wide as the interval's half towards the limit: exact for the mean of normal seeds, and for
    fits, which have more degrees of freedom, conservative. Raises ValueError unless low <= value <= high.
    """
    if not low <= value <= high:
        raise ValueError(f"value {value} outside its interval [{low}, {high}]")
    distance = abs(value - limit)
    half = value - low if limit < value else high - value
    if half == 0:
        return 0.5 if distance == 0 else 0.0
    freedom = max(seeds - 1, 1)
    return float(stats.t.sf(stats.t.ppf((1 + level) / 2, freedom) * distance / half, freedom))
