"""The stored form of a problem: teacher, points and labels of one point of a study's grid."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from hierlearn.core import contracts, registry
from hierlearn.core.problem import Problem, ProblemFeatures, essential, pose, streams_of
from hierlearn.core.protocols import Batch, Representation, State
from hierlearn.pipeline.files.netcdf import Group, Variable
from hierlearn.pipeline.files.scores import attributes_of, axis

PREFIXES = {
    "teacher": "part of the teacher",
    "state": "part of what was fitted",
    "trace": "recorded while it was trained",
    "measure": "measured",
}
TEXTS = {
    "x": "{role} points",
    "rows": "{role} points: numbers of rows of the finite set, from 0",
    "labels": "{role} labels, noisy",
    "target": "{role} targets, noise-free",
}
LABELLED = ("training", "validation", "test")


def problem_of(point: Mapping[str, Any], state: State | None = None) -> Problem:
    """The problem that a job's parameters describe."""
    content = point["problem"]
    return pose(
        registry.build("inputs", content["input"], dimension=content["dimension"]),
        registry.build("teachers", content["teacher"]),
        content["scale"],
        content["label_noise"],
        streams_of(essential(content), tuple(point["seeds"]), point.get("draw", "")),
        point.get("validation", 0),
        state,
    )


def draw(point: Mapping[str, Any]) -> Group:
    """All that data.nc holds of a problem; of a finite set the numbers of its rows in the place of points."""
    problem = problem_of(point)
    problem.check_norm()
    group = {
        "seed": Variable(("seed",), np.array(problem.seeds), axis("seed")),
        "target_norm": Variable(("seed",), problem.norm, attributes_of("target_norm")),
    }
    group |= pack("teacher", problem.state)
    for role, count in point["counts"].items():
        if role in LABELLED:
            batch = problem.draw(role, count)
            parts = {"x": batch.x, "labels": batch.labels, "target": batch.target}
        else:
            parts = {"x": problem.unlabelled(count)}
        if (rows := problem.rows(role, count)) is not None:
            parts = {"rows": rows} | {part: values for part, values in parts.items() if part != "x"}
        for part, values in parts.items():
            axes = {"x": feature_axes(values), "rows": ()}.get(part, ("output",))
            attributes = {"long_name": TEXTS[part].format(role=role), "units": "1"}
            group[f"{role}_{part}"] = Variable(("seed", f"{role}_point", *axes), values, attributes)
    return group


def feature_axes(x: np.ndarray) -> tuple[str, ...]:
    """The names of the axes of points (S, n, *shape) behind the first two."""
    return ("feature",) if x.ndim == 3 else tuple(f"feature_{i}" for i in range(1, x.ndim - 1))


def load(point: Mapping[str, Any], group: Group) -> Problem:
    """The problem with its pools, from a group of data.nc."""
    problem = problem_of(point, unpack("teacher", group))
    pools = {}
    for role in LABELLED:
        if f"{role}_labels" in group:
            parts = [group[f"{role}_{part}"].values for part in ("labels", "target")]
            pools[role] = Batch(_points(problem, group, role), *parts)
    if {"unlabelled_x", "unlabelled_rows"} & set(group):
        x = _points(problem, group, "unlabelled")
        nothing = np.empty((*x.shape[:2], 0))
        pools["unlabelled"] = Batch(x, nothing, nothing)
    return replace(problem, pools=pools)


def _points(problem: Problem, group: Group, role: str) -> np.ndarray:
    """The points (S, n, *shape) of a role, as they are stored or by their rows."""
    if f"{role}_x" in group:
        return group[f"{role}_x"].values
    return contracts.points_of_rows(problem.inputs, group[f"{role}_rows"].values)


def features(problem: Problem, representation: Representation, group: Group | None) -> ProblemFeatures:
    """A problem through a representation that was fitted before (raw needs no fit)."""
    if group is None:
        nothing = np.empty((len(problem.seeds), 0, 0))
        state = contracts.representation_state(representation, nothing, problem.streams)
    else:
        state = unpack("state", group)
    return ProblemFeatures(problem, representation, state)


def pack(prefix: str, state: State, texts: Mapping[str, str] | None = None) -> dict[str, Variable]:
    """Arrays with the seed first, each with dimensions of its own. texts: one line on each, as far as known."""
    stored = {}
    for name, values in state.items():
        axes = ("seed", *(f"{prefix}_{name}_{i}" for i in range(1, values.ndim)))
        text = (texts or {}).get(name, f"{PREFIXES.get(prefix, prefix)}: {name.replace('_', ' ')}")
        stored[f"{prefix}_{name}"] = Variable(axes, values, {"long_name": text, "units": "1"})
    return stored


def unpack(prefix: str, group: Group) -> State:
    """The arrays that `pack` stored under a prefix."""
    return {
        name.removeprefix(f"{prefix}_"): variable.values
        for name, variable in group.items()
        if name.startswith(f"{prefix}_")
    }
