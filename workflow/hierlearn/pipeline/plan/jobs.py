"""The parameters of each stage's job, complete and canonical: equal parameters and code give an equal result."""

import functools
import json
from collections.abc import Mapping
from typing import Any

from hierlearn.core import provenance, registry
from hierlearn.core.protocols import PROTOCOLS
from hierlearn.inputs import UNIT_LAWS
from hierlearn.pipeline.files.errors import entries
from hierlearn.pipeline.plan import added_rivals, descriptions, registration
from hierlearn.pipeline.plan.descriptions import with_tables
from hierlearn.pipeline.plan.grid import GridPoint, Task
from hierlearn.pipeline.plan.sizes import product
from hierlearn.pipeline.plan.study import Study, remembered
from hierlearn.pipeline.plan.study_spec import Learner
from hierlearn.pipeline.quantities._ends import ENDS

# The kinds of components as parameters call one, and as registries do.
KINDS = {one.__name__.lower(): kind for kind, one in PROTOCOLS.items() if kind in registry.KINDS}
SCRIPTS = provenance.PACKAGE.parent / "scripts"


def _problem(study: Study, point: GridPoint, seeds: list[int]) -> dict[str, Any]:
    parts = {"name": point.name, "coordinates": point.coordinates, "problem": point.problem}
    return parts | {"seeds": seeds, "draw": study.draw}


@remembered
def generate(study: Study, task: Task) -> dict[str, Any]:
    """Draws teachers and points."""
    seeds = study.seeds_in(task)
    points = study.points_of(task)
    return {"points": [_problem(study, p, seeds) | {"counts": study.points_needed(task, p)} for p in points]}


@remembered
def represent(study: Study, task: Task, representation: str) -> dict[str, Any]:
    """Fits a representation on unlabelled points."""
    seeds = study.seeds_in(task)
    return {
        "points": [
            _problem(study, p, seeds) | {"representation": study.representation(representation, p)}
            for p in study.points_of(task, representation)
        ]
    }


@remembered
def train(study: Study, task: Task, learner: str) -> dict[str, Any]:
    """Walks one learner along the sample sizes of every problem in a task."""
    return {
        "points": [
            _problem(study, p, study.seeds_in(task))
            | {
                "representation": study.representation(study.learners[learner].representation, p),
                "variants": study.variants(learner, p, task.part),
                "samples": study.sample_sizes(learner, p),
                "search": study.search(learner, p),
                "validation": study.held_out.validation,
            }
            for p in study.training_points(learner, task)
        ]
    }


@remembered
def evaluate(study: Study, task: Task) -> dict[str, Any]:
    """Scores all learners of a task on test points."""
    axes = {axis: values for axis, values in study.coordinates.items() if axis not in study.axes}
    for axis in study.axes:
        axes[axis] = [v for v in study.axes[axis] if any(p.coordinates[axis] == v for p in task.points)]
    axes |= {name: [value] for name, value in task.part.items()}
    learners = study.learners_in(task)
    return {
        "coordinates": {axis: axes[axis] for axis in study.coordinates} | {"learner": list(study.learners)},
        "test": study.held_out.test,
        "learners": {name: train(study, task, name) for name in learners},
        "limited": {
            name: [p.coordinates for p in task.points if not study.reaches(name, p)] for name in study.learners
        },
    }


@remembered
def probe(study: Study, name: str) -> dict[str, Any]:
    """A probe or an experiment, over its own grid."""
    entry = study.probes[name]
    axes = study.axes | entry.axes
    points = [study.point(coordinates) for coordinates in product(axes)]
    return {
        "axes": axes,
        "probe": with_tables(study, "probes", entry.component),
        "points": [_problem(study, p, study.seeds) for p in points],
    }


@remembered
def aggregate(study: Study) -> dict[str, Any]:
    """Joins the scores of all tasks."""
    return {"coordinates": study.coordinates, "title": study.title, "paper": study.paper}


@remembered
def figure(study: Study) -> dict[str, Any]:
    """Draws the study's figure."""
    return {
        "figure": with_tables(study, "figures", study.figure),
        "study": {"name": study.name, "title": study.title, "preset": study.preset},
        "labels": {name: entry.label for name, entry in study.learners.items()},
        "raw": _raw(study),
    }


def _raw(study: Study) -> list[dict[str, Any]]:
    """Every learner of the raw input with every teacher that it meets, at the smallest dimension.

    None for inputs of another norm than 1: which degrees a kernel lacks is known for points of the sphere.
    """
    given = study.problem.input
    if given["name"] not in UNIT_LAWS and (registry.defaults("inputs", given["name"]) | given).get("norm") != "unit":
        return []
    met: dict[tuple[str, str], dict[str, Any]] = {}
    raw = [name for name, entry in study.learners.items() if entry.representation == "raw"]
    for point in sorted(study.points, key=lambda point: point.dimension):
        for name in raw:
            for variant in study.variants(name, point) if study.reaches(name, point) else ():
                found = {"name": name, "learner": variant["learner"], "teacher": point.problem["teacher"]}
                key = name, json.dumps([found["teacher"], variant["coordinates"]])
                met.setdefault(key, found | {"dimension": point.dimension})
    return [met[key] for key in sorted(met)]


def rests_on(study: Study) -> str:
    """Hash of all jobs that a study's claims rest on: they are of an earlier state as soon as one of these changes."""
    # Without learners nothing is drawn for them, scored or joined.
    names = (("aggregate",), *study.jobs) if study.learners else [job for job in study.jobs if job[0] == "probe"]
    made = [[code(rule, components(study, rule, *words)), parameters(study, rule, *words)] for rule, *words in names]
    return provenance.identity("", made)["parameters_hash"]


@remembered
def judge(study: Study) -> dict[str, Any]:
    """Judges the study's claims."""
    computed, others = registration.scopes_of(study), added_rivals.of_study(study)
    return {
        "rests_on": rests_on(study),
        "study": {"name": study.name, "paper": study.paper, "preset": study.preset}
        | {"draw": study.draw, "revision": study.revision},
        "claims": {
            name: _scoped(claim, computed.get(name))
            | {"digest": study.registered.get(name, "")}
            | _own_problem(study, claim["quantity"])
            | ({"rivals": others[name]} if name in others else {})
            for name, claim in descriptions.claims(study).items()
        },
        "grids": {name: grids for name, one in study.learners.items() if (grids := _grids(one))},
        "noise": study.problem.label_noise,
        **(_of_set(study.points[0].law) if study.learners else {}),
    }


def _grids(learner: Learner) -> dict[str, list[float]]:
    """The lists that a learner chooses from of which an end decides nothing, each sorted."""
    return {key: sorted(set(learner.select[key])) for key in ENDS if key in learner.select}


def _of_set(law: Any) -> dict[str, Any]:
    """What a row is about where all seeds share one finite set, these pictures or these rows, and test points over
    those that are left, where every seed splits the set anew; nothing of a law whose points are drawn."""
    found: dict[str, Any] = {"finite": "pictures" if law.shape else "rows"} if law.supply() else {}
    return found | ({"overlap": law.overlap()} if law.overlap() else {})


def _own_problem(study: Study, quantity: Mapping[str, Any]) -> dict[str, Any]:
    """The dimension and the set of the problem that a quantity's probe has of its own, beside that of the study."""
    known = with_tables(study, "probes", study.probes[quantity["probe"]].component) if "probe" in quantity else {}
    own = {"dimension": known["dimension"]} if "dimension" in known else {}
    law = known.get("input")
    return own | (_of_set(registry.build("inputs", law, **own)) if own and isinstance(law, Mapping) else {})


def _scoped(claim: dict[str, Any], scope: Any) -> dict[str, Any]:
    """A claim with its computed scope in the place of what it declares, as it is where none is computed."""
    if scope is None:
        return claim
    return {key: value for key, value in claim.items() if key not in ("regime", "beyond")} | scope.said(claim["kind"])


@functools.cache
@provenance.ends_in_one_line
def code(script: str, named: tuple[tuple[str, str], ...]) -> str:
    """Hash of all the code that a job runs: its script, and the components that its parameters name.

    Once per parse: the jobs of a learner differ in their points, not in their code.
    """
    return provenance.code_hash([SCRIPTS / f"{script}.py", *(registry.path(kind, name) for kind, name in named)])


def parameters(study: Study, rule: str, *words: str) -> dict[str, Any]:
    """The parameters of a job. words: what tells it from others of its rule."""
    return RULES[rule](study, *study.parts(rule, *words))


@remembered
def components(study: Study, rule: str, *words: str) -> tuple[tuple[str, str], ...]:
    """(kind, name) of every component that the parameters of a job name."""
    return components_of(parameters(study, rule, *words))


def components_of(parameters: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """(kind, name) of every component that a job's parameters name."""
    found: set[tuple[str, str]] = set()
    for key, part in entries(parameters):
        if key in KINDS and isinstance(part, dict) and "name" in part:
            found.update(registry.components_in(KINDS[key], part))
    return tuple(sorted(found))


RULES = {one.__name__: one for one in (generate, represent, train, evaluate, probe, aggregate, figure, judge)}
