"""The walk up the sample sizes: each seed goes on until the risk has crossed every threshold, and one size further."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hierlearn.core import boundary
from hierlearn.core.problem import Problem, ProblemFeatures
from hierlearn.core.protocols import REMEDIES, STATUS, Fit, Learner, Monitor, Teacher


def walk(
    learner: Learner,
    problem: Problem,
    features: ProblemFeatures,
    samples: Sequence[int],
    thresholds: Sequence[float],
    choices: Mapping[str, Sequence[float]],
    monitor: Monitor,
    memories: dict[int, dict[Any, Any]] | None = None,
) -> dict[int, tuple[list[int], Fit]]:
    """Fits by sample size: the positions of the seeds that came so far, and their fit.

    A seed stops at the second size in a row whose validation risk is at or below the smallest threshold; without
    thresholds it visits every size. No seed
    depends on another: a learner trains them together (`together`) only if that changes no number.
    memories: what a walk of the same learner with other choices left behind, by group of seeds.
    """
    everyone = list(range(len(problem.seeds)))
    groups = [everyone] if learner.together else [[position] for position in everyone]
    visits: dict[int, list[tuple[list[int], Fit]]] = {n: [] for n in samples}
    for number, group in enumerate(groups):
        memory = {} if memories is None else memories.setdefault(number, {})
        part, seen = problem.take(group), features.take(group)
        active, crossed = np.array(group), np.zeros(len(group), dtype=int)
        for n in samples:
            streams = part.streams.at("learner", type(learner).__name__)
            fit = boundary.fit(learner, part, seen, n, choices, streams, monitor, memory)
            held_out = part.draw("validation", part.held_out).target
            fit.validation_risk = part.denoised(fit.validation_risk, held_out)
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
    return {n: joined(parts) for n, parts in visits.items() if parts}


def failures(learner: Learner, seeds: Sequence[int], samples: int, fit: Fit) -> list[str]:
    """One line for every way in which seeds failed, with its remedy."""
    name = type(learner).__module__.rpartition(".")[2]
    lines = []
    for status, remedy in REMEDIES.items():
        failed = [seed for seed, value in zip(seeds, fit.status, strict=True) if value == STATUS[status]]
        if failed:
            lines.append(f"{name}: n = {samples}: seeds {failed} {status}: {remedy}")
    return lines


def blind_spots(learner: Learner, teacher: Teacher, dimension: int) -> list[str]:
    """One line for every reason why a learner of the raw input, of norm 1, cannot represent a degree of a teacher."""
    if not hasattr(learner, "blind"):
        return []
    return list(dict.fromkeys(filter(None, (learner.blind(dimension, degree) for degree in teacher.degrees()))))


def joined(parts: Sequence[tuple[list[int], Fit]]) -> tuple[list[int], Fit]:
    """Fits of disjoint seeds at one sample size as one fit."""
    positions = [position for part, _ in parts for position in part]
    fits = [fit for _, fit in parts]
    if len(fits) == 1:
        return positions, fits[0]

    def together(pick):
        first = pick(fits[0])
        return {name: np.concatenate([pick(fit)[name] for fit in fits]) for name in first}

    return positions, Fit(
        state=together(lambda fit: fit.state),
        status=np.concatenate([fit.status for fit in fits]),
        validation_risk=np.concatenate([fit.validation_risk for fit in fits]),
        train_risk=np.concatenate([fit.train_risk for fit in fits]),
        choices=together(lambda fit: fit.choices),
        certificate=None if fits[0].certificate is None else together(lambda fit: fit.certificate),
        measures=together(lambda fit: fit.measures),
        trace=together(lambda fit: fit.trace),
        flops=None if fits[0].flops is None else np.concatenate([fit.flops for fit in fits]),
    )
