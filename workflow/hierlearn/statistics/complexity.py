"""Sample complexities by size and seed, and what censored ones leave known about medians and ratios."""

from dataclasses import dataclass

import numpy as np

from hierlearn.statistics.intervals import median
from hierlearn.statistics.learning_curves import LEFT_CENSORED, MISSING, OBSERVED, RIGHT_CENSORED, STATUSES


@dataclass(frozen=True)
class Complexities:
    """n* of one learner. sizes: (K,) increasing, usually d. samples: (K, S) as `learning_curves.crossings` gives them;
    status: (K, S) strings. Raises ValueError on other shapes, an unknown status or an n* that is not positive."""

    sizes: np.ndarray
    samples: np.ndarray
    status: np.ndarray

    def __post_init__(self) -> None:
        for name, kind in (("sizes", None), ("samples", np.float64), ("status", str)):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=kind))
        shapes = self.sizes.shape, self.samples.shape, self.status.shape
        if self.samples.ndim != 2 or shapes[1] != shapes[2] or shapes[0] != shapes[1][:1]:
            raise ValueError(f"sizes, samples, status of shapes {shapes}; expected (K,), (K, S), (K, S)")
        if np.any(np.diff(self.sizes) <= 0):
            raise ValueError(f"sizes {self.sizes}; expected increasing numbers")
        if not np.isin(self.status, STATUSES).all():
            unknown = sorted(set(self.status.flat) - set(STATUSES))
            raise ValueError(f"status {unknown}; expected one of {STATUSES}")
        known = self.samples[self.status != MISSING]
        if not np.all(np.isfinite(known) & (known > 0)):
            raise ValueError("samples that are not positive numbers where the status is not 'missing'")


def where_positive(sizes: np.ndarray, values: np.ndarray) -> Complexities:
    """Return the table of values (K, S) that are observed where they are positive and finite, and else missing."""
    positive = np.isfinite(values) & (values > 0)
    return Complexities(sizes, np.where(positive, values, np.nan), np.where(positive, OBSERVED, MISSING))


def bounds(table: Complexities) -> tuple[np.ndarray, np.ndarray]:
    """Return the interval in which each log n* is known to lie: (K, S) lows and highs, equal where observed."""
    log_n = np.log(np.where(table.status == MISSING, 1.0, table.samples))
    low = np.where(np.isin(table.status, (LEFT_CENSORED, MISSING)), -np.inf, log_n)
    high = np.where(np.isin(table.status, (RIGHT_CENSORED, MISSING)), np.inf, log_n)
    return low, high


def ratio_bounds(above: Complexities, below: Complexities) -> tuple[np.ndarray, np.ndarray]:
    """Return the interval in which each seed's log(n*_above / n*_below) is known to lie: (K, S) lows and highs.

    Censored on one side only, a pair has a one-sided bound; censored on both (or missing), none at all.
    Raises ValueError unless both tables have the same sizes and number of seeds.
    """
    if above.samples.shape != below.samples.shape or not np.array_equal(above.sizes, below.sizes):
        shapes = above.samples.shape, below.samples.shape
        raise ValueError(f"tables of shapes {shapes}; expected the same sizes and seeds")
    (a_low, a_high), (b_low, b_high) = bounds(above), bounds(below)
    return a_low - b_high, a_high - b_low


def medians(table: Complexities) -> tuple[np.ndarray, list[str]]:
    """Return the median log n* of each size over its seeds, (K,), and why there is none (NaN), or "".

    A right-censored seed counts as +inf and a left-censored one as -inf, so the median is exact while fewer than half
    of the seeds are censored; otherwise, and where a seed is missing, the size is left to its bound."""
    low, high = bounds(table)
    stand_ins = np.where(np.isinf(high), high, low)
    reasons = [_obstacle(status) for status in table.status]
    values = [np.nan if why else median(one) for why, one in zip(reasons, stand_ins, strict=True)]
    return np.array(values), reasons


def ratio_medians(above: Complexities, below: Complexities) -> tuple[np.ndarray, list[str]]:
    """Return the median over seeds of log(n*_above / n*_below) at each size, (K,), and why there is none (NaN), or "".

    A censored pair has a bound of its own which need not lie beyond the median: the median is given only where it is
    the same for every value that the censored pairs may have, and fewer than half of the pairs are censored."""
    low, high = ratio_bounds(above, below)
    unmeasured = np.sum((above.status == MISSING) | (below.status == MISSING), axis=1)
    values, reasons = [], []
    for i in range(len(low)):
        censored, seeds = int(np.sum(low[i] != high[i])), low.shape[1]
        smallest, largest = median(low[i]), median(high[i])
        if 2 * censored >= seeds and unmeasured[i] == censored:
            reason = f"{censored} of {seeds} pairs not measured"
        elif 2 * censored >= seeds and censored:
            reason = f"{censored} of {seeds} pairs censored"
        elif smallest != largest:
            reason = f"{censored} of {seeds} pairs censored, and the median depends on them"
        else:
            reason = ""
        values.append(np.nan if reason else smallest)
        reasons.append(reason)
    return np.array(values), reasons


def observes_every_seed(table: Complexities) -> np.ndarray:
    """Return (K,) bool: every seed of the size is observed."""
    return np.all(table.status == OBSERVED, axis=1)


def _obstacle(status: np.ndarray) -> str:
    """Why the median over the seeds of a size is not fitted; "" if it is."""
    if not len(status):
        return "no seeds"
    counts = {name: int(np.sum(status == name)) for name in STATUSES}
    if counts[MISSING]:
        return f"{counts[MISSING]} of {len(status)} seeds not measured"
    if 2 * (counts[RIGHT_CENSORED] + counts[LEFT_CENSORED]) >= len(status):
        sides = [f"{counts[name]} {name}" for name in (RIGHT_CENSORED, LEFT_CENSORED) if counts[name]]
        return f"{' and '.join(sides)} of {len(status)} seeds".replace("_", "-")
    return ""
