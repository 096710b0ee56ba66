"""The walk up the sample sizes: each seed goes on until the risk has crossed every threshold, and one size further."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hierlearn.core import boundary
from hierlearn.core.problem import Problem, ProblemFeatures
from hierlearn.core.protocols import REMEDIES, STATUS, Fit, Learner, Monitor, Sample, Teacher


def walk(
    learner: Learner,
    problem: Problem,
    features: ProblemFeatures,
    samples: Sequence[int],
    thresholds: Sequence[float],
    choices: Mapping[str, Sequence[float]],
    monitor: Monitor,
    caches: dict[int, dict[Any, Any]] | None = None,
) -> dict[int, tuple[list[int], Fit]]:
    """Fits by sample size: the positions of the seeds that came so far, and their fit.

    A seed stops at the second size in a row whose validation risk is at or below the smallest threshold; without
    thresholds it visits every size. No seed depends on another: a learner trains them in one call (`batch_seeds`) only
    if that changes no number. caches: what the same learner with other choices left behind, by group of seeds.
    """
    everyone = list(range(len(problem.seeds)))
    groups = [everyone] if learner.batch_seeds else [[position] for position in everyone]
    visits: dict[int, list[tuple[list[int], Fit]]] = {n: [] for n in samples}
    for number, group in enumerate(groups):
        cache = {} if caches is None else caches.setdefault(number, {})
        part, seen = problem.take(group), features.take(group)
        active, crossed = np.array(group), np.zeros(len(group), dtype=int)
        for n in samples:
            streams = part.streams.at("learner", learner.stream_key or type(learner).__name__)
            fit = boundary.fit(learner, Sample(part, seen, n, choices, streams), monitor, cache)
            held_out = part.draw("validation", part.held_out).target
            fit.validation_risk = part.denoise(fit.validation_risk, held_out)
            visits[n].append((active.tolist(), fit))
            for line in failures(learner, part.seeds, n, fit):
                monitor.report(number + 1, len(groups), line)
            crossed = np.where(fit.validation_risk <= min(thresholds, default=-np.inf), crossed + 1, 0)
            monitor.report(number + 1, len(groups), f"n = {n}: validation risk {np.round(fit.validation_risk, 4)}")
            stay = np.flatnonzero(crossed < 2)
            if len(stay) < len(active):
                part, seen, active, crossed = part.take(stay), seen.take(stay), active[stay], crossed[stay]
            if not len(active):
                break
    return {
        n: ([position for positions, _ in parts for position in positions], Fit.stack(fit for _, fit in parts))
        for n, parts in visits.items()
        if parts
    }


def failures(learner: Learner, seeds: Sequence[int], samples: int, fit: Fit) -> list[str]:
    """One line for every way in which seeds failed, with its remedy."""
    name = type(learner).__module__.rpartition(".")[2]
    lines = []
    for status, remedy in REMEDIES.items():
        failed = [seed for seed, value in zip(seeds, fit.status, strict=True) if value == STATUS[status]]
        if failed:
            lines.append(f"{name}: n = {samples}: seeds {failed} {status}: {remedy}")
    return lines


def unreachable(learner: Learner, teacher: Teacher, dimension: int) -> list[str]:
    """One line for every reason why a learner of the raw input, of norm 1, cannot represent a degree of a teacher."""
    return list(dict.fromkeys(filter(None, (learner.unreachable(dimension, degree) for degree in teacher.degrees()))))
