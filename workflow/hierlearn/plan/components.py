"""The parameters of the components that a study describes, against the schemas in the components' files."""

from collections.abc import Iterator, Mapping
from typing import Any

from hierlearn.core import registry
from hierlearn.plan.draft import Draft
from hierlearn.plan.faults import Path, nearest, show, value_at
from hierlearn.plan.violations import schema, schema_faults

# Sections of a study whose components may have a size that depends on the problem.
SIZED = ("problem", "representations", "learners")
SINGLE = {("problem", "input"): "inputs", ("problem", "teacher"): "teachers", ("figure",): "figures"}
NAMED = {
    "representations": ("representations",),
    "learners": ("learners", "learner"),
    "probes": ("probes", "probe"),
    "claims": ("quantities", "quantity"),
}


def components(body: Mapping[str, Any]) -> Iterator[tuple[Path, str, Mapping[str, Any]]]:
    """(path, kind, description) of every component that a study describes; leaves out what is no mapping."""
    for at, kind in SINGLE.items():
        part = value_at(body, at)
        if isinstance(part, dict):
            yield at, kind, part
    for section, (kind, *below) in NAMED.items():
        entries = body.get(section)
        for name in entries if isinstance(entries, dict) else ():
            part = value_at(body, at := (section, name, *below))
            if isinstance(part, dict):
                yield at, kind, part


def check_parameters(draft: Draft, at: Path, kind: str, description: Mapping[str, Any]) -> None:
    """Notes unknown, missing and impossible parameters; what they refer to is not looked up yet."""
    broken, name = draft.broken, description.get("name")
    if broken.over(*at, "name"):
        return
    if name not in registry.available(kind):
        draft.add((*at, "name"), show(name), nearest(name, registry.available(kind)))
        return
    known = registry.parameters(kind, name)
    for key, value in description.items():
        where = (*at, key)
        if key == "name" or broken.over(*where):
            continue
        if key not in known:
            draft.unknown(where, "an unknown parameter", known)
        elif "component" in known[key]:
            _check_nested(draft, where, known[key]["component"], value)
        elif "components" in known[key] and isinstance(value, dict):
            for label, part in value.items():
                _check_nested(draft, (*where, label), known[key]["components"], part)
        elif "components" in known[key]:
            kinds = nearest("", registry.available(known[key]["components"]))
            draft.add(where, show(value), f"names with components {{name: ...}}, {kinds}")
        elif is_size(value):
            _check(draft, where, value, {"$defs": schema("study")["$defs"], "$ref": "#/$defs/size"})
            if known[key].get("type") not in ("integer", "number") or at[0] not in SIZED:
                draft.add(where, show(value), f"a {known[key].get('type', 'value')}, not a size")
        else:
            _check(draft, where, value, known[key])
    for key, against in known.items():
        if key not in description and "default" not in against and not broken.over(*at, key):
            draft.add((*at, key), "nothing", f"this required parameter: {against.get('description', 'a value')}")


def is_size(value: Any) -> bool:
    """Whether a value is written as a size that depends on the problem."""
    return isinstance(value, dict) and ("coefficient" in value or "of" in value)


def parameters_of(
    kind: str, at: Path, description: Mapping[str, Any]
) -> Iterator[tuple[Path, Mapping[str, Any], Any, Mapping[str, Any]]]:
    """(path, schema, value, the parameters beside it) of every parameter, those of nested components included.

    What a quantity leaves out has its default; the names that are known are all that is asked for.
    """
    name = description.get("name")
    if not isinstance(name, str) or name not in registry.available(kind):
        return
    scope = registry.defaults(kind, name) | dict(description)
    for key, against in registry.parameters(kind, name).items():
        where = (*at, key)
        if key not in description and (kind != "quantities" or "default" not in against):
            continue
        value = scope[key]
        nested = {where: value} if "component" in against else {}
        if "components" in against and isinstance(value, dict):
            nested = {(*where, label): part for label, part in value.items()}
        for place, part in nested.items():
            if isinstance(part, dict):
                yield from parameters_of(against.get("component") or against["components"], place, part)
        if not {"component", "components"} & set(against):
            yield where, against, value, scope


def _check(draft: Draft, at: Path, value: Any, against: Mapping[str, Any]) -> None:
    draft.faults.extend(schema_faults(draft.study.file, value, against, at, draft.broken))


def _check_nested(draft: Draft, at: Path, kind: str, value: Any) -> None:
    """A parameter that is a component itself."""
    if not isinstance(value, dict):
        draft.add(at, show(value), f"a component {{name: ...}}, {nearest('', registry.available(kind))}")
        return
    _check(draft, at, value, schema("study")["$defs"]["component"])
    check_parameters(draft, at, kind, value)
