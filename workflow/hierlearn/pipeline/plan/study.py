"""A checked study at one preset: its tasks, the points of its grid, and who runs where at which sizes."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from hierlearn.core import registry
from hierlearn.pipeline.claims.rivals import Known
from hierlearn.pipeline.plan import own_data
from hierlearn.pipeline.plan.grid import GridPoint, Task
from hierlearn.pipeline.plan.replicates import FIRST, Draw
from hierlearn.pipeline.plan.sizes import full_description, label, lattice, product, resolve, sizes
from hierlearn.pipeline.plan.study_spec import Component, Declared

RAW = {"name": "raw"}
# Rules whose jobs are those of a task.
OF_TASKS = ("generate", "represent", "train", "evaluate")


def remembered(function: Callable) -> Callable:
    """Keep the answers of a function of a study, which jobs, their needs and estimates ask again and again."""

    @functools.wraps(function)
    def asked(study: "Study", *given):
        places = [one.place if isinstance(one, GridPoint) else getattr(one, "name", one) for one in given]
        known, place = study._known, (function.__module__, function.__qualname__, *places)
        if place not in known:
            known[place] = function(study, *given)
        return known[place]

    return asked


@dataclass(frozen=True)
class Study(Declared):
    """A study at one preset: what its file declares, and what a run says of it."""

    # Of the run, not of the file.
    run: Draw = FIRST
    # The digests of its claims' designs at this preset and revision, as far as they are registered.
    registered: Mapping[str, str] = field(default_factory=dict)
    # What is known of its paper's rivals beside it.
    rivals: Known = field(default_factory=Known)
    # What was found of its claims at earlier revisions.
    earlier: Mapping[str, str] = field(default_factory=dict)
    # What `remembered` functions have answered.
    _known: dict[tuple, Any] = field(init=False, repr=False, compare=False, default_factory=dict)

    def of_run(self, **said: Any) -> "Study":
        """The study with what a run says of it: what is known of its sizes hangs on none of that, unlike its jobs."""
        study = replace(self, **said)
        study._known.update({place: known for place, known in self._known.items() if not place[0].endswith(".jobs")})
        return study

    @property
    def revision(self) -> int:
        """The number of its design at its preset, from 1."""
        return self.revisions.get(self.preset, 1)

    @property
    def draw(self) -> str:
        """The word that keys the random streams of all its problems."""
        return self.run.word(self.name, self.preset, self.revision)

    @property
    def seeds(self) -> list[int]:
        return list(range(self.seed_count))

    @cached_property
    def tasks(self) -> dict[str, Task]:
        """Tasks by name, largest dimension first, so that the longest jobs start first."""
        cut = [axis for axis in self.axes if axis in self.split_jobs_by]
        rest = [axis for axis in self.axes if axis not in cut]
        # What no learner sweeps, or one with faults alone, is a fault of its own.
        known = [name for name in self.split_jobs_by if name not in cut and name in self.splittable]
        beside = {name: self.splittable[name] for name in known}
        tasks = []
        for outer in product({axis: self.axes[axis] for axis in cut}):
            inner = product({axis: self.axes[axis] for axis in rest})
            points = tuple(self.point({**outer, **coordinates}, rest) for coordinates in inner)
            tasks += [Task(label(outer | part) or "all", points, part) for part in product(beside)]
        tasks.sort(key=lambda task: -max(point.dimension for point in task.points))
        return {task.name: task for task in tasks}

    @cached_property
    def points(self) -> tuple[GridPoint, ...]:
        """All points of the grid, each once however it is cut."""
        return tuple(self.point(coordinates, list(self.axes)) for coordinates in product(self.axes))

    @property
    def splittable(self) -> dict[str, list]:
        """What the grid may be cut along beside its axes: seeds, and what every learner sweeps."""
        entries = self.learners.values()
        shared = {name: values for name, values in self.swept.items() if all(name in e.sweep for e in entries)}
        return {"seed": self.seeds} | shared

    def seeds_in(self, task: Task) -> list[int]:
        """The seeds that a task computes."""
        return [task.part["seed"]] if "seed" in task.part else self.seeds

    def point(self, coordinates: Mapping[str, Any], naming: list[str] | None = None) -> GridPoint:
        """The problem at some coordinates; `naming`: the axes that tell it from its neighbours."""
        named = coordinates if naming is None else {axis: coordinates[axis] for axis in naming}
        return GridPoint(label(named) or "point", dict(coordinates), self.problem_content(coordinates))

    def problem_content(self, coordinates: Mapping[str, Any]) -> dict[str, Any]:
        """The canonical content of a problem, every parameter resolved: it keys the random streams."""
        posed = self.problem
        parts = {"inputs": dict(posed.input), "teachers": dict(posed.teacher)}
        content = {"scale": posed.scale, "label_noise": posed.label_noise, "dimension": coordinates["dimension"]}
        for axis, value in coordinates.items():
            if axis in content:
                content[axis] = value
            elif self.placement(axis) in parts:
                parts[self.placement(axis)][axis] = value
        context = sizes(coordinates["dimension"])
        for kind, part in parts.items():
            content[kind.removesuffix("s")] = full_description(kind, part, context)
        return content | own_data.completed(content, parts)

    @property
    def owners(self) -> list[tuple[tuple[str, str], str, Component | None]]:
        """(place, kind, component) of all that an axis may set a parameter of; the first that has it says the kind."""
        posed = self.problem
        owners = [(("problem", "teacher"), "teachers", posed.teacher), (("problem", "input"), "inputs", posed.input)]
        return owners + [(("representations", name), "representations", r) for name, r in self.representations.items()]

    def placement(self, axis: str) -> str | None:
        """The kind of component that an axis sets a parameter of, None if none has it.

        An axis of the representations (all that have the parameter) leaves the problem, and so its points, as they are.
        """
        kinds = (kind for _, kind, one in self.owners if one and axis in registry.parameters(kind, one["name"]))
        return next(kinds, None)

    @remembered
    def representation(self, name: str, point: GridPoint) -> dict[str, Any]:
        """The description of a representation at a point."""
        context = point.sizes()
        given = RAW if name == "raw" else self.representations[name]
        full = registry.defaults("representations", given["name"]) | given
        for axis, value in point.coordinates.items():
            if self.placement(axis) == "representations" and axis in full:
                full[axis] = value
        # `features` refers to the representation's own number of features.
        context["features"] = resolve(full.get("count", point.dimension), context)
        return full_description("representations", full, context)

    def context(self, learner: str, point: GridPoint) -> dict[str, int]:
        """What the sizes of a learner may refer to."""
        representation = self.representation(self.learners[learner].representation, point)
        return point.sizes() | {"features": representation.get("count", point.dimension)}

    def reaches(self, learner: str, point: GridPoint) -> bool:
        """Whether a learner runs at a point in some part of the study."""
        return self.within_limits(learner, point) and bool(self.sample_sizes(learner, point))

    def within_limits(self, learner: str, point: GridPoint) -> bool:
        """Whether a learner's budget reaches a point."""
        limits = self.learners[learner].limits
        return self._runs_at(learner, point.coordinates) and all(
            point.coordinates[axis] <= most for axis, most in limits.items()
        )

    def _runs_at(self, learner: str, place: Mapping[str, Any]) -> bool:
        """Whether a place is one of those that a learner runs at, coordinates with or without a number of samples."""
        only = self.learners[learner].only
        here = (all(place[axis] in values for axis, values in one.items() if axis in place) for one in only)
        return not only or any(here)

    @remembered
    def sample_sizes(self, learner: str, point: GridPoint) -> list[int]:
        """The sample sizes of a learner at a point: a list, or the lattice points 2^(j/k) that lie in start .. cap."""
        planned = self.learners[learner].samples
        context = self.context(learner, point)
        if "at" not in planned:
            start, cap = resolve(planned.get("start", 1), context), resolve(planned["cap"], context)
            return lattice(start, cap, self.samples.per_doubling)
        found = sorted({resolve(size, context) for size in planned["at"]})
        # Sizes at a place that is left out as a whole remain coordinates.
        if self.within_limits(learner, point):
            found = [n for n in found if self._runs_at(learner, {**point.coordinates, "samples": n})]
        return found

    def search(self, learner: str, point: GridPoint) -> dict[str, Any] | None:
        """Near which size a learner looks for the crossings of which thresholds; None where it visits every size."""
        planned = self.learners[learner].samples
        curves = self.samples.curves if planned.get("curves", True) else []
        if "near" not in planned or any(point.coordinates.items() >= place.items() for place in curves):
            return None
        thresholds = planned.get("thresholds", self.samples.thresholds)
        return {"near": resolve(planned["near"], self.context(learner, point)), "thresholds": thresholds}

    def variants(self, learner: str, point: GridPoint, part: Mapping[str, Any] = {}) -> list[dict[str, Any]]:
        """A learner at a point, once per combination of what is swept: name, coordinates, description, choices.

        A choice may be swept instead of selected: then each variant has one value to choose from. part: of a task.
        """
        return [variant for variant in self._variants(learner, point) if _is_in(part, variant["coordinates"])]

    @remembered
    def _variants(self, learner: str, point: GridPoint) -> list[dict[str, Any]]:
        entry, context = self.learners[learner], self.context(learner, point)
        known = registry.choices("learners", entry.component["name"])
        return [
            {
                "name": label(swept) or "only",
                "coordinates": swept,
                "learner": full_description(
                    "learners", entry.component | {k: v for k, v in swept.items() if k not in known}, context
                ),
                "choices": entry.select | {key: [value] for key, value in swept.items() if key in known},
            }
            for swept in product(entry.sweep)
        ]

    @remembered
    def learners_in(self, task: Task) -> list[str]:
        """The learners that run somewhere in a task."""
        return [name for name in self.learners if self.training_points(name, task)]

    def training_points(self, learner: str, task: Task) -> list[GridPoint]:
        """The points of a task at which a learner runs."""
        reached = [point for point in task.points if self.reaches(learner, point)]
        return reached if any(_is_in(task.part, swept) for swept in product(self.learners[learner].sweep)) else []

    @cached_property
    def jobs(self) -> tuple[tuple[str, ...], ...]:
        """The rule of every job of a probe or a task, and the words that tell it from others of its rule."""
        found = [("probe", name) for name in self.probes]
        for name, task in self.tasks.items():
            found += [("generate", name), ("evaluate", name)]
            found += [("represent", name, one) for one in self.representations_in(task)]
            found += [("train", name, one) for one in self.learners_in(task)]
        return tuple(found)

    def parts(self, rule: str, *words: str) -> tuple[Any, ...]:
        """The words of a job with the task itself in the place of its name."""
        return (self.tasks[words[0]], *words[1:]) if rule in OF_TASKS else words

    def representations_in(self, task: Task) -> list[str]:
        """The fitted representations that the learners of a task use."""
        used = {self.learners[name].representation for name in self.learners_in(task)}
        return [name for name in self.representations if name in used]

    @remembered
    def points_of(self, task: Task, representation: str | None = None) -> list[GridPoint]:
        """The points of a task at which a learner runs, one on this representation if it is given."""
        learners = [n for n, entry in self.learners.items() if representation in (None, entry.representation)]
        names = {point.name for learner in learners for point in self.training_points(learner, task)}
        return [point for point in task.points if point.name in names]

    @remembered
    def points_needed(self, task: Task, point: GridPoint) -> dict[str, int]:
        """How many points of each role a task's data holds per seed at a point; roles with none are left out."""
        # Whichever part of the study the task is: the last digits of targets hang on how many are made at once.
        learners = [name for name in self.learners if self.reaches(name, point)]
        # Learners that train online draw their points as they go.
        pooled = [name for name in learners if not self.learners[name].component.get("online")]
        shown = {self.learners[name].representation for name in learners} & set(self.representations)
        counts = {
            "training": max((max(self.sample_sizes(name, point)) for name in pooled), default=0),
            "unlabelled": max((self.representation(name, point)["unlabelled"] for name in shown), default=0),
            "validation": self.held_out.validation,
            "test": self.held_out.test,
        }
        return {role: count for role, count in counts.items() if count}

    @cached_property
    def swept(self) -> dict[str, list]:
        """The swept parameters of all learners, with every value that one of them takes."""
        found: dict[str, list] = {}
        for entry in self.learners.values():
            for axis, values in entry.sweep.items():
                found.setdefault(axis, [])
                found[axis] += [value for value in values if value not in found[axis]]
        return found

    @cached_property
    def coordinates(self) -> dict[str, list]:
        """The coordinates of scores.nc: learner, the axes, the swept parameters, samples, seed."""
        samples = {n for name in self.learners for point in self.points for n in self.sample_sizes(name, point)}
        return (
            {"learner": list(self.learners)} | self.axes | self.swept | {"samples": sorted(samples), "seed": self.seeds}
        )


def _is_in(part: Mapping[str, Any], swept: Mapping[str, Any]) -> bool:
    """Whether a combination of what a learner sweeps belongs to a part of the study."""
    return all(swept.get(name, value) == value for name, value in part.items())
