"""What a study leaves to be chosen of a DenseNet's training, and when its layers come and its traces look."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from hierlearn.learners.densenets.student import Student
from hierlearn.solvers.densenets.phases import Schedule
from hierlearn.theory import quadratic_densenets

GRAPHS = ("own", "skip", "chain", "dense")
# Looks of a trace per phase: so many evenly spaced ones, and so many in the logarithm of the time since its start.
EVEN, EARLY = 8, 6


def graph(name: str, student: Student) -> tuple[tuple[int, ...], ...]:
    """J_2 .. J_L of a graph by its name."""
    return student.links if name == "own" else quadratic_densenets.links_by_name(name, student.depth)


def union(graphs: Sequence[tuple[tuple[int, ...], ...]]) -> tuple[tuple[int, ...], ...]:
    """What layers see in any of some graphs."""
    return tuple(tuple(sorted(set().union(*blocks))) for blocks in zip(*graphs, strict=True))


def phase_schedule(learner: Any, depth: int, total: int) -> Schedule:
    """The learner's schedule in steps. Raises ValueError where its lists do not fit the depth."""
    parts = learner.starts
    if parts is None:
        parts = [(i + 1) / (depth - 1) for i in range(depth - 2)]
    if len(parts) != depth - 2 or list(parts) != sorted(set(parts)):
        raise ValueError(f"starts: {parts}; expected {depth - 2} parts of the training, growing")
    thresholds = learner.thresholds or []
    if len(thresholds) not in (0, depth - 2):
        raise ValueError(f"thresholds: {thresholds}; expected {depth - 2} losses, one for each layer from 3 on")
    starts = tuple(max(i + 1, round(part * total)) for i, part in enumerate(parts))
    return Schedule(learner.schedule, depth, starts, tuple(thresholds), total, learner.annealing)


def steps_to_look_at(schedule: Schedule) -> list[int]:
    """Steps at which a trace looks: fast changes follow each planned start, and the slow ones last long."""
    edges = [0, *(step for step in schedule.starts if step < schedule.total), schedule.total]
    steps = {schedule.total}
    for first, last in pairwise(edges):
        since = [*np.geomspace(1, last - first, EARLY), *np.linspace(1, last - first, EVEN + 1)]
        steps |= {first + round(float(step)) for step in since}
    return sorted(steps)
