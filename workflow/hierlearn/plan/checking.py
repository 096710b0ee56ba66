"""Checks the configuration and every study before anything runs, and lists all faults at once."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hierlearn.core import registry
from hierlearn.plan import formulas, published, resources
from hierlearn.plan.load import (
    PRESETS,
    SCHEMAS,
    Fault,
    dotted,
    fill_defaults,
    load,
    merge,
    nearest,
    schema,
    schema_faults,
    shown,
)
from hierlearn.plan.mending import follows, mended, settles_names
from hierlearn.plan.plausibility import too_large, too_many
from hierlearn.plan.points import resolved
from hierlearn.plan.references import reference, size_reference
from hierlearn.plan.sections import between_sections
from hierlearn.plan.study import Study

# Folders of the project that no run writes into.
ROOT, OWN = SCHEMAS.parents[2], ("benchmarks", "config", "docs", "envs", "profiles", "tests", "workflow")
# Sections of a study whose components may have a size that depends on the problem.
SIZED = ("problem", "representations", "learners")
# Keys that say at how many points, and of which size, something runs.
SIZING = {"axes", "problem", "representations", "limits", "skip", "samples"}
# Sections of a study whose components name parts of the others.
REFERRING = ("figure", "claims")


def papers() -> list[str]:
    """The keys of the papers, which are targets too."""
    return schema("study")["properties"]["paper"]["enum"]


def configuration(given: Mapping[str, Any], name: str, known_studies: list[str]) -> tuple[dict[str, Any], list[Fault]]:
    """The configuration with defaults, and its faults. name: what messages call it."""
    against = schema("config")
    # Snakemake hands over true and false on the command line as words.
    words = {"true": True, "false": False}
    booleans = [key for key, part in against["properties"].items() if part.get("type") == "boolean"]
    given = {k: words.get(v, v) if k in booleans and isinstance(v, str) else v for k, v in given.items()}
    faults = list(schema_faults(name, dict(given), against))
    chosen = given.get("studies", [])
    for i, study in enumerate(chosen if isinstance(chosen, list) else []):
        if isinstance(study, str) and study not in known_studies:
            faults.append(Fault(name, f"studies[{i}]", shown(study), nearest(study, known_studies)))
    if "results" in given and not any(fault.field == "results" for fault in faults):
        results = Path(given["results"])
        if ".." in results.parts:
            faults.append(Fault(name, "results", shown(str(results)), "a folder below the working directory"))
        elif any((at.exists() or at.is_symlink()) and not at.is_dir() for at in (results, *results.parents)):
            faults.append(Fault(name, "results", f"{shown(str(results))}, where a file is", "a folder"))
        elif any(own in (results.resolve(), *results.resolve().parents) for own in (ROOT / folder for folder in OWN)):
            faults.append(Fault(name, "results", f"{shown(str(results))}, of the project itself", "another folder"))
        # Snakemake takes x/ and x//y for names of their own.
        given["results"] = results.as_posix()
    return ({} if faults else fill_defaults(dict(given), against)), sorted(set(faults))


def study(file: Path, name: str, preset: str, limit: int = resources.ABSURD_MB) -> tuple[Study | None, list[Fault]]:
    """A study at a preset, and the faults of the study at every preset. name: what messages call the file.

    limit: memory in MB that a job of this preset may need.

    The published numbers that it may name lie in a folder beside its own; their faults are not the study's.
    """
    content, latest = load(file, name)
    if content is None:
        return None, latest
    paper = content.get("paper")
    beside = file.parents[1] / "published" / f"{paper}.yaml"
    numbers, _ = published.tables(beside, beside.name) if paper in papers() else (None, [])
    if absurd := list(too_many(content, name)):
        # All other checks would take minutes.
        return None, sorted({*latest, *absurd})
    found, changed, chosen = latest, set(), None
    if not found:
        chosen, found = _checked(content, numbers, file, name, preset, changed)
        latest = found
    again = chosen
    while latest:
        content, now = mended(content, latest)
        if now <= changed:
            break
        changed |= now
        again, faults = _checked(content, numbers, file, name, preset, changed)
        latest = [fault for fault in faults if fault not in found and not follows(fault, changed)]
        found = found + latest
    if chosen is not None:
        found = [*found, *too_large(chosen, limit)]
    elif again is not None and not any(SIZING & set(at) for at in changed):
        # What is mended may be larger than what was meant, but for points, which become as few as can be.
        larger = {at for at in changed if at[0] != "points"}
        found = [*found, *(fault for fault in too_large(again, limit) if not follows(fault, larger))]
    return (None if found else chosen), sorted(set(found))


def _checked(
    content: Mapping[str, Any], numbers: Any, file: Path, name: str, preset: str, changed: set[tuple]
) -> tuple[Study | None, list[Fault]]:
    """The study of a file's content at a preset, if its jobs can be planned, and the faults that can be seen at once.

    changed: paths that have been mended since the file was read; what lies there hides nothing.
    """
    against, chosen = schema("study"), None
    found: list[Fault] = list(schema_faults(name, content, against))
    if any(fault.field.startswith("presets") for fault in found):
        return None, found
    for which in PRESETS:
        overlay = (content.get("presets") or {}).get(which, {})
        if "presets" in overlay:
            found.append(Fault(name, f"presets.{which}.presets", "presets of a preset", "them beside one another"))
        body = merge({key: value for key, value in content.items() if key != "presets"}, overlay)
        broken = [fault for fault in schema_faults(name, body, against) if fault not in found]
        if not broken and not found:
            candidate = Study(file.stem, name, which, fill_defaults(body, against), numbers)
            broken = list(_study_faults(candidate, changed))
            if which == preset and all(fault.field.startswith(REFERRING) for fault in broken):
                chosen = candidate
        elif which == "quick":
            broken += _parts_faults(Study(file.stem, name, which, body), found)
        if which == "quick":
            found += broken
        else:
            # A fault that the body has too is reported once, where it stands.
            seen = {(fault.found, fault.allowed) for fault in found}
            inside = [fault for fault in broken if (fault.found, fault.allowed) not in seen]
            found += [Fault(name, f"presets.{which}.{fault.field}", fault.found, fault.allowed) for fault in inside]
    return chosen, found


def _study_faults(study: Study, changed: set[tuple]) -> Iterator[Fault]:
    """Faults that a schema cannot see: names that refer to nothing, and parameters of components."""
    parts = list(_components(study.content))
    faults = [f for part in parts if part[0][0] not in REFERRING for f in component_faults(study, *part)]
    if all(
        description["name"] in registry.available(kind) for at, kind, description in parts if at[0] not in REFERRING
    ):
        faults += [Fault(study.file, *fault) for fault in between_sections(study)]
    # What a name may refer to is known once the parts that have the names are sound.
    # Without a representation no size of its learners is known.
    sized = all(follows(fault, changed) and not fault.field.endswith(".representation") for fault in faults)
    whole, sound = not faults, settles_names(changed) and sized
    faults += [f for part in parts if part[0][0] in REFERRING for f in component_faults(study, *part, sound)]
    yield from faults
    yield from formulas.faults(study.file, study.content)
    if whole:
        yield from resolved(study)


def _parts_faults(study: Study, known: list[Fault]) -> list[Fault]:
    """Faults of the components of a study that a schema objects to, as far as they can be read."""
    reported = {fault.field for fault in known}
    faults = [
        fault
        for at, kind, description in _components(study.content)
        if isinstance(description.get("name"), str)
        for fault in component_faults(study, at, kind, description, references=False)
    ]
    return [fault for fault in faults if fault.field not in reported]


def _components(content: Mapping[str, Any]) -> Iterator[tuple[tuple, str, Mapping[str, Any]]]:
    """(path, kind, description) of every component that a study describes; leaves out what is no mapping."""
    single = {("problem", "input"): "inputs", ("problem", "teacher"): "teachers", ("figure",): "figures"}
    named = {
        "representations": ("representations",),
        "learners": ("learners", "learner"),
        "probes": ("probes", "probe"),
        "claims": ("quantities", "quantity"),
    }
    for at, kind in single.items():
        part: Any = content
        for key in at:
            part = part.get(key) if isinstance(part, dict) else None
        if isinstance(part, dict):
            yield at, kind, part
    for section, (kind, *below) in named.items():
        entries = content.get(section)
        for name, entry in entries.items() if isinstance(entries, dict) else ():
            part = entry.get(below[0]) if below and isinstance(entry, dict) else entry
            if isinstance(part, dict):
                yield (section, name, *below), kind, part


def component_faults(
    study: Study, at: tuple, kind: str, description: Mapping[str, Any], references: bool = True
) -> Iterator[Fault]:
    """Faults of a component's description against the schema in its file; sizes stand for the numbers they become.

    references: whether names of other parts of the study are looked up, which needs a study that its schema allows.
    """
    name = description["name"]
    if name not in registry.available(kind):
        yield Fault(study.file, dotted((*at, "name")), shown(name), nearest(name, registry.available(kind)))
        return
    known = registry.parameters(kind, name)
    scope = registry.defaults(kind, name) | dict(description)
    for key, value in description.items():
        if key == "name":
            continue
        where = dotted((*at, key))
        if key not in known:
            yield Fault(study.file, where, "an unknown parameter", nearest(key, known))
        elif "component" in known[key]:
            yield from _nested(study, (*at, key), known[key]["component"], value, references)
        elif "components" in known[key] and isinstance(value, dict):
            for label, part in value.items():
                yield from _nested(study, (*at, key, label), known[key]["components"], part, references)
        elif "components" in known[key]:
            kinds = nearest("", registry.available(known[key]["components"]))
            yield Fault(study.file, where, shown(value), f"names with components {{name: ...}}, {kinds}")
        elif isinstance(value, dict) and ("coefficient" in value or "of" in value):
            size = schema("study")
            against = {"$defs": size["$defs"], "$ref": "#/$defs/size"}
            yield from schema_faults(study.file, value, against, (*at, key))
            if known[key].get("type") not in ("integer", "number") or at[0] not in SIZED:
                yield Fault(study.file, where, shown(value), f"a {known[key].get('type', 'value')}, not a size")
            elif references:
                yield from size_reference(study, (*at, key), value)
        else:
            broken = list(schema_faults(study.file, value, known[key], (*at, key)))
            yield from broken
            if references and not broken:
                yield from reference(study, (*at, key), known[key], value, scope)
    for key, against in known.items():
        if key in description:
            continue
        if "default" not in against:
            yield Fault(study.file, dotted((*at, key)), "nothing", f"this required parameter: {against['description']}")
        elif references and kind == "quantities":
            yield from reference(study, (*at, key), against, against["default"], scope)


def _nested(study: Study, at: tuple, kind: str, value: Any, references: bool) -> Iterator[Fault]:
    """Faults of a parameter that is a component itself."""
    if not isinstance(value, dict):
        allowed = f"a component {{name: ...}}, {nearest('', registry.available(kind))}"
        yield Fault(study.file, dotted(at), shown(value), allowed)
        return
    nameless = list(schema_faults(study.file, value, schema("study")["$defs"]["component"], at))
    yield from nameless or component_faults(study, at, kind, value, references)
