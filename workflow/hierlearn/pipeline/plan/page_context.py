"""What the page tells of a study beside its claims: its file's words, its settings, the panels of its figure, what the
numbers of its claims are."""

import functools
import os
from collections.abc import Mapping
from typing import Any

from hierlearn.core import registry
from hierlearn.core.registry import PACKAGE
from hierlearn.inputs._finite import Finite
from hierlearn.pipeline.claims import asked
from hierlearn.pipeline.claims.page import findings
from hierlearn.pipeline.plan import quantity_labels
from hierlearn.pipeline.plan.study import Study

Component = Mapping[str, Any]
LETTERS = "abcdefghijklmnop"


def of_study(study: Study, folder: str) -> dict[str, Any]:
    """What the page says of a study. folder: where the page lies below the project, from which its links go."""
    words = {"title": study.title, "paper": study.paper, "place": study.place, "summary": study.summary}
    return words | {
        "draw": study.draw,
        "file": os.path.relpath(study.file, folder),
        "settings": settings(study),
        "panels": panels(study.figure),
        "numbers": quantity_labels.of_claims(study),
        "seen": seen(study),
    }


def seen(study: Study) -> list[str]:
    """The claims of a study whose limit a pilot or an earlier result suggested."""
    return [name for name, claim in study.claims.items() if claim.is_seen]


def measured(study: Study) -> dict[str, Any]:
    """What the numbers of a study's learners are called: labels, the axes of the problem, the risks that each learner
    was to reach, and of these and of the places the one that the figure shows first."""
    figure = study.figure or {}
    risks = study.samples.thresholds
    own = {name: entry.samples.get("thresholds", risks) for name, entry in study.learners.items()}
    main = figure.get("main", {})
    return {
        "labels": {name: entry.label or name for name, entry in study.learners.items()},
        "axes": list(study.axes),
        "risks": own if risks else {},
        "first": {"risk": figure.get("threshold"), "place": main if isinstance(main, Mapping) else {}},
    }


def stored(study: Study) -> dict[str, str]:
    """The stored outcomes of a study's claims, as far as there are any: what a run's draws are shown beside."""
    return {claim: word for claim, word in outcomes().items() if claim in study.claims}


@functools.cache
def outcomes() -> dict[str, str]:
    """The stored outcomes of the project's claims, as far as there are any."""
    return asked.outcomes(PACKAGE.parents[1] / asked.FOLDER)


@functools.cache
def findings_of_papers() -> dict[str, Any]:
    """What the page says of the papers in sentences, as far as the project does."""
    return findings.read(PACKAGE.parents[1] / findings.FILE)


def reading(folder: str) -> str:
    """Where it is said how to read the page, from its folder; "" where the project's pages are not there."""
    file = PACKAGE.parents[1] / "docs" / "reading.md"
    return os.path.relpath(file, folder) if file.is_file() else ""


def settings(study: Study) -> list[tuple[str, str]]:
    """What a study is run with, in words."""
    said = {
        "inputs": _component(study.problem.input),
        "teacher": _component(study.problem.teacher),
        **{axis: _listed(values) for axis, values in study.axes.items()},
        "seeds": f"{study.seed_count}{_of_splits(study)}",
        "learners": "; ".join(entry.label or name for name, entry in study.learners.items()),
        "probes": "; ".join(f"{name}: {_component(entry.component)}" for name, entry in study.probes.items()),
    }
    return [(key, text) for key, text in said.items() if text]


def _of_splits(study: Study) -> str:
    """What is said of seeds that split one finite set."""
    finite = issubclass(registry.implementation("inputs", study.problem.input["name"]), Finite)
    return " splits of one finite set; intervals are of these splits, not of new data" if finite else ""


def panels(figure: Component | None) -> list[tuple[str, str, list[str]]]:
    """(letter, title, claims that it shows) of a figure's panels, as far as the study says so; a title may be empty."""
    figure = figure or {}
    # A figure of one's own may mean something else by these names.
    listed, shown = figure.get("panels", ()), figure.get("shows", {})
    if isinstance(listed, list) and all(isinstance(panel, Mapping) for panel in listed):
        named = [(a, panel.get("title", ""), panel.get("shows", [])) for a, panel in zip(LETTERS, listed, strict=False)]
        if named:
            return named
    return [(letter, "", claims) for letter, claims in sorted(shown.items())] if isinstance(shown, Mapping) else []


def _component(component: Component | None) -> str:
    """A component by its name, with the numbers and words that it is given."""
    given = dict(component or {})
    name = given.pop("name", "")
    told = [f"{key} {_listed(value) if isinstance(value, list) else value}" for key, value in given.items()]
    simple = [text for text, value in zip(told, given.values(), strict=True) if not isinstance(value, Mapping)]
    return f"{name} ({', '.join(simple)})" if simple else name


def _listed(values: Any) -> str:
    return ", ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in values)
