"""The parameters of each stage's job, complete and canonical: equal parameters and code give an equal result."""

import json
from typing import Any

from hierlearn import components, provenance
from hierlearn.study.expansion import Point, Study, Task, product

SCRIPTS = provenance.PACKAGE.parent / "scripts"


def _posed(study: Study, point: Point) -> dict[str, Any]:
    return {"name": point.name, "coordinates": point.coordinates, "problem": point.problem, "seeds": study.seeds}


def generate(study: Study, task: Task) -> dict[str, Any]:
    """Draws teachers and points."""
    return {"points": [_posed(study, p) | {"counts": study.points_needed(task, p)} for p in task.points]}


def represent(study: Study, task: Task, representation: str) -> dict[str, Any]:
    """Fits a representation on unlabelled points."""
    return {
        "points": [_posed(study, p) | {"representation": study.representation(representation, p)} for p in task.points]
    }


def train(study: Study, task: Task, learner: str) -> dict[str, Any]:
    """Walks one learner up the sample sizes of every problem in a task."""
    entry = study.content["learners"][learner]
    return {
        "points": [
            _posed(study, p)
            | {
                "representation": study.representation(entry["representation"], p),
                "variants": study.variants(learner, p),
                "samples": study.sample_sizes(learner, p),
                "thresholds": study.content["samples"]["thresholds"],
                "validation": study.content["points"]["validation"],
            }
            for p in study.trained(learner, task)
        ]
    }


def evaluate(study: Study, task: Task) -> dict[str, Any]:
    """Scores all learners of a task on test points."""
    axes = {axis: values for axis, values in study.coordinates.items() if axis not in study.axes}
    for axis in study.axes:
        axes[axis] = [v for v in study.axes[axis] if any(p.coordinates[axis] == v for p in task.points)]
    learners = study.learners_in(task)
    return {
        "coordinates": {axis: axes[axis] for axis in study.coordinates} | {"learner": list(study.content["learners"])},
        "test": study.content["points"]["test"],
        "learners": {name: train(study, task, name) for name in learners},
        "limited": {
            name: [p.coordinates for p in task.points if p not in study.trained(name, task)]
            for name in study.content["learners"]
        },
    }


def probe(study: Study, name: str) -> dict[str, Any]:
    """Measures something that needs no training, over the probe's own grid."""
    entry = study.content["probes"][name]
    axes = study.axes | entry["axes"]
    points = [study.point(coordinates) for coordinates in product(axes)]
    return {
        "axes": axes,
        "probe": {"name": entry["probe"]["name"]}
        | components.defaults("probes", entry["probe"]["name"])
        | entry["probe"],
        "points": [_posed(study, p) for p in points],
    }


def aggregate(study: Study) -> dict[str, Any]:
    """Joins the scores of all tasks."""
    return {
        "coordinates": study.coordinates,
        "title": study.content["title"],
        "paper": study.content["paper"],
    }


def figure(study: Study) -> dict[str, Any]:
    """Draws the study's figure."""
    return {
        "figure": {"name": study.content["figure"]["name"]}
        | components.defaults("figures", study.content["figure"]["name"])
        | study.content["figure"],
        "study": {"name": study.name, "title": study.content["title"], "preset": study.preset},
        "labels": {name: entry["label"] for name, entry in study.content["learners"].items()},
        "raw": _raw(study),
    }


def _raw(study: Study) -> list[dict[str, Any]]:
    """Every learner of the raw input with every teacher that it meets, at the smallest dimension."""
    met = {}
    for task in study.tasks.values():
        for name in study.learners_in(task):
            if study.content["learners"][name]["representation"] != "raw":
                continue
            for point in sorted(study.trained(name, task), key=lambda point: point.dimension):
                teacher = point.problem["teacher"]
                for variant in study.variants(name, point):
                    key = (name, json.dumps([teacher, variant["coordinates"]]))
                    if key not in met or met[key]["dimension"] > point.dimension:
                        met[key] = {
                            "name": name,
                            "learner": variant["learner"],
                            "teacher": teacher,
                            "dimension": point.dimension,
                        }
    return [met[key] for key in sorted(met)]


def judge(study: Study) -> dict[str, Any]:
    """Judges the study's claims."""
    return {
        "study": {"name": study.name, "paper": study.content["paper"], "preset": study.preset},
        "claims": {
            name: claim | {"quantity": components.defaults("quantities", claim["quantity"]["name"]) | claim["quantity"]}
            for name, claim in study.content["claims"].items()
        },
    }


def code(script: str, named: list[tuple[str, str]]) -> str:
    """Hash of all the code that a job runs: its script, and the components that its parameters name."""
    return provenance.code_hash([SCRIPTS / f"{script}.py", *(components.path(kind, name) for kind, name in named)])


def components_of(parameters: dict[str, Any]) -> list[tuple[str, str]]:
    """(kind, name) of every component that a job's parameters name."""
    kinds = {
        "input": "inputs",
        "teacher": "teachers",
        "representation": "representations",
        "learner": "learners",
        "probe": "probes",
        "quantity": "quantities",
        "figure": "figures",
    }
    found: set[tuple[str, str]] = set()

    def visit(value: Any) -> None:
        if isinstance(value, dict):
            for key, part in value.items():
                if key in kinds and isinstance(part, dict) and "name" in part:
                    found.update(components.named(kinds[key], part))
                visit(part)
        elif isinstance(value, list):
            for part in value:
                visit(part)

    visit(parameters)
    return sorted(found)
