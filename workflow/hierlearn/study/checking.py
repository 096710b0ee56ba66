"""Checks the configuration and every study before anything runs, and lists all faults at once."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hierlearn import components
from hierlearn.study.expansion import Study, resolve
from hierlearn.study.reading import (
    Fault,
    Validator,
    dotted,
    fill_defaults,
    load,
    merge,
    nearest,
    schema,
    schema_faults,
    shown,
)

PRESETS = ("quick", "full", "smoke")
# A problem key may be an axis too.
PROBLEM_AXES = ("dimension", "label_noise")
# Sections of a study whose components may have a size that depends on the problem.
SIZED = ("problem", "representations", "learners")


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
    results = given.get("results", "")
    if isinstance(results, str) and ".." in results.split("/") and not any(f.field == "results" for f in faults):
        faults.append(Fault(name, "results", shown(results), "a folder below the working directory"))
    return ({} if faults else fill_defaults(dict(given), against)), sorted(set(faults))


def study(file: Path, name: str, preset: str) -> tuple[Study | None, list[Fault]]:
    """A study at a preset, and the faults of the study at every preset. name: what messages call the file."""
    content, faults = load(file, name)
    if faults:
        return None, faults
    against = schema("study")
    chosen = None
    found: list[Fault] = list(schema_faults(name, content, against))
    if any(fault.field.startswith("presets") for fault in found):
        return None, sorted(set(found))
    for which in PRESETS:
        overlay = (content.get("presets") or {}).get(which, {})
        body = merge({key: value for key, value in content.items() if key != "presets"}, overlay)
        broken = [fault for fault in schema_faults(name, body, against) if fault not in found]
        if not broken and not found:
            candidate = Study(file.stem, name, which, fill_defaults(body, against))
            broken = list(_study_faults(candidate))
            if which == preset:
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
    return (None if found else chosen), sorted(set(found))


def _study_faults(study: Study) -> Iterator[Fault]:
    """Faults that a schema cannot see: names that refer to nothing, and parameters of components."""
    parts = list(_components(study.content))
    faults = [fault for part in parts for fault in component_faults(study, *part)]
    if all(description["name"] in components.available(kind) for _, kind, description in parts):
        faults += [Fault(study.file, *fault) for fault in _references(study)]
    yield from faults
    if not faults:
        yield from _resolved(study)


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
    if name not in components.available(kind):
        yield Fault(study.file, dotted((*at, "name")), shown(name), nearest(name, components.available(kind)))
        return
    known = components.parameters(kind, name)
    scope = components.defaults(kind, name) | dict(description)
    for key, value in description.items():
        if key == "name":
            continue
        where = dotted((*at, key))
        if key not in known:
            yield Fault(study.file, where, "an unknown parameter", nearest(key, known))
        elif "component" in known[key]:
            if isinstance(value, dict) and isinstance(value.get("name"), str):
                yield from component_faults(study, (*at, key), known[key]["component"], value, references)
            else:
                kinds = nearest("", components.available(known[key]["component"]))
                yield Fault(study.file, where, shown(value), f"a component {{name: ...}}, {kinds}")
        elif "components" in known[key]:
            if isinstance(value, dict) and all(
                isinstance(p, dict) and isinstance(p.get("name"), str) for p in value.values()
            ):
                for label, part in value.items():
                    yield from component_faults(study, (*at, key, label), known[key]["components"], part, references)
            else:
                kinds = nearest("", components.available(known[key]["components"]))
                yield Fault(study.file, where, shown(value), f"names with components {{name: ...}}, {kinds}")
        elif isinstance(value, dict) and "coefficient" in value:
            size = schema("study")
            against = {"$defs": size["$defs"], "$ref": "#/$defs/size"}
            yield from schema_faults(study.file, value, against, (*at, key))
            if known[key].get("type") not in ("integer", "number") or at[0] not in SIZED:
                yield Fault(study.file, where, shown(value), f"a {known[key].get('type', 'value')}, not a size")
            elif references:
                yield from _size_reference(study, (*at, key), value)
        else:
            broken = list(schema_faults(study.file, value, known[key], (*at, key)))
            yield from broken
            if references and not broken:
                yield from _reference(study, (*at, key), known[key], value, scope)
    for key, against in known.items():
        if key in description:
            continue
        if "default" not in against:
            yield Fault(study.file, dotted((*at, key)), "nothing", f"this required parameter: {against['description']}")
        elif references and kind == "quantities":
            yield from _reference(study, (*at, key), against, against["default"], scope)


def _size_reference(study: Study, at: tuple, value: Mapping[str, Any]) -> Iterator[Fault]:
    """A size that refers to what its place does not know: features before there are any, a degree of no polynomial."""
    known = ["dimension", "quadratic_dimension"]
    if at[0] != "problem":
        teacher = study.content["problem"]["teacher"].get("name")
        if teacher in components.available("teachers") and "degree" in components.parameters("teachers", teacher):
            known += ["harmonic_dimension", "polynomial_dimension", "quad_raw_dimension"]
        if (at[0], at[-1]) != ("representations", "count"):
            known.append("features")
    if value.get("of") not in known:
        yield Fault(study.file, dotted((*at, "of")), shown(value.get("of")), f"one of {', '.join(known)}")


def _reference(
    study: Study, at: tuple, against: Mapping[str, Any], value: Any, scope: Mapping[str, Any]
) -> Iterator[Fault]:
    """A parameter that names something of the study: its schema says {"reference": "learners"}.

    Goes into lists and objects. scope: the keys beside the value and around it, for what refers to a `probe` or `axis`.
    """
    section = against.get("reference")
    if value is None:
        return
    if section is None:
        if isinstance(value, dict):
            around = dict(scope) | value
            for key, part in against.get("properties", {}).items():
                if key in value or "default" in part:
                    yield from _reference(study, (*at, key), part, value.get(key, part.get("default")), around)
        elif isinstance(value, list) and "items" in against:
            for i, one in enumerate(value):
                yield from _reference(study, (*at, i), against["items"], one, scope)
        return
    if section.endswith(("coordinates", "place")):
        if isinstance(value, dict):
            yield from _coordinates(study, at, section, value, scope)
        return
    known = _known(study, section, scope)
    if known is None:
        return
    for i, name in enumerate(value if isinstance(value, list) else [value]):
        if name not in known:
            place = (*at, i) if isinstance(value, list) else at
            yield Fault(study.file, dotted(place), shown(name), nearest(name, known))


def _known(study: Study, section: str, scope: Mapping[str, Any]) -> list | None:
    """What a reference may name; None where something else is at fault."""
    content = study.content
    if section.endswith("axis"):
        return list(_grid(study, section, scope))
    if section.endswith("axis values"):
        known = _grid(study, section, scope)
        return known[scope["axis"]] if scope.get("axis") in list(known) else None
    if section.startswith("probe "):
        return _of_probe(study, section.removeprefix("probe "), scope)
    own = {"thresholds": content["samples"]["thresholds"], "dimensions": content["axes"]["dimension"]}
    return list(own[section] if section in own else content[section])


def _of_probe(study: Study, part: str, scope: Mapping[str, Any]) -> list | None:
    """What the probe in scope offers: measures, lines, thresholds or dimensions; None without it."""
    name = scope.get("probe")
    if name not in list(study.content["probes"]):
        return None
    entry = study.content["probes"][name]
    if part == "dimension":
        return (study.axes | entry["axes"])["dimension"]
    # A probe that is broken itself has faults of its own.
    if entry["probe"]["name"] not in components.available("probes"):
        return None
    if part == "measures":
        return list(components.literal("probes", entry["probe"]["name"], "MEASURES") or ())
    offered = (components.defaults("probes", entry["probe"]["name"]) | entry["probe"]).get(part)
    return list(offered) if isinstance(offered, list | dict) else None


def _grid(study: Study, section: str, scope: Mapping[str, Any]) -> dict[str, list]:
    """Coordinates with their values: of the scores, of the grid of the probe in scope, or of the probe itself.

    section: has the word `probe` for a probe, `panel` where that depends on whether one is in scope, and `grid` where
    its own coordinates are left out.
    """
    if "panel" in section and scope.get("probe") is None:
        return study.axes | study.swept | {"samples": [*study.coordinates["samples"], "largest"]}
    if "probe" not in section and "panel" not in section:
        return study.axes | study.swept
    if scope.get("probe") not in list(study.content["probes"]):
        return dict(study.axes)
    entry = study.content["probes"][scope["probe"]]
    grid = study.axes | entry["axes"]
    if "grid" not in section and entry["probe"]["name"] in components.available("probes"):
        described = components.defaults("probes", entry["probe"]["name"]) | entry["probe"]
        own = components.literal("probes", entry["probe"]["name"], "COORDINATES") or {}
        grid |= {axis: list(described[parameter]) for axis, parameter in own.items()}
    return grid


def _coordinates(
    study: Study, at: tuple, section: str, where: Mapping[str, Any], scope: Mapping[str, Any]
) -> Iterator[Fault]:
    """One place in the scores of the learners, or in a probe.

    section: "... coordinates" fixes all axes but the one in scope (the dimension if there is none) and those of a
    single value; "... place" leaves none open; "some ... coordinates" fixes any.
    """
    known, some = _grid(study, section, scope), section.startswith("some ")
    open_axis = None if some or section.endswith("place") else scope.get("axis", "dimension")
    for axis, chosen in where.items():
        if axis not in known or axis == open_axis:
            others = [name for name in known if name != open_axis]
            found = "an axis that is never fixed" if axis == open_axis else "an unknown axis"
            yield Fault(study.file, dotted((*at, axis)), found, nearest(axis, others))
        elif chosen not in known[axis]:
            yield Fault(study.file, dotted((*at, axis)), shown(chosen), nearest(chosen, known[axis]))
    if some:
        return
    for axis, values in known.items():
        if axis not in where and axis != open_axis and len(values) > 1:
            yield Fault(study.file, dotted((*at, axis)), "nothing", f"a value: {nearest('', values)}")


def _references(study: Study) -> Iterator[tuple[str, str, str]]:
    content, axes = study.content, study.content["axes"]
    for axis, values in axes.items():
        place = study.placement(axis)
        if axis not in PROBLEM_AXES and place is None:
            owners = [content["problem"][kind]["name"] for kind in ("input", "teacher")]
            kinds = zip(("inputs", "teachers"), owners, strict=True)
            known = [*PROBLEM_AXES, *(p for kind, owner in kinds for p in components.parameters(kind, owner))]
            yield f"axes.{axis}", "an axis that nothing has", nearest(axis, known)
            continue
        if place in content["problem"] and axis in content["problem"][place]:
            yield f"problem.{place}.{axis}", "a value that the axis of this name overrides", "no value beside an axis"
        if place == "representation":
            for name, description in content["representations"].items():
                if axis in description:
                    found = "a value that the axis of this name overrides"
                    yield f"representations.{name}.{axis}", found, "no value beside an axis"
        yield from _axis_values(study, f"axes.{axis}", axis, values)
    for i, axis in enumerate(content["cut"]):
        if axis not in axes:
            yield f"cut[{i}]", shown(axis), nearest(axis, axes)
    laws = components.literal("teachers", content["problem"]["teacher"]["name"], "LAWS")
    if laws and content["problem"]["input"]["name"] not in laws:
        yield "problem.input.name", shown(content["problem"]["input"]["name"]), nearest("", laws) + " for this teacher"
    for name, entry in content["learners"].items():
        yield from _learner_references(study, name, entry)
    for name, entry in content["probes"].items():
        for axis in entry["axes"]:
            if axis not in axes:
                yield f"probes.{name}.axes.{axis}", "an unknown axis", nearest(axis, axes)
            elif axis in PROBLEM_AXES or study.placement(axis):
                yield from _axis_values(study, f"probes.{name}.axes.{axis}", axis, entry["axes"][axis])
    for name, claim in content["claims"].items():
        if "predicted" not in claim and claim["rule"] not in ("holds", "descriptive"):
            yield f"claims.{name}.predicted", "nothing", f"a number, which the rule {claim['rule']} compares with"


def _axis_values(study: Study, at: str, axis: str, values: list) -> Iterator[tuple[str, str, str]]:
    """Values that an axis cannot take, and dimensions out of order: curves over the dimension join neighbours."""
    posed, place = schema("study")["properties"], study.placement(axis)
    if axis == "dimension":
        against = posed["axes"]["properties"]["dimension"]["items"]
    elif axis in PROBLEM_AXES:
        against = posed["problem"]["properties"][axis]
    else:
        against = _axis_schema(study, place, axis)
    broken = False
    for i, value in enumerate(values):
        for error in Validator(against).iter_errors(value):
            broken = True
            yield f"{at}[{i}]", shown(value), f"{error.validator} {error.validator_value}"
    if axis == "dimension" and not broken and values != sorted(values):
        yield at, shown(values), "increasing numbers"


def _axis_schema(study: Study, place: str, axis: str) -> Mapping[str, Any]:
    """The schema of the parameter that an axis sets."""
    if place != "representation":
        return components.parameters(f"{place}s", study.content["problem"][place]["name"])[axis]
    for description in study.content["representations"].values():
        known = components.parameters("representations", description["name"])
        if axis in known:
            return known[axis]
    raise KeyError(axis)


def _learner_references(study: Study, name: str, entry: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    at, axes = f"learners.{name}", study.content["axes"]
    known = ["raw", *study.content["representations"]]
    if entry["representation"] not in known:
        yield f"{at}.representation", shown(entry["representation"]), nearest(entry["representation"], known)
    component = entry["learner"]["name"]
    choices = components.literal("learners", component, "CHOICES") or {}
    for key, values in entry["select"].items():
        if key not in choices:
            yield f"{at}.select.{key}", "an unknown choice", nearest(key, choices)
            continue
        for i, value in enumerate(values):
            for error in Validator(choices[key]).iter_errors(value):
                yield f"{at}.select.{key}[{i}]", shown(value), f"{error.validator} {error.validator_value}"
    for key in choices:
        if key not in entry["select"] and key not in entry["sweep"]:
            yield f"{at}.select.{key}", "nothing", f"a list of values: {choices[key]['description']}"
    for key, planned in entry["samples"].items():
        for i, size in enumerate(planned if key == "at" else [planned]):
            if isinstance(size, dict):
                place = ("learners", name, "samples", key, i) if key == "at" else ("learners", name, "samples", key)
                yield from ((f.field, f.found, f.allowed) for f in _size_reference(study, place, size))
    parameters = components.parameters("learners", component) | choices
    for key, values in entry["sweep"].items():
        if key not in parameters:
            yield f"{at}.sweep.{key}", "an unknown parameter", nearest(key, parameters)
            continue
        if {"component", "components"} & set(parameters[key]):
            yield (
                f"{at}.sweep.{key}",
                "a component",
                "numbers or words; write one learner for each component",
            )
            continue
        for i, value in enumerate(values):
            for error in Validator(parameters[key]).iter_errors(value):
                yield f"{at}.sweep.{key}[{i}]", shown(value), f"{error.validator} {error.validator_value}"
    for i, place in enumerate(entry["skip"]):
        for axis, value in place.items():
            if axis not in axes:
                yield f"{at}.skip[{i}].{axis}", "an unknown axis", nearest(axis, axes)
            elif value not in axes[axis]:
                yield f"{at}.skip[{i}].{axis}", shown(value), nearest(value, axes[axis])
    for axis in entry["limits"]:
        if axis not in axes:
            yield f"{at}.limits.{axis}", "an unknown axis", nearest(axis, axes)
        elif not all(isinstance(value, int | float) for value in axes[axis]):
            yield f"{at}.limits.{axis}", "an axis of words", "an axis of numbers"


def _resolved(study: Study) -> Iterator[Fault]:
    """Sizes that become something impossible at a point of the grid."""
    for task in study.tasks.values():
        for point in task.points:
            for name, entry in study.content["learners"].items():
                context, planned = study.context(name, point), entry["samples"]
                field = f"learners.{name}.samples"
                start, cap = (resolve(planned.get(key, 1), context) for key in ("start", "cap"))
                if start > cap:
                    yield Fault(
                        study.file, field, f"start {start} above cap {cap} at {point.coordinates}", "start <= cap"
                    )
                for variant in study.variants(name, point):
                    yield from _component_values(
                        study, ("learners", name, "learner"), "learners", variant["learner"], point
                    )
            for name in study.content["representations"]:
                description = study.representation(name, point)
                yield from _component_values(study, ("representations", name), "representations", description, point)
            for part in ("input", "teacher"):
                description = point.problem[part]
                yield from _component_values(study, ("problem", part), f"{part}s", description, point)


def _component_values(study: Study, at: tuple, kind: str, description: Mapping[str, Any], point) -> Iterator[Fault]:
    known = components.parameters(kind, description["name"])
    for key, value in description.items():
        if key != "name" and not {"component", "components"} & set(known[key]):
            for error in Validator(known[key]).iter_errors(value):
                found = f"{shown(value)} at {point.coordinates}"
                yield Fault(study.file, dotted((*at, key)), found, f"{error.validator} {error.validator_value}")
    yield from _relations(study, at, kind, description, point)


def _relations(study: Study, at: tuple, kind: str, description: Mapping[str, Any], point) -> Iterator[Fault]:
    """What a component's literals say of its parameters together.

    BOUNDS lists (parameter, what it may not exceed, when), `when` the values that other parameters have where the bound
    holds. EXCLUDED lists ({parameter: values}, what to write instead) of combinations that make no sense; a last
    parameter `law` is the law of the input.
    """
    laws = {"law": study.content["problem"]["input"]["name"]}
    for combination, instead in components.literal(kind, description["name"], "EXCLUDED") or ():
        given = {key: (laws | dict(description))[key] for key in combination}
        if all(value in combination[key] for key, value in given.items()):
            last = [key for key in combination if key != "law"][-1]
            beside = ", ".join(f"{key} {shown(value)}" for key, value in given.items() if key != last)
            yield Fault(study.file, dotted((*at, last)), f"{shown(given[last])} with {beside}", instead)
    for low, high, when in components.literal(kind, description["name"], "BOUNDS") or ():
        if any(description[key] != value for key, value in when.items()):
            continue
        most = point.dimension if high == "dimension" else description[high]
        if description[low] > most:
            found = f"{description[low]} at {point.coordinates}"
            yield Fault(study.file, dotted((*at, low)), found, f"at most {high} = {most}")
