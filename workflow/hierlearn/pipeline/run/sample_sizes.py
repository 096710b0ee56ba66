"""The sample sizes at which each seed is trained: all of a list, or those that a search for crossings asks for."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

import numpy as np

from hierlearn.core import contracts
from hierlearn.core.problem import Problem, ProblemFeatures
from hierlearn.core.protocols import REMEDIES, STATUS, Fit, Learner, Monitor, TrainingData
from hierlearn.statistics.learning_curves import isotonic_heights

# A risk so close to the threshold, in its logarithm, may well lie on its other side on test points.
MARGIN = 0.05


def train_curve(
    learner: Learner,
    problem: Problem,
    features: ProblemFeatures,
    samples: Sequence[int],
    search: Mapping[str, Any] | None,
    choices: Mapping[str, Sequence[float]],
    monitor: Monitor,
    caches: dict[int, dict[Any, Any]] | None = None,
) -> dict[int, tuple[list[int], Fit]]:
    """Fits by sample size: the positions of the seeds that were trained there, and their fit.

    search: the size `near` which a seed begins and the `thresholds` whose crossings it looks for; None visits every
    size. No seed depends on another: a learner trains those that ask for the same size in one call (`batch_seeds`) only
    if that changes no number. caches: what the same learner with other choices left behind, by group of seeds.
    """
    everyone = list(range(len(problem.seeds)))
    groups = [everyone] if learner.batch_seeds else [[position] for position in everyone]
    visits: dict[int, list[tuple[list[int], Fit]]] = {n: [] for n in samples}
    for number, group in enumerate(groups):
        cache = {} if caches is None else caches.setdefault(number, {})
        risks: dict[int, dict[int, float]] = {position: {} for position in group}
        together, part, seen = group, problem.take(group), features.take(group)
        while asked := _next_places(risks, samples, search):
            place = min(asked.values())
            if together != (now := [position for position in group if asked.get(position) == place]):
                together, part, seen = now, problem.take(now), features.take(now)
            n = samples[place]
            streams = part.streams.at("learner", learner.stream_key or type(learner).__name__)
            fit = contracts.fit(learner, TrainingData(part, seen, n, choices, streams), monitor, cache)
            held_out = part.draw("validation", part.held_out).target
            fit.validation_risk = part.denoise(fit.validation_risk, held_out)
            visits[n].append((together, fit))
            for line in failures(learner, part.seeds, n, fit):
                monitor.report(number + 1, len(groups), line)
            for position, risk in zip(together, fit.validation_risk.tolist(), strict=True):
                risks[position][place] = risk
            monitor.report(number + 1, len(groups), f"n = {n}: validation risk {np.round(fit.validation_risk, 4)}")
    return {
        n: ([position for positions, _ in parts for position in positions], Fit.stack(fit for _, fit in parts))
        for n, parts in visits.items()
        if parts
    }


def _next_places(
    risks: Mapping[int, Mapping[int, float]], samples: Sequence[int], search: Mapping[str, Any] | None
) -> dict[int, int]:
    """The place among the sample sizes at which each seed is trained next; nothing of a seed that is done."""
    if search is None:
        return {position: len(seen) for position, seen in risks.items() if len(seen) < len(samples)}
    first = int(np.argmin(np.abs(np.log(samples) - np.log(search["near"]))))
    asked = {position: next_place(seen, first, len(samples), search["thresholds"]) for position, seen in risks.items()}
    return {position: place for position, place in asked.items() if place is not None}


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


def failures(learner: Learner, seeds: Sequence[int], samples: int, fit: Fit) -> list[str]:
    """One line for every way in which seeds failed, with its remedy."""
    name = type(learner).__module__.rpartition(".")[2]
    lines = []
    for status, remedy in REMEDIES.items():
        failed = [seed for seed, value in zip(seeds, fit.status, strict=True) if value == STATUS[status]]
        if failed:
            lines.append(f"{name}: n = {samples}: seeds {failed} {status}: {remedy}")
    return lines
