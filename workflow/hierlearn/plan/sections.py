"""What the sections of a study say of each other: names, axes, choices and swept parameters that there are."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from hierlearn.core import registry
from hierlearn.plan.load import Validator, expected, listed, nearest, schema, shown
from hierlearn.plan.references import size_reference
from hierlearn.plan.study import Study

# A problem key may be an axis too.
PROBLEM_AXES = ("dimension", "label_noise")


def between_sections(study: Study) -> Iterator[tuple[str, str, str]]:
    """(field, what was found, what is allowed) of every fault between sections that are sound by themselves."""
    content, axes = study.content, study.content["axes"]
    for axis, values in axes.items():
        place = study.placement(axis)
        if axis not in PROBLEM_AXES and place is None:
            owners = [content["problem"][kind]["name"] for kind in ("input", "teacher")]
            kinds = zip(("inputs", "teachers"), owners, strict=True)
            kinds = [*kinds, *(("representations", part["name"]) for part in content["representations"].values())]
            known = {*PROBLEM_AXES, *(p for kind, owner in kinds for p in registry.parameters(kind, owner))}
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
        if axis not in axes and axis not in study.cuttable:
            yield f"cut[{i}]", shown(axis), nearest(axis, [*axes, *study.cuttable])
    laws = registry.literal("teachers", content["problem"]["teacher"]["name"], "LAWS")
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
        yield from _kernels_counted(study, f"claims.{name}.quantity", claim["quantity"])


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
            yield f"{at}[{i}]", shown(value), expected(error)
    if axis == "dimension" and not broken and values != sorted(values):
        yield at, shown(values), "increasing numbers"


def _axis_schema(study: Study, place: str, axis: str) -> Mapping[str, Any]:
    """The schema of the parameter that an axis sets."""
    if place != "representation":
        return registry.parameters(f"{place}s", study.content["problem"][place]["name"])[axis]
    for description in study.content["representations"].values():
        known = registry.parameters("representations", description["name"])
        if axis in known:
            return known[axis]
    raise KeyError(axis)


def _kernels_counted(study: Study, at: str, quantity: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Kernel learners that choose among more kernels than the bound on them counts."""
    name, predictors = quantity["name"], quantity.get("predictors")
    known = registry.parameters("quantities", name) if name in registry.available("quantities") else {}
    spans = quantity.get("spans", known.get("spans", {}).get("default"))
    if not isinstance(predictors, list) or not isinstance(spans, int):
        return
    for learner, entry in study.content["learners"].items():
        if learner in predictors and entry["learner"]["name"] == "kernel_ridge":
            # Every ridge finds its function in the same span.
            kernels = math.prod(len(values) for choice, values in entry["select"].items() if choice != "ridge")
            if kernels > spans:
                found = shown(spans) if "spans" in quantity else "nothing"
                yield f"{at}.spans", found, f"at least {kernels}, among so many kernels {learner} chooses"


def _learner_references(study: Study, name: str, entry: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    at, axes = f"learners.{name}", study.content["axes"]
    known = ["raw", *study.content["representations"]]
    if entry["representation"] not in known:
        yield f"{at}.representation", shown(entry["representation"]), nearest(entry["representation"], known)
    component = entry["learner"]["name"]
    choices = registry.literal("learners", component, "CHOICES") or {}
    for key, values in entry["select"].items():
        if key not in choices:
            yield f"{at}.select.{key}", "an unknown choice", nearest(key, choices)
            continue
        if "rule" in choices[key]:
            yield f"{at}.select.{key}", "a rule of choosing", f"sweep.{key}; it is not something to choose among"
            continue
        for i, value in enumerate(values):
            for error in Validator(choices[key]).iter_errors(value):
                yield f"{at}.select.{key}[{i}]", shown(value), expected(error)
    for key in choices:
        if key not in entry["select"] and key not in entry["sweep"] and "default" not in choices[key]:
            yield f"{at}.select.{key}", "nothing", f"a list of values: {choices[key]['description']}"
    for key, planned in entry["samples"].items():
        for i, size in enumerate(planned if key == "at" else [planned]):
            if isinstance(size, dict):
                place = ("learners", name, "samples", key, i) if key == "at" else ("learners", name, "samples", key)
                yield from ((f.field, f.found, f.allowed) for f in size_reference(study, place, size))
    parameters = registry.parameters("learners", component) | choices
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
                yield f"{at}.sweep.{key}[{i}]", shown(value), expected(error)
    places = axes | {"samples": entry["samples"].get("at", [])}
    for i, place in enumerate(entry["skip"]):
        for axis, value in place.items():
            if axis not in places:
                yield f"{at}.skip[{i}].{axis}", "an unknown axis", nearest(axis, places)
            elif not listed(value, places[axis]):
                yield f"{at}.skip[{i}].{axis}", shown(value), nearest(value, places[axis])
    for axis in entry["limits"]:
        if axis not in axes:
            yield f"{at}.limits.{axis}", "an unknown axis", nearest(axis, axes)
        elif not all(isinstance(value, int | float) for value in axes[axis]):
            yield f"{at}.limits.{axis}", "an axis of words", "an axis of numbers"
