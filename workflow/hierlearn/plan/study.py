"""Expands a checked study into tasks and the exact parameters of every job."""

import functools
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import comb
from typing import Any

from hierlearn.core import registry
from hierlearn.theory.dimensions import harmonics, neurons_of_harmonics, polynomials

RAW = {"name": "raw"}
# No size is beyond this one.
LARGEST = 10**18


@dataclass(frozen=True)
class Point:
    """One problem of a study's grid: its name inside the task, its coordinates, and what is to be learned."""

    name: str
    coordinates: dict[str, Any]
    problem: dict[str, Any]

    @property
    def dimension(self) -> int:
        return self.coordinates["dimension"]


@dataclass(frozen=True)
class Task:
    """The block of the grid that one job computes; part: its value of what is cut beside the axes, seeds and swept
    parameters."""

    name: str
    points: tuple[Point, ...]
    part: Mapping[str, Any] = field(default_factory=dict)


def _remembered(method: Callable) -> Callable:
    """A method of a study that is asked the same again and again: every job of a task asks for what the task has."""

    @functools.wraps(method)
    def asked(self, *given):
        places = (repr(one.coordinates) if isinstance(one, Point) else getattr(one, "name", one) for one in given)
        known, place = self._known, (method.__name__, *places)
        if place not in known:
            known[place] = method(self, *given)
        return known[place]

    return asked


@dataclass(frozen=True)
class Study:
    """A checked study at one preset. content: the study file with overlay and defaults filled in; published: the
    tables of its paper by name, None where their file cannot be used."""

    name: str
    file: str
    preset: str
    content: dict[str, Any]
    published: dict[str, Any] | None = field(default_factory=dict)

    @cached_property
    def _known(self) -> dict[tuple, Any]:
        """What `_remembered` methods have answered."""
        return {}

    @property
    def axes(self) -> dict[str, list]:
        return self.content["axes"]

    @property
    def seeds(self) -> list[int]:
        return list(range(self.content["seeds"]))

    @cached_property
    def tasks(self) -> dict[str, Task]:
        """Tasks by name, largest dimension first, so that the longest jobs start first."""
        cut = [axis for axis in self.axes if axis in self.content["cut"]]
        rest = [axis for axis in self.axes if axis not in cut]
        beside = {name: self.cuttable[name] for name in self.content["cut"] if name not in cut}
        tasks = []
        for outer in product({axis: self.axes[axis] for axis in cut}):
            inner = product({axis: self.axes[axis] for axis in rest})
            points = tuple(self.point({**outer, **coordinates}, rest) for coordinates in inner)
            tasks += [Task(label(outer | part) or "all", points, part) for part in product(beside)]
        tasks.sort(key=lambda task: -max(point.dimension for point in task.points))
        return {task.name: task for task in tasks}

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """All points of the grid, each once however it is cut."""
        return tuple(self.point(coordinates, list(self.axes)) for coordinates in product(self.axes))

    @property
    def cuttable(self) -> dict[str, list]:
        """What the grid may be cut along beside its axes: seeds, and what every learner sweeps."""
        entries = self.content["learners"].values()
        shared = {name: values for name, values in self.swept.items() if all(name in e["sweep"] for e in entries)}
        return {"seed": self.seeds} | shared

    def seeds_in(self, task: Task) -> list[int]:
        """The seeds that a task computes."""
        return [task.part["seed"]] if "seed" in task.part else self.seeds

    def point(self, coordinates: Mapping[str, Any], naming: list[str] | None = None) -> Point:
        """The problem at some coordinates; `naming`: the axes that tell it from its neighbours."""
        ordered = {axis: coordinates[axis] for axis in coordinates}
        named = ordered if naming is None else {axis: ordered[axis] for axis in naming}
        return Point(label(named) or "point", ordered, self.problem(ordered))

    def problem(self, coordinates: Mapping[str, Any]) -> dict[str, Any]:
        """The canonical content of a problem, every parameter resolved: it keys the random streams."""
        posed = self.content["problem"]
        parts = {"input": dict(posed["input"]), "teacher": dict(posed["teacher"])}
        content = {"scale": posed["scale"], "label_noise": posed["label_noise"], "dimension": coordinates["dimension"]}
        for axis, value in coordinates.items():
            if axis in content:
                content[axis] = value
            elif self.placement(axis) in parts:
                parts[self.placement(axis)][axis] = value
        context = sizes(coordinates["dimension"])
        for kind, part in parts.items():
            content[kind] = described(f"{kind}s", part, context)
        return content

    def placement(self, axis: str) -> str | None:
        """Which component an axis sets a parameter of: teacher, input, representation, or None if none has it.

        An axis of the representations (all that have the parameter) leaves the problem, and so its points, as they are.
        """
        for kind in ("teacher", "input"):
            if axis in registry.parameters(f"{kind}s", self.content["problem"][kind]["name"]):
                return kind
        for description in self.content["representations"].values():
            if axis in registry.parameters("representations", description["name"]):
                return "representation"
        return None

    @_remembered
    def representation(self, name: str, point: Point) -> dict[str, Any]:
        """The description of a representation at a point."""
        context = sizes(point.dimension, degree(point.problem))
        given = RAW if name == "raw" else self.content["representations"][name]
        full = registry.defaults("representations", given["name"]) | given
        for axis, value in point.coordinates.items():
            if self.placement(axis) == "representation" and axis in full:
                full[axis] = value
        # `features` refers to the representation's own number of features.
        context["features"] = resolve(full.get("count", point.dimension), context)
        return described("representations", full, context)

    def context(self, learner: str, point: Point) -> dict[str, int]:
        """What the sizes of a learner may refer to."""
        representation = self.representation(self.content["learners"][learner]["representation"], point)
        counted = sizes(point.dimension, degree(point.problem))
        return counted | {"features": representation.get("count", point.dimension)}

    def within_limits(self, learner: str, point: Point) -> bool:
        """Whether a learner's budget reaches a point."""
        entry = self.content["learners"][learner]
        return not self._skipped(learner, point.coordinates) and all(
            point.coordinates[axis] <= most for axis, most in entry["limits"].items()
        )

    def _skipped(self, learner: str, place: Mapping[str, Any]) -> bool:
        """Whether a learner leaves out a place, coordinates with or without a number of samples."""
        skipped = self.content["learners"][learner]["skip"]
        return any(all(axis in place and place[axis] == value for axis, value in one.items()) for one in skipped)

    @_remembered
    def sample_sizes(self, learner: str, point: Point) -> list[int]:
        """The sample sizes of a learner at a point: a list, or the lattice points 2^(j/k) that lie in start .. cap."""
        planned = self.content["learners"][learner]["samples"]
        context = self.context(learner, point)
        if "at" not in planned:
            start, cap = resolve(planned["start"], context), resolve(planned["cap"], context)
            return lattice(start, cap, self.content["samples"]["per_doubling"])
        found = sorted({resolve(size, context) for size in planned["at"]})
        # Sizes at a place that is left out as a whole remain coordinates.
        if self.within_limits(learner, point):
            found = [n for n in found if not self._skipped(learner, {**point.coordinates, "samples": n})]
        return found

    def combinations(self, learner: str, part: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The combinations of what a learner sweeps that belong to a part of the study."""
        combined = product(self.content["learners"][learner]["sweep"])
        return [swept for swept in combined if all(swept.get(name, value) == value for name, value in part.items())]

    def variants(self, learner: str, point: Point, part: Mapping[str, Any] = {}) -> list[dict[str, Any]]:
        """A learner at a point, once per combination of what is swept: name, coordinates, description, choices.

        A choice may be swept instead of selected: then each variant has one value to choose from. part: of a task.
        """
        entry, context = self.content["learners"][learner], self.context(learner, point)
        known = registry.literal("learners", entry["learner"]["name"], "CHOICES") or {}
        return [
            {
                "name": label(swept) or "only",
                "coordinates": swept,
                "learner": described(
                    "learners", entry["learner"] | {k: v for k, v in swept.items() if k not in known}, context
                ),
                "choices": entry["select"] | {key: [value] for key, value in swept.items() if key in known},
            }
            for swept in self.combinations(learner, part)
        ]

    @_remembered
    def learners_in(self, task: Task) -> list[str]:
        """The learners that run somewhere in a task."""
        return [name for name in self.content["learners"] if self.trained(name, task)]

    def trained(self, learner: str, task: Task) -> list[Point]:
        """The points of a task at which a learner runs."""
        return self.within_reach(learner, task) if self.combinations(learner, task.part) else []

    def within_reach(self, learner: str, task: Task) -> list[Point]:
        """The points of a task at which a learner runs in some part of the study."""
        return [p for p in task.points if self.within_limits(learner, p) and self.sample_sizes(learner, p)]

    def representations_in(self, task: Task) -> list[str]:
        """The fitted representations that the learners of a task use."""
        used = {self.content["learners"][name]["representation"] for name in self.learners_in(task)}
        return [name for name in self.content["representations"] if name in used]

    @_remembered
    def points_needed(self, task: Task, point: Point) -> dict[str, int]:
        """How many points of each role a task's data holds per seed."""
        entries = self.content["learners"]
        # Learners that train online draw their points as they go.
        pooled = [name for name in entries if not entries[name]["learner"].get("online")]
        learners = [name for name in pooled if self.within_limits(name, point)]
        unlabelled = [self.representation(name, point)["unlabelled"] for name in self.representations_in(task)]
        counts = {
            "training": max((max(self.sample_sizes(name, point), default=0) for name in learners), default=0),
            "unlabelled": max(unlabelled, default=0),
            "validation": self.content["points"]["validation"],
            "test": self.content["points"]["test"],
        }
        return {role: count for role, count in counts.items() if count}

    @cached_property
    def swept(self) -> dict[str, list]:
        """The swept parameters of all learners, with every value that one of them takes."""
        found: dict[str, list] = {}
        for entry in self.content["learners"].values():
            for axis, values in entry["sweep"].items():
                found.setdefault(axis, [])
                found[axis] += [value for value in values if value not in found[axis]]
        return found

    @cached_property
    def coordinates(self) -> dict[str, list]:
        """The coordinates of scores.nc: learner, the axes, the swept parameters, samples, seed."""
        entries = self.content["learners"]
        samples = {n for name in entries for point in self.points for n in self.sample_sizes(name, point)}
        return {"learner": list(entries)} | self.axes | self.swept | {"samples": sorted(samples), "seed": self.seeds}


def label(coordinates: Mapping[str, Any]) -> str:
    """A name for files and groups: dimension-6_degree-4."""
    return "_".join(f"{axis.replace('_', '-')}-{value}" for axis, value in coordinates.items())


def lattice(start: int, cap: int, per_doubling: int) -> list[int]:
    """Sample sizes round(2^(j/per_doubling)) in start .. cap: one lattice for all learners, so curves share sizes."""
    sizes_, j = [], 0
    while (n := round(2 ** (j / per_doubling))) <= cap:
        if n >= start and n not in sizes_:
            sizes_.append(n)
        j += 1
    return sizes_


def sizes(dimension: int, degree: int | None = None) -> dict[str, int]:
    """The quantities that a size may refer to; quadratic_dimension is that of polynomials of degree <= 2.

    degree: of what is to be learned, where it has one; counted dimensions are those of this degree.
    """
    known = {"dimension": dimension, "quadratic_dimension": comb(dimension + 2, 2)}
    if degree is not None:
        known["harmonic_dimension"] = harmonics(dimension, degree)
        known["polynomial_dimension"] = polynomials(dimension, (degree + 1) // 2)
        known["quad_raw_dimension"] = neurons_of_harmonics(dimension, max(degree, 2))
    return known


def degree(problem: Mapping[str, Any]) -> int | None:
    """The degree of a problem's teacher, None where it has none."""
    return problem["teacher"].get("degree")


def resolve(value: Any, context: Mapping[str, int]) -> Any:
    """A size {coefficient, of, power, most} as a number, LARGEST if it is beyond that; anything else as it is."""
    if isinstance(value, dict) and "coefficient" in value:
        try:
            # As whole numbers, absurd powers would be computed for hours.
            size = value["coefficient"] * float(context[value["of"]]) ** value.get("power", 1)
        except OverflowError:
            size = LARGEST
        size = max(1, round(min(size, LARGEST)))
        return min(size, value.get("most", size))
    return value


def described(kind: str, description: Mapping[str, Any], context: Mapping[str, int]) -> dict[str, Any]:
    """A component's description with its defaults and with every size resolved."""
    name = description["name"]
    full = {"name": name} | registry.defaults(kind, name) | description
    schemas = registry.parameters(kind, name)
    for key, value in full.items():
        schema = schemas.get(key, {})
        if "component" in schema:
            full[key] = described(schema["component"], value, context)
        elif "components" in schema:
            full[key] = {label_: described(schema["components"], part, context) for label_, part in value.items()}
        else:
            full[key] = resolve(value, context)
    return full


def product(axes: Mapping[str, list]) -> list[dict[str, Any]]:
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
