"""What is known of n* that was not observed: bounds, drawn and in words."""

from collections import Counter
from collections.abc import Iterable

import numpy as np

from hierlearn.statistics.complexity import Complexities, bounds, medians
from hierlearn.statistics.intervals import median

# Neighbouring bounds are this factor of d apart.
BESIDE = 1.06


def limits(table: Complexities) -> tuple[np.ndarray, np.ndarray]:
    """Bounds (K,) of the sizes without a median over seeds: below n* and above it; not finite where there is none."""
    centre, _ = medians(table)
    low, high = (np.exp([median(one) for one in side]) for side in bounds(table))
    unknown = ~np.isfinite(centre)
    return np.where(unknown & (low > 0), low, np.nan), np.where(unknown & np.isfinite(high), high, np.nan)


def draw_bounds(panel, table: Complexities, colour: str, marker: str, beside: Counter[int]) -> None:
    """Open markers with arrows: upwards from lower bounds, downwards from upper ones. beside: how many stand at a d."""
    for ends, down in zip(limits(table), (False, True), strict=True):
        for d, n in zip(table.sizes.astype(int).tolist(), ends, strict=True):
            if np.isfinite(n):
                # Side by side: budgets are alike, and an arrow would point into the next marker.
                place = d * BESIDE ** beside[d], n
                panel.plot(*place, color=colour, marker=marker, mfc="white", ls="none")
                arrow = {"arrowstyle": "<-", "color": colour, "lw": 0.9, "shrinkA": 0, "shrinkB": 2.5}
                end = (0, -13 if down else 13)
                panel.annotate("", place, end, textcoords="offset points", arrowprops=arrow)
                beside[d] += 1


def words(tables: Iterable[Complexities]) -> str:
    """What a panel says where no n* of any table is known; "" where one is."""
    tables = list(tables)
    if any(np.isfinite(medians(table)[0]).any() for table in tables):
        return ""
    low, high = (np.concatenate([*ends, []]) for ends in zip(*map(limits, tables), strict=True)) if tables else ([], [])
    low, high = (np.asarray(ends)[np.isfinite(ends)] for ends in (low, high))
    if len(low) and len(high):
        return "no n* observed: bounds alone"
    if len(high):
        return f"n* at most {np.max(high):.0f}:\nthe smallest sizes already reach the risk"
    return f"n* above {np.min(low):.0f}:\nno size reaches the risk" if len(low) else "no n* was measured"
