"""The sample sizes at which each seed is trained: all of a list, or those that a search for crossings asks for."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hierlearn.core import boundary
from hierlearn.core.problem import Problem, ProblemFeatures
from hierlearn.core.protocols import REMEDIES, STATUS, Fit, Learner, Monitor, Sample, Teacher
from hierlearn.run.search import next_place


def walk(
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
            fit = boundary.fit(learner, Sample(part, seen, n, choices, streams), monitor, cache)
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
