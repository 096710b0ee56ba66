"""What a study leaves out because it has data of its own, or no paper: it is filled in before the study is checked."""

from collections.abc import Mapping
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

from hierlearn.core import registry
from hierlearn.inputs._table_files import UnreadableTable
from hierlearn.pipeline.files import papers
from hierlearn.pipeline.files.errors import Fault, Path, value_at

INPUT = ("problem", "input")
PLACE = "your own"
# What a finite set says of a study.
PARTS = (("problem", "teacher"), ("axes", "dimension"), ("points", "validation"), ("points", "test"))
# Kinds of claims that are about a paper.
OF_PAPERS = ("theorem", "rate", "assumption", "published")


def filled(content: dict[str, Any], name: str) -> tuple[dict[str, Any], list[Fault]]:
    """A study with what it leaves to a file and to no paper, and the fault of a file that cannot be used.

    From the file: the dimension, the teacher of its labels, the numbers of held-out points. Of a study of no paper:
    places, and risks along sample sizes as its figure. content may be anything; name: what messages call the study.
    """
    content = _of_no_paper(content)
    left = [part for part in PARTS if value_at(content, part) is None]
    if not left:
        return content, []
    known, faults = _read(value_at(content, INPUT), name, INPUT)
    for part in left:
        if part in known and isinstance(value_at(content, part[:-1]) or {}, dict):
            section, key = part
            content = content | {section: (content.get(section) or {}) | {key: known[part]}}
    return content, faults


def of_question(question: Any, name: str, key: str) -> tuple[Any, list[Fault]]:
    """A question with the teacher and the dimension of its file, and the fault of a file that cannot be used.

    question may be anything; name: what messages call its settings, where it stands under `key`.
    """
    if not isinstance(question, dict):
        return question, []
    known, faults = _read(question.get("input"), name, (key, "input"))
    own = {path[-1]: value for path, value in known.items() if path[-1] in ("teacher", "dimension")}
    return own | question, faults


def completed(content: Mapping[str, Any], stated: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The parts of a problem with the values that their descriptions leave to a file.

    content: of the problem, with all defaults; stated: what the study says of each part, by kind.
    """
    law, teacher = _added("inputs", content["input"], stated["inputs"], None), content["teacher"]
    if law != content["input"]:
        # What cannot be built is refused where limits are checked.
        with suppress(ValueError):
            built = registry.built_once("inputs", law, dimension=content["dimension"])
            teacher = _added("teachers", teacher, stated["teachers"], built)
    return {"input": law, "teacher": teacher}


def of_input(teacher: Mapping[str, Any], law: Any) -> dict[str, Any]:
    """A teacher's description with what it leaves to a law of x that was built; None for one that could not be."""
    if law is None or teacher["name"] not in registry.available("teachers"):
        return dict(teacher)
    return _added("teachers", registry.defaults("teachers", teacher["name"]) | teacher, teacher, law)


def _added(kind: str, full: dict[str, Any], stated: Mapping[str, Any], inputs: Any) -> dict[str, Any]:
    said = registry.implementation(kind, full["name"]).completed(SimpleNamespace(**full), inputs)
    return full | {key: value for key, value in said.items() if key not in stated}


def _read(description: Any, name: str, at: Path) -> tuple[dict[tuple[str, str], Any], list[Fault]]:
    """What a finite input says of a study, and the fault of its file."""
    try:
        return _known(description), []
    except UnreadableTable as error:
        parameter, found, allowed = error.objection
        return {}, [Fault(name, (*at, parameter), found, allowed)]


def _known(description: Any) -> dict[tuple[str, str], Any]:
    """What a finite input says of a study; nothing for other laws. Raises UnreadableTable."""
    name = description.get("name") if isinstance(description, dict) else None
    if not isinstance(name, str) or name not in registry.available("inputs"):
        return {}
    asked = SimpleNamespace(**registry.defaults("inputs", name) | description)
    try:
        found = registry.implementation("inputs", name).finite(asked)
    except UnreadableTable:
        raise
    # Values of other types are refused where limits are checked.
    except (TypeError, ValueError, LookupError, AttributeError):
        return {}
    if not found:
        return {}
    held_out = {("points", role): found[role] for role in ("validation", "test")}
    return {("problem", "teacher"): {"name": "labels"}, ("axes", "dimension"): [found["dimension"]]} | held_out


def _of_no_paper(content: dict[str, Any]) -> dict[str, Any]:
    """A study without a paper with what only a paper would say, and with a figure of risks."""
    claims, learners = content.get("claims"), content.get("learners")
    said = [one for one in claims.values() if isinstance(one, dict)] if isinstance(claims, dict) else []
    if content.get("paper", papers.YOURS) != papers.YOURS or any(one.get("kind") in OF_PAPERS for one in said):
        return content
    content = {"paper": papers.YOURS, "place": PLACE} | content
    if said:
        placed = {name: {"place": PLACE} | one if isinstance(one, dict) else one for name, one in claims.items()}
        content |= {"claims": placed}
    if "figure" not in content and isinstance(learners, dict) and learners:
        lines = [{"learner": name} for name in learners]
        panel = {"kind": "risk", "title": "Test risk", "x": "samples", "lines": lines}
        content |= {"figure": {"name": "panels", "panels": [panel]}}
    return content
