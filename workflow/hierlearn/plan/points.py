"""What the sizes and parameters of a study become at every point of its grid, and whether that is possible."""

import importlib
from collections.abc import Iterator, Mapping
from typing import Any

from hierlearn.core import registry
from hierlearn.plan.faults import Fault, shown
from hierlearn.plan.schemas import expected, violations
from hierlearn.plan.sizes import resolve
from hierlearn.plan.study import Study


def resolved(study: Study) -> Iterator[Fault]:
    """Sizes that become something impossible at a point of the grid."""
    for point in study.points:
        for name, entry in study.learners.items():
            context, planned = study.context(name, point), entry.samples
            start, cap = (resolve(planned.get(key, 1), context) for key in ("start", "cap"))
            if start > cap:
                yield Fault(
                    study.file,
                    ("learners", name, "samples"),
                    f"start {start} above cap {cap} at {point.coordinates}",
                    "start <= cap",
                )
            for variant in study.variants(name, point):
                yield from _component_values(
                    study, ("learners", name, "learner"), "learners", variant["learner"], point
                )
        for name in study.representations:
            description = study.representation(name, point)
            yield from _component_values(study, ("representations", name), "representations", description, point)
        for part in ("input", "teacher"):
            description = point.problem[part]
            yield from _component_values(study, ("problem", part), f"{part}s", description, point)


def warned(study: Study) -> Iterator[Fault]:
    """What a study may do, but may not mean; at points of its grid each once, where it is met first."""
    listing = [name for name, entry in study.learners.items() if "at" in entry.samples]
    if listing and not study.samples.stated:
        found = f"nothing, so sizes in samples.at of {', '.join(listing)} are left out above the risks 0.5 and 0.1"
        allowed = "thresholds: [] to train at all of them, or the risks at which to end"
        yield Fault(study.file, ("samples", "thresholds"), found, allowed)
    seen = set()
    for point in study.points:
        for part in ("input", "teacher"):
            for key, found, wanted in _said(f"{part}s", point.problem[part], point, "warnings"):
                at, place = ("problem", part, key), f"{found} at {point.coordinates}"
                if (key, found) not in seen:
                    seen.add((key, found))
                    yield Fault(study.file, at, place, wanted)


def _said(kind: str, description: Mapping[str, Any], point, what: str) -> Iterator[tuple[str, str, str]]:
    """(parameter, what was found, what is expected) by the module of `theory` that a component's literal RULES names.

    It has the functions `faults` and `warnings` of (the component's parameters, the input's description, d), for what
    no schema can say of parameters together, and imports nothing heavy.
    """
    rules = registry.literal(kind, description["name"], "RULES")
    if rules:
        module = importlib.import_module(f"hierlearn.theory.{rules}")
        yield from getattr(module, what)(description, point.problem["input"], point.dimension)


def _component_values(study: Study, at: tuple, kind: str, description: Mapping[str, Any], point) -> Iterator[Fault]:
    known = registry.parameters(kind, description["name"])
    for key, value in description.items():
        if key != "name" and not {"component", "components"} & set(known[key]):
            for error in violations(value, known[key]):
                found = f"{shown(value)} at {point.coordinates}"
                yield Fault(study.file, (*at, key), found, expected(error))
    yield from _relations(study, at, kind, description, point)


def _relations(study: Study, at: tuple, kind: str, description: Mapping[str, Any], point) -> Iterator[Fault]:
    """What a component's literals say of its parameters together.

    BOUNDS lists (what, what it may not exceed, when), each of the two a parameter, `dimension` or a number, `when` the
    values that other parameters have where the bound holds. EXCLUDED lists ({parameter: values}, what to write instead)
    of combinations that make no sense; a last parameter `law` is the law of the input.
    """
    for key, found, allowed in _said(kind, description, point, "faults"):
        yield Fault(study.file, (*at, key), f"{found} at {point.coordinates}", allowed)
    laws = {"law": study.problem.input["name"]}
    for combination, instead in registry.literal(kind, description["name"], "EXCLUDED") or ():
        given = {key: (laws | dict(description))[key] for key in combination}
        if all(value in combination[key] for key, value in given.items()):
            last = [key for key in combination if key != "law"][-1]
            beside = ", ".join(f"{key} {shown(value)}" for key, value in given.items() if key != last)
            where = ("axes", last) if at[0] != "learners" and last in point.coordinates else (*at, last)
            yield Fault(study.file, where, f"{shown(given[last])} with {beside}", instead)
    for low, high, when in registry.literal(kind, description["name"], "BOUNDS") or ():
        if any(description[key] != value for key, value in when.items()):
            continue
        sizes = dict(description) | {"dimension": point.dimension}
        least, most = sizes.get(low, low), sizes.get(high, high)
        if least > most and low in description:
            yield Fault(study.file, (*at, low), f"{least} at {point.coordinates}", f"at most {high} = {most}")
        elif least > most:
            wanted = f"at most {most}" if low == "dimension" else f"at least {least}"
            yield Fault(
                study.file, ("axes", "dimension"), shown(point.dimension), f"{wanted} for {description['name']}"
            )
