"""The search for crossings on a lattice of sample sizes: which size a seed is trained at next, by its risks so far."""

from collections.abc import Mapping, Sequence
from math import ceil

import numpy as np

from hierlearn.statistics.learning_curves import isotonic_heights

# A risk so close to the threshold, in its logarithm, may well lie on its other side on test points.
MARGIN = 0.05


def next_place(risks: Mapping[int, float], first: int, count: int, thresholds: Sequence[float]) -> int | None:
    """The place on a lattice of `count` sizes at which to train next, None where every crossing is found.

    risks: validation risk by place visited so far, NaN (no number) for one above every threshold. The walk begins at
    `first` and goes up or down, as far as the last two risks say but no more than twice its last step, until the
    crossing of a threshold lies between two places; then it cuts what is between them, about where a line through their
    risks crosses, until they are neighbours. Where one of these is the first or the last place visited and its risk is
    within MARGIN of the threshold it goes one further, so that the crossing of test risks lies between places visited,
    too. A crossing is that of the curve that does not increase, as for n*. Depends on what is given alone.
    """
    if not risks:
        return first
    places = sorted(risks)
    values = np.array([risks[place] for place in places], dtype=np.float64)
    for threshold in sorted(thresholds, reverse=True):
        heights = isotonic_heights(np.nan_to_num(values, nan=np.inf), threshold)
        place = _toward(places, heights.tolist(), count)
        if place is not None:
            return place
    return None


def _toward(places: list[int], heights: list[float], count: int) -> int | None:
    """The next place on the way to one crossing. places increase, heights do not."""
    above = sum(height > 0 for height in heights)
    if above == len(places):
        return min(places[-1] + _step(places[-2:], heights[-2:]), count - 1) if places[-1] < count - 1 else None
    if above == 0:
        return max(places[0] - _step(places[1::-1], heights[1::-1]), 0) if places[0] > 0 else None
    (left, right), (high, low) = places[above - 1 : above + 1], heights[above - 1 : above + 1]
    if right - left > 1:
        # Not too close to either end: a curve that bends would be cut one by one.
        least = max(1, (right - left) // 4)
        return min(max(left + round((right - left) * high / (high - low)), left + least), right - least)
    if low > -MARGIN and right == places[-1] and right < count - 1:
        return right + 1
    if high < MARGIN and left == places[0] and left > 0:
        return left - 1
    return None


def _step(places: list[int], heights: list[float]) -> int:
    """How far to go on from the last of two places, or of one, to come behind the crossing by MARGIN."""
    if len(places) < 2:
        return 1
    gap = abs(places[1] - places[0])
    fall = abs(heights[1] - heights[0]) / gap
    return min(ceil((abs(heights[1]) + MARGIN) / fall), 2 * gap) if fall > 0 else 2 * gap
