"""The sections of a study: parameters of components, and names, axes and choices that they say of each other."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from hierlearn.core import registry
from hierlearn.core.words import nearest, show, similar
from hierlearn.pipeline.files.errors import Path, value_at
from hierlearn.pipeline.files.schema_errors import allowed_by, schema, schema_faults, violations
from hierlearn.pipeline.plan import claim_checks, component_guards
from hierlearn.pipeline.plan.presets import merge_component
from hierlearn.pipeline.plan.references import check_size
from hierlearn.pipeline.plan.study_spec import Learner, mapping
from hierlearn.pipeline.plan.validation_context import Draft

# Where a study describes components, None for any name; numbers of those of some sections may be sizes.
COMPONENTS = {
    ("problem", "input"): "inputs",
    ("problem", "teacher"): "teachers",
    ("figure",): "figures",
    ("representations", None): "representations",
    ("learners", None, "learner"): "learners",
    ("probes", None, "probe"): "probes",
    ("claims", None, "quantity"): "quantities",
}
SIZED_SECTIONS = ("problem", "representations", "learners")
# A problem key may be an axis too.
PROBLEM_AXES = ("dimension", "label_noise")
# Coordinates of all scores and traces, which no axis can have for a name.
OF_ALL = ("learner", "samples", "seed", "step")
# What a word that names files and groups of tables cannot have.
IN_NO_NAME = "/{}\n\r\0"


def check_axes(draft: Draft) -> None:
    """Axes that nothing has, and values that they cannot take."""
    study = draft.study
    for axis in study.axes:
        at, part = ("axes", axis), study.placement(axis)
        if axis in OF_ALL:
            draft.add(at, "the name of a coordinate of all results", "a parameter of another name")
            continue
        if axis not in PROBLEM_AXES and part is None:
            known = {p for _, kind, one in study.owners for p in registry.parameters(kind, one["name"])}
            draft.unknown(at, "an axis that nothing has", {*PROBLEM_AXES, *known})
            continue
        for place, kind, one in study.owners:
            if kind == part and axis in one:
                draft.add((*place, axis), "a value that the axis of this name overrides", "no value beside an axis")
        _check_axis_values(draft, at, axis, study.axes[axis])


def check_law(draft: Draft) -> None:
    """A law of the input that the teacher is not made for."""
    teacher, law = draft.study.problem.teacher, draft.study.problem.input
    laws = registry.implementation("teachers", teacher["name"]).LAWS
    if laws and law["name"] not in laws:
        draft.add(("problem", "input", "name"), show(law["name"]), nearest("", laws) + " for this teacher")


def check_split(draft: Draft) -> None:
    """Jobs split by what is no axis, no seed and no parameter that every learner sweeps."""
    known = [*draft.study.axes, *draft.study.splittable]
    for i, axis in enumerate(draft.study.split_jobs_by):
        draft.one_of(("split_jobs_by", i), axis, known)


def check_probes(draft: Draft) -> None:
    """Axes of probes that the study does not have, and values that they cannot take."""
    for name, probe in draft.study.probes.items():
        for axis, values in probe.axes.items():
            at = ("probes", name, "axes", axis)
            if axis not in draft.study.axes:
                draft.unknown(at, "an unknown axis", draft.study.axes)
            elif axis in PROBLEM_AXES or draft.study.placement(axis):
                _check_axis_values(draft, at, axis, values)


def check_figure(draft: Draft) -> None:
    """A figure of risks that learners reach, in a study without learners: it would end after all other jobs."""
    name = draft.study.figure["name"]
    if draft.study.learners:
        return
    if any(part.get("reference") == "thresholds" for part in registry.parameters("figures", name).values()):
        draft.add(("figure", "name"), f"{name} in a study without learners", "panels, or some learners")


def check_claims(draft: Draft) -> None:
    """Claims without the number that their rule compares with, a regime or a control, and bounds that count too few
    kernels."""
    for name, claim in draft.study.claims.items():
        at = ("claims", name)
        claim_checks.check_kind(draft, at, claim)
        claim_checks.check_asked_after(draft, at, claim)
        claim_checks.check_limit(draft, at, claim)
        claim_checks.check_words(draft, at, claim)
        claim_checks.check_quantity(draft, at, claim)
        claim_checks.check_control(draft, at, claim)
        for part, quantity in ((("quantity",), claim.quantity), (claim_checks.CONTROL, claim.rival())):
            claim_checks.inherit(draft, (*at, *part))
            if quantity is not None:
                _check_kernels(draft, (*at, *part), quantity)


def _check_axis_values(draft: Draft, at: Path, axis: str, values: list) -> None:
    """Values that an axis cannot take, and dimensions out of order: curves over the dimension join neighbours."""
    posed = schema("study")["properties"]
    if axis == "dimension":
        against = posed["axes"]["properties"]["dimension"]["items"]
    elif axis in PROBLEM_AXES:
        against = posed["problem"]["properties"][axis]
    else:
        known = (registry.parameters(kind, one["name"]) for _, kind, one in draft.study.owners)
        against = next(parameters[axis] for parameters in known if axis in parameters)
    _check_values(draft, at, against)
    if axis == "dimension" and not draft.is_touched(*at) and values != sorted(values):
        draft.add(at, show(values), "increasing numbers")


def _check_values(draft: Draft, at: Path, against: Mapping[str, Any]) -> None:
    """Every value of a list against a schema, as far as the list can be read; words name files and groups too."""
    values = value_at(draft.body, at)
    for i, value in enumerate(values if isinstance(values, list) else ()):
        for error in violations(value, against):
            draft.add((*at, i), show(value), allowed_by(error))
        if isinstance(value, str) and not {*value}.isdisjoint(IN_NO_NAME):
            draft.add((*at, i), show(value), "a word without slash, brace and end of line, as it names files")


def _check_kernels(draft: Draft, at: Path, quantity: Mapping[str, Any]) -> None:
    """Kernel learners that choose among more kernels than the bound on them counts."""
    name, predictors = quantity["name"], quantity.get("predictors")
    spans = quantity.get("spans", registry.parameters("quantities", name).get("spans", {}).get("default"))
    if not isinstance(predictors, list) or not isinstance(spans, int):
        return
    for learner, entry in draft.study.learners.items():
        if learner in predictors and entry.component["name"] == "kernel_ridge":
            # Every ridge finds its function in the same span.
            kernels = math.prod(len(values) for choice, values in entry.select.items() if choice != "ridge")
            if kernels > spans:
                found = show(spans) if "spans" in quantity else "nothing"
                draft.add((*at, "spans"), found, f"at least {kernels}, among so many kernels {learner} chooses")


def check_curves(draft: Draft) -> None:
    """Places at which every sample size is visited, by axes and values that the study does not have."""
    for i, place in enumerate(draft.study.samples.curves):
        _check_coordinates(draft, ("samples", "curves", i), place, {})


def _check_coordinates(draft: Draft, at: Path, place: Mapping[str, Any], others: Mapping[str, list]) -> None:
    """Axes of a place with values that they have. others: what it may name beside the axes."""
    known = draft.study.axes | dict(others)
    for axis, value in place.items():
        if axis in known:
            for one in value if isinstance(value, list) else [value]:
                draft.one_of((*at, axis), one, known[axis])
        else:
            draft.add((*at, axis), "an unknown axis", nearest(axis, known))


def check_learner(draft: Draft, name: str, entry: Learner) -> None:
    """What a learner says of its representation, sample sizes and places."""
    at, study = ("learners", name), draft.study
    draft.one_of((*at, "representation"), entry.representation, ["raw", *study.representations])
    for key, planned in entry.samples.items():
        for i, size in enumerate(planned if isinstance(planned, list) else [planned]):
            if isinstance(size, dict):
                check_size(draft, (*at, "samples", key, *((i,) if isinstance(planned, list) else ())), size)
    said = value_at(draft.body, (*at, "only"))
    for i, place in enumerate(entry.only):
        where = (*at, "only", i) if isinstance(said, list) else (*at, "only")
        _check_coordinates(draft, where, place, {"samples": entry.samples.get("at", [])})
    own, searched = entry.samples.get("thresholds"), ("samples", "thresholds")
    for i, risk in enumerate(own or ()):
        draft.one_of((*at, *searched, i), risk, study.samples.thresholds)
    if "near" in entry.samples and not (study.samples.thresholds if own is None else own):
        draft.add((*at, "samples", "near"), "no threshold", "samples.thresholds, the risks whose crossings to look for")
    for axis in entry.limits:
        where = (*at, "limits", axis)
        if axis not in study.axes:
            draft.add(where, "an unknown axis", nearest(axis, study.axes))
        elif not all(isinstance(value, int | float) for value in study.axes[axis]):
            draft.add(where, "an axis of words", "an axis of numbers")


def check_choices(draft: Draft, at: Path, entry: Learner) -> None:
    """Values to choose among, of choices alone, and values that are swept, of parameters too."""
    name = entry.component["name"]
    choices = registry.choices("learners", name)
    known = registry.parameters("learners", name) | choices
    parts = [key for key, against in known.items() if {"component", "components"} & set(against)]
    for key in entry.select:
        where = (*at, "select", key)
        if key not in choices:
            draft.unknown(where, "an unknown choice", choices)
        elif "rule" in choices[key]:
            draft.add(where, "a rule of choosing", f"sweep.{key}; it is not something to choose among")
        else:
            _check_values(draft, where, choices[key])
    for key, against in choices.items():
        where = (*at, "select", key)
        given = key in entry.select or key in entry.sweep or "default" in against
        if not given and not draft.is_faulty(*at, "sweep", key):
            draft.add(where, "nothing", f"a list of values: {against['description']}")
    for key in entry.sweep:
        where = (*at, "sweep", key)
        if key not in known:
            draft.unknown(where, "an unknown parameter", [other for other in known if other not in parts])
        elif key in parts:
            draft.add(where, "a component", "numbers or words; write one learner for each component")
        elif key in draft.study.axes or key in OF_ALL:
            allowed = "a parameter of another name, or one learner for each value"
            draft.add(where, "the name of an axis of the results", allowed)
        else:
            _check_values(draft, where, known[key])


def components(body: Mapping[str, Any]) -> Iterator[tuple[Path, str, Mapping[str, Any]]]:
    """(path, kind, description) of every component that a study describes; leaves out what is no mapping."""
    for (section, *below), kind in COMPONENTS.items():
        names = mapping(body.get(section)) if None in below else (None,)
        for name in names:
            at = (section, *(name if part is None else part for part in below))
            if isinstance(part := value_at(body, at), dict):
                yield at, kind, part
                overlay = value_at(body, rival := (section, name, *claim_checks.CONTROL))
                if section == "claims" and isinstance(overlay, dict):
                    yield rival, kind, merge_component(part, overlay)


def check_parameters(draft: Draft, at: Path, kind: str, description: Mapping[str, Any]) -> None:
    """Notes unknown, missing and impossible parameters; what they refer to is not looked up yet."""
    name = description.get("name")
    if draft.is_faulty(*at, "name"):
        return
    if name not in registry.available(kind):
        draft.add((*at, "name"), show(name), nearest(name, registry.available(kind)))
        return
    component_guards.check_class(kind, name)
    known = registry.parameters(kind, name)
    for key in description:
        # Its name may be that of what it changes, whose parameters are others.
        if key != "name" and key not in known and similar(key, [*known, "name"]) == ["name"]:
            draft.add((*at, key), "an unknown parameter", nearest(key, [*known, "name"]))
            return
    for key, value in description.items():
        where = (*at, key)
        if key == "name" or draft.is_faulty(*where):
            continue
        if key not in known:
            draft.unknown(where, "an unknown parameter", known)
        elif "component" in known[key]:
            _check_nested(draft, where, known[key]["component"], value)
        elif "components" in known[key] and isinstance(value, dict):
            _check(draft, where, value, {"propertyNames": schema("study")["$defs"]["name"]})
            for label, part in value.items():
                _check_nested(draft, (*where, label), known[key]["components"], part)
        elif "components" in known[key]:
            kinds = nearest("", registry.available(known[key]["components"]))
            draft.add(where, show(value), f"names with components {{name: ...}}, {kinds}")
        elif is_size(value):
            _check(draft, where, value, {"$defs": schema("study")["$defs"], "$ref": "#/$defs/size"})
            if known[key].get("type") not in ("integer", "number") or at[0] not in SIZED_SECTIONS:
                draft.add(where, show(value), f"a {known[key].get('type', 'value')}, not a size")
        else:
            _check(draft, where, value, known[key])
    for key, against in known.items():
        if key not in description and "default" not in against:
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
    draft.take(schema_faults(draft.file, value, against, at))


def _check_nested(draft: Draft, at: Path, kind: str, value: Any) -> None:
    if not isinstance(value, dict):
        draft.add(at, show(value), f"a component {{name: ...}}, {nearest('', registry.available(kind))}")
        return
    _check(draft, at, value, schema("study")["$defs"]["component"])
    check_parameters(draft, at, kind, value)
