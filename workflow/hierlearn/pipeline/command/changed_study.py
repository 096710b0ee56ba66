"""`hierlearn run STUDY --set degree=3`: a study with other values, as a study of your own below the results.

What names a value that is gone goes with it. Claims that no longer apply are set aside, and one line says which.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hierlearn.core import registry
from hierlearn.core.words import nearest, show
from hierlearn.pipeline.files import load, papers, texts
from hierlearn.pipeline.files.errors import Fault
from hierlearn.pipeline.plan import asked_studies, checking, folders
from hierlearn.pipeline.plan.configuration import LONGEST, ROOT
from hierlearn.pipeline.plan.presets import base, bodies

# Below the results: the folder of studies that commands write.
FOLDER = "changed"
# Sections of a study whose entries may be left out, each alone.
ENTRIES = ("claims", "learners", "probes", "representations")
# How precisely a study measures: other values leave all of its claims as they are.
PRECISION = ("seeds",)
# Sections that say what is learned, and what a claim asks of it.
KEPT = ("axes", "problem", "claims", "title", "summary")
ROUNDS = 50
SHOWN = 3


def write(study: str, words: Iterable[str], preset: str, results: str, own: Iterable[str] = ()) -> tuple[Path, str]:
    """Write the changed study; return its file, and one line on the claims that are set aside, or "".

    words: KEY=VALUE. Raises ValueError, a line for each fault.
    """
    own = [folders.StudyFolder(Path(one), one) for one in own]
    registry.use(one.path for one in own)
    papers.use(ROOT / "config")
    known = asked_studies.sources([folders.StudyFolder(ROOT / "config", "config"), *own])
    if study not in known:
        raise ValueError(f"--set: found {show(study)}; expected one study, {nearest(study, known)}")
    content, faults = load.load(known[study].path, known[study].shown)
    if faults:
        raise ValueError("\n".join(map(str, faults)))
    sizes = base(content, preset)
    if sizes is None:
        raise ValueError(f"{known[study].shown}: presets: found no {preset}; expected sizes for it")
    body = {
        key: part for key, part in dict(bodies(content, sizes))[sizes].items() if key not in ("rivals", "revisions")
    }
    claims = list(body.get("claims", {}))
    values = _values(words)
    for key, value in values.items():
        body = _set(body, key, value)
    name = _name(study, values)
    file = Path(results, FOLDER, "studies", f"{name}.yaml")
    said = ", ".join(f"{key} = {show(value)}" for key, value in values.items())
    body = _sound(_without_lost_claims(body), file, f"# {study} at {sizes} with {said}.\n")
    return file, _told(values, [claim for claim in claims if claim not in body["claims"]], len(claims))


def _values(words: Iterable[str]) -> dict[str, Any]:
    """What KEY=VALUE words say. Raises ValueError for another word, or a key twice."""
    found: dict[str, Any] = {}
    for word in words:
        key, sign, text = word.partition("=")
        if not sign or not key.isidentifier() or not text:
            raise ValueError(f"--set: found {show(word)}; expected KEY=VALUE, such as degree=3 or dimension=6,8,10")
        if key in found:
            raise ValueError(f"--set: found {key} twice; expected it once")
        try:
            value = load.value(f"[{text}]" if "," in text and not text.startswith(("[", "{")) else text)
        except ValueError as error:
            raise ValueError(f"--set: found {show(word)}; {error}") from error
        found[key] = value
    return found


def _set(body: Mapping[str, Any], key: str, value: Any) -> dict[str, Any]:
    """The study with another value of an axis, of its seeds, or of a parameter of its law or target."""
    axes, problem = body.get("axes", {}), body["problem"]
    owners = {part: described for part in ("teacher", "input") if isinstance(described := problem.get(part), Mapping)}
    parameters = {
        one: part for part, described in owners.items() for one in registry.parameters(f"{part}s", described["name"])
    }
    if key in PRECISION:
        return {**body, key: value}
    if key in axes:
        new = value if isinstance(value, list) else [value]
        return _along({**body, "axes": {**axes, key: new}}, key, axes[key], new)
    if key not in parameters:
        allowed = [*axes, *PRECISION, *parameters]
        raise ValueError(f"--set: found {show(key)}; expected {nearest(key, allowed)}")
    if isinstance(value, list) and not isinstance(problem[parameters[key]].get(key), list):
        return {**body, "axes": {**axes, key: value}, "claims": {}}
    part = parameters[key]
    # Every claim is about the problem as it was.
    return {**body, "problem": {**problem, part: {**problem[part], key: value}}, "claims": {}}


def _along(body: dict[str, Any], key: str, old: list[Any], new: list[Any]) -> dict[str, Any]:
    """The study whose sections but KEPT name new values of an axis; what names one that is gone is left out."""

    def moved(value: Any) -> Any:
        if value in new or value not in old:
            return value
        numbers = [one for one in new if isinstance(one, int | float)]
        # Of a few values each is a case of its own; many are sizes, of which the nearest does as well.
        if len(old) > 2 and numbers and isinstance(value, int | float):
            return min(numbers, key=lambda one: abs(one - value))
        return new[0] if value == old[0] else None

    def renewed(part: Any) -> Any:
        if isinstance(part, list):
            return [one for one in map(renewed, part) if one is not None]
        if not isinstance(part, Mapping):
            return part
        found = {name: renewed(one) for name, one in part.items()}
        if key in part and (single := part[key]) is not None:
            many = single if isinstance(single, list) else [single]
            kept = list(dict.fromkeys(one for one in map(moved, many) if one is not None))
            if not kept:
                return None
            found[key] = kept if isinstance(single, list) else kept[0]
        return {name: one for name, one in found.items() if one is not None}

    found = {}
    for section, part in body.items():
        found[section] = part if section in KEPT else renewed(part)
    for name, entry in body.get("learners", {}).items():
        # One that runs only where the values are gone.
        if entry.get("only") and not found["learners"][name].get("only"):
            del found["learners"][name]
    if key != "dimension" and set(new) - set(old):
        lost = set(old) - set(new)
        claims = body.get("claims", {}).items()
        found["claims"] = {claim: said for claim, said in claims if not lost & set(_named(said, key))}
    return found


def _named(part: Any, key: str) -> Iterable[Any]:
    """The values that a part of a study names for a key."""
    if isinstance(part, Mapping):
        for name, one in part.items():
            if name == key:
                yield from one if isinstance(one, list) else [one]
            yield from _named(one, key)
    elif isinstance(part, list):
        for one in part:
            yield from _named(one, key)


def _without_lost_claims(body: dict[str, Any]) -> dict[str, Any]:
    """The study whose figure shows the claims alone that are left."""

    def shown(part: Any) -> Any:
        if isinstance(part, list):
            return [shown(one) for one in part]
        if not isinstance(part, Mapping):
            return part
        return {name: shown(one) for name, one in part.items() if name != "shows"}

    body = {**body, "claims": {name: {**one, "rank": "secondary"} for name, one in body.get("claims", {}).items()}}
    return {**body, "figure": shown(body["figure"])} if "figure" in body else body


def _sound(body: dict[str, Any], file: Path, title: str) -> dict[str, Any]:
    """The study without what has faults now, written. Raises ValueError with faults of what cannot be left out."""
    faults: list[Fault] = []
    for _ in range(ROUNDS):
        texts.put(file, title + load.drafted(body))
        faults = checking.study(file, file.as_posix(), "quick", at_all=False)[1]
        if not faults:
            return body
        places = {place for fault in faults if (place := _droppable(body, fault))}
        if not places:
            raise ValueError("\n".join(map(str, faults)))
        for place in places:
            body = _dropped(body, place)
        if "figure" not in body:
            # A study has one; this one draws n* of every learner.
            others = {key: values[0] for key, values in body.get("axes", {}).items() if key != "dimension"}
            body = {**body, "figure": {"name": "sample_complexity", **({"main": others} if others else {})}}
    raise ValueError("\n".join(map(str, faults)))


def _droppable(body: Mapping[str, Any], fault: Fault) -> tuple[Any, ...]:
    """The place of a fault's entry, which a study can do without; () for another."""
    path = fault.path
    if len(path) > 1 and path[0] in ENTRIES:
        return path[:2]
    if path[:1] == ("figure",):
        return _of_figure(body["figure"], path)
    return path[:2] if path[:2] == ("samples", "curves") else ()


def _of_figure(figure: Mapping[str, Any], path: tuple[Any, ...]) -> tuple[Any, ...]:
    """The place of a line of several, a panel of several, an entry of a key, a key, or the figure itself."""
    key = path[1] if len(path) > 1 else "name"
    if key == "panels" and len(path) > 2 and len(figure["panels"]) > 0:
        lines = figure["panels"][path[2]].get("lines", ())
        if path[3:4] == ("lines",) and len(path) > 4 and len(lines) > 1:
            return path[:5]
        return path[:3] if len(figure["panels"]) > 1 else path[:1]
    if key in ("name", "panels"):
        return path[:1]
    return path[:3] if isinstance(figure.get(key), Mapping) else path[:2]


def _dropped(body: dict[str, Any], place: tuple[Any, ...]) -> dict[str, Any]:
    """The study without the entry at a place."""
    first, rest = place[0], place[1:]
    part = body.get(first) if isinstance(body, Mapping) else None
    if isinstance(body, list):
        return [one if i != first else _dropped(one, rest) for i, one in enumerate(body) if rest or i != first]
    if not rest or part is None:
        return {name: one for name, one in body.items() if name != first}
    return {**body, first: _dropped(part, rest)}


def _name(study: str, values: Mapping[str, Any]) -> str:
    """The name of the changed study."""
    words = [study, *(f"{key}-{value}" for key, value in values.items())]
    return re.sub(r"[^a-z0-9]+", "-", "-".join(words).lower()).strip("-")[:LONGEST].strip("-")


def _told(values: Mapping[str, Any], gone: list[str], count: int) -> str:
    """One line on the claims that are set aside."""
    if not gone:
        return ""
    more = f" and {len(gone) - SHOWN} more" if len(gone) > SHOWN else ""
    named = f"{', '.join(gone[:SHOWN])}{more}"
    return f"set aside: {len(gone)} of {count} claims, which are about other values of {', '.join(values)}: {named}"
