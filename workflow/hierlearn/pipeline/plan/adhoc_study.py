"""A question without a study file: the key `question` of the configuration, as the study that answers it."""

import copy
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hierlearn.core import registry
from hierlearn.core.protocols import Teacher
from hierlearn.core.words import show, unshowable
from hierlearn.pipeline.files import papers
from hierlearn.pipeline.files.errors import Fault
from hierlearn.pipeline.files.load import load, written
from hierlearn.pipeline.files.schema_errors import schema, schema_faults
from hierlearn.pipeline.plan import own_data
from hierlearn.pipeline.plan.sizes import full_description, sizes
from hierlearn.pipeline.run import provisional

KEY, STUDY = "question", "my-question"
SAID = {papers.YOURS: {"name": "A question", "title": "A question of your own", "authors": "You", "year": 2026}}
# Values of choices that a learner must be given; of others a study asks.
CHOICES = {"ridge": [1.0, 1.0e-2, 1.0e-4, 1.0e-6], "learning_rate": [0.1, 0.01]}
# Of a number: Python reads some thousands, and nobody writes as many. Of a label: several make a title.
DIGITS, LETTERS = 400, 80
WANTED = {
    "select": "lists of values, by the name of what is chosen",
    "label": f"one line of at most {LETTERS} letters that a figure can show",
    "representation": "a name, or a mapping with one",
}
NUMBER, POINT = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?|true|false"), {*".eE"}
# Where a key of the question stands in its study; what stands elsewhere is of the question as a whole.
SECTIONS = {
    ("problem", "teacher"): "teacher",
    ("problem", "input"): "input",
    ("points",): "input",
    ("axes", "dimension"): "dimension",
    ("seeds",): "seeds",
    # It lists the labels.
    ("title",): "learners",
    ("samples",): "threshold",
    ("figure", "threshold"): "threshold",
}
# Of which a question may name one or several.
LISTS = ("learners", "dimension")
# Numbers of samples that are tried and of held-out points, where a finite set has as many; and the share of the risk of
# the best constant at which n* is read off, where the question says nothing.
CAP, VALIDATION, TEST, SHARE = 2000, 500, 2000, 0.5
# As many learners are named in the title.
NAMED = 4
SAFE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*")


def ask(asked: Mapping[str, Any], described: str) -> tuple[dict[str, Any], list[Fault]]:
    """The settings with the question's study in a folder of one's own, written below the results, and its faults.

    asked: settings as they are given; described: what messages call them. Settings without the key stay as they are.
    """
    if KEY not in asked:
        return dict(asked), []
    rest = {key: value for key, value in asked.items() if key != KEY}
    question, faults = own_data.of_question(several(numbers(asked[KEY])), described, KEY)
    if faults:
        return rest, faults
    asked = {**asked, KEY: question}
    known = schema("config")
    part = {"properties": {KEY: known["properties"][KEY]}, "additionalProperties": True}
    faults = list(schema_faults(described, {KEY: asked[KEY]}, part))
    results = asked.get("results", "results")
    if faults or not isinstance(results, str) or not SAFE.fullmatch(results) or ".." in Path(results).parts:
        return rest if faults else asked, faults
    own = asked.get("own", [])
    own = [own] if isinstance(own, str) else list(own) if isinstance(own, list) else []
    registry.use(Path(one) for one in own if isinstance(one, str) and os.path.isdir(one))
    learners, faults = {}, []
    for i, one in enumerate(asked[KEY]["learners"]):
        name, entry, wrong = learner(one)
        if wrong or name in learners:
            found = wrong or (f"{show(name)} again", "a label of its own")
            faults.append(Fault(described, (KEY, "learners", i), *found))
        else:
            learners[name] = entry
    if faults:
        return rest, faults
    folder = Path(results, KEY)
    provisional.put(folder / "own" / "papers.yaml", written(SAID))
    provisional.put(folder / "own" / "studies" / f"{STUDY}.yaml", written(study(asked[KEY], learners)))
    changed = {"own": [*own, str(folder / "own")], "results": str(folder), "studies": [STUDY]}
    return {**asked, **changed}, []


def as_asked(fault: Fault, described: str, settings: Mapping[str, Any]) -> Fault:
    """A fault of the question's study, where it was asked; any other as it is. settings: as `ask` returns them."""
    if KEY not in settings or fault.file != f"{settings['results']}/own/studies/{STUDY}.yaml":
        return fault
    at, study = fault.path, load(Path(fault.file), fault.file)[0]
    place = (KEY,)
    for known, key in SECTIONS.items():
        if at[: len(known)] == known:
            place = (KEY, key, *(at[len(known) :] if key in ("teacher", "input", "dimension") else ()))
    if len(at) > 1 and at[0] == "learners":
        i = list(study["learners"]).index(at[1])
        asked = settings[KEY]["learners"][i]
        # A kernel may be asked for by its name and its own parameters.
        own = isinstance(asked, Mapping) and "kernel" in asked
        within = at[3 + (at[3:4] == ("kernel",) and not own) :] if at[2:3] == ("learner",) else at[2:]
        place = (KEY, "cap") if at[2:3] == ("samples",) else (KEY, "learners", i, *within)
    if len(at) > 1 and at[0] == "claims":
        # One for each learner, in their order.
        place = (KEY, "learners", list(study["claims"]).index(at[1]))
    if len(at) > 1 and at[0] == "representations":
        # Of those that share it the first.
        i = [entry["representation"] for entry in study["learners"].values()].index(at[1])
        place = (KEY, "learners", i, "representation", *at[2:])
    return replace(fault, file=described, path=place)


def numbers(content: Any) -> Any:
    """The content with numbers and truth values where Snakemake hands over their text, as it does below a key."""
    if isinstance(content, dict):
        return {key: numbers(part) for key, part in content.items()}
    if isinstance(content, list):
        return [numbers(part) for part in content]
    if not isinstance(content, str) or len(content) > DIGITS or not NUMBER.fullmatch(content):
        return content
    if content in ("true", "false"):
        return content == "true"
    return float(content) if POINT & {*content} else int(content)


def several(question: Any) -> Any:
    """The question with lists where one of something needs none."""
    singles = LISTS if isinstance(question, dict) else ()
    one = {key: [question[key]] for key in singles if isinstance(question.get(key), str | int | float | dict)}
    return question | one if one else question


def learner(one: Any) -> tuple[str, dict[str, Any], tuple[str, str] | None]:
    """The name of a learner in the study and its entry, from the name of a learner or a kernel or from a mapping of its
    parameters, `select`, `label` and `representation`; and what is wrong with it.

    The entry has its representation with its parameters, as `study` takes it.
    """
    given = {"name": one} if isinstance(one, str) else copy.deepcopy(one)
    name = given.get("name")
    known = {
        **dict.fromkeys(registry.available("kernels"), "kernel"),
        **dict.fromkeys(registry.available("learners"), ""),
    }
    if not isinstance(name, str) or name not in known:
        return "", {}, (show(name), f"the name of a learner or a kernel: {', '.join(sorted(known))}")
    beside = {key: given.pop(key) for key in ("select", "label", "representation") if key in given}
    for key, kinds in (("select", dict), ("label", str | int | float), ("representation", str | dict)):
        if key in beside and not isinstance(beside[key], kinds):
            return "", {}, (f"{key} {show(beside[key])}", WANTED[key])
    label = str(beside.get("label", name.replace("_", " ")))
    if not 0 < len(label.strip()) <= LETTERS or "\n" in label or unshowable(label):
        return "", {}, (f"label {show(label)}", WANTED["label"])
    described = {"name": "kernel_ridge", "kernel": given} if known[name] else given
    if "select" in beside:
        beside["select"] = {key: one if isinstance(one, list) else [one] for key, one in beside["select"].items()}
    needed = [key for key, part in registry.choices("learners", described["name"]).items() if "default" not in part]
    select = {key: CHOICES[key] for key in needed if key in CHOICES} | beside.get("select", {})
    if missing := [key for key in needed if key not in select]:
        return "", {}, (f"{show(name)} without select.{missing[0]}", "values for it, as the manual has of the learner")
    seen = beside.get("representation", "raw")
    seen = seen if isinstance(seen, dict) else {"name": seen}
    if seen.get("name") not in (offered := registry.available("representations")):
        return "", {}, (f"representation {show(seen.get('name'))}", f"the name of one: {', '.join(sorted(offered))}")
    # Names of files: of a label in other letters that of the learner.
    words = (re.sub("[^a-z0-9]+", "-", text.lower())[:60].strip("-") for text in (label, name))
    key = next(filter(None, words))
    entry = {"label": label, "learner": described, "representation": seen}
    return key, entry | ({"select": select} if select else {}), None


def study(question: Mapping[str, Any], learners: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """The study that answers a question: a search for the threshold, n* against the dimension, exponents."""
    dimensions, described = question["dimension"], question.get("input", {"name": "sphere"})
    law = _built("inputs", described, dimensions[0])
    teacher = _built("teachers", own_data.of_input(question["teacher"], law), dimensions[0])
    supply = {} if law is None else law.supply()
    threshold = question.get("threshold", usual_threshold(teacher))
    cap = question.get("cap", min(CAP, supply.get("training", CAP)))
    # Learners that see the same representation share the one that is fitted; raw needs no fit.
    seen = {"raw": {"name": "raw"}}
    for entry in learners.values():
        if (one := entry["representation"]) not in seen.values():
            seen[f"{one['name'].replace('_', '-')}-{len(seen)}"] = one
    name_of = {
        name: next(key for key, one in seen.items() if one == entry["representation"])
        for name, entry in learners.items()
    }
    samples = {"near": {"coefficient": 4, "of": "dimension", "most": cap}, "cap": cap}
    labels = [entry["label"] for entry in learners.values()]
    claims = {
        f"Q{i}": {
            "place": "your question",
            "statement": f"The exponent of the samples that {entry['label']} needs",
            "quantity": {"name": "exponent", "learner": name, "threshold": threshold},
        }
        for i, (name, entry) in enumerate(learners.items(), 1)
    }
    return {
        "title": f"How many samples do {_listed(labels) if len(labels) <= NAMED else f'{len(labels)} learners'} need?",
        "paper": papers.YOURS,
        "place": "your question",
        "summary": f"The target is {question['teacher']['name'].replace('_', ' ')}. Each learner gets more labelled "
        f"samples until its test risk falls to {threshold:g}.",
        "problem": {"input": described, "teacher": question["teacher"]},
        "axes": {"dimension": dimensions},
        "seeds": question.get("seeds", 5),
        "points": {
            "validation": min(VALIDATION, supply.get("validation", VALIDATION)),
            "test": min(TEST, supply.get("test", TEST)),
        },
        "samples": {"thresholds": [threshold]},
        "representations": {name: one for name, one in seen.items() if name != "raw"},
        "learners": {
            name: entry | {"samples": samples, "representation": name_of[name]} for name, entry in learners.items()
        },
        "figure": {"name": "sample_complexity", "threshold": threshold},
        "claims": claims if len(dimensions) > 2 else {},
    }


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def usual_threshold(teacher: Teacher | None) -> float:
    """The risk at which n* is read off: half of what the best constant has, 1 in units of the target's norm, and for k
    classes that are equally likely the share 1 - 1/k of wrong ones."""
    if teacher is None or teacher.kind != "classes":
        return SHARE
    # The sign of one output tells two classes apart.
    return SHARE * (1 - 1 / max(teacher.outputs, 2))


def _built(kind: str, description: Mapping[str, Any], dimension: int) -> Any:
    """A component of the problem at a dimension, None where its description is wrong, which the plan says in words."""
    if description["name"] not in registry.available(kind):
        return None
    try:
        given = {"dimension": dimension} if kind == "inputs" else {}
        return registry.build(kind, full_description(kind, description, sizes(dimension)), **given)
    except (KeyError, TypeError, ValueError):
        return None
