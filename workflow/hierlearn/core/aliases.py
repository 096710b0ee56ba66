"""The first names of components, parameters and rules that have other names now.

Forms of questions and their digests use the first names, so that renaming moves no digest. The table only grows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hierlearn.core import registry

Description = dict[str, Any]


@dataclass(frozen=True)
class Alias:
    """What a description says now, the name among it, and what it said first.

    parameters: the first names of parameters, by their present ones.
    """

    kind: str
    present: Mapping[str, Any]
    first: Mapping[str, Any]
    parameters: Mapping[str, str] = field(default_factory=dict)

    def fits(self, kind: str, description: Mapping[str, Any]) -> bool:
        """Return whether a description says what this alias is for."""
        return kind == self.kind and all(description.get(key) == value for key, value in self.present.items())

    def translated(self, description: Mapping[str, Any]) -> Description:
        """Return a description in first names."""
        rest = {self.parameters.get(key, key): value for key, value in description.items() if key not in self.present}
        return {**self.first, **rest}


ALIASES: tuple[Alias, ...] = (
    # It had a regressor once, of which every row chose the dimension.
    Alias("quantities", {"name": "slope_change"}, {"name": "slope_change", "regressor": "dimension"}),
)


# The first name of a rule, by its present one.
RULES = {"bound": "holds"}


def first_rule(rule: str) -> str:
    """Return the first name of a rule."""
    return RULES.get(rule, rule)


def present_rule(rule: str) -> str:
    """Return the present name of a rule that is given by any of its names."""
    return next((present for present, first in RULES.items() if rule == first), rule)


def first_names(kind: str, description: Mapping[str, Any]) -> Description:
    """Return a description in first names, its nested components too."""
    name = description["name"]
    known = registry.parameters(kind, name) if name in registry.available(kind) else {}
    found = dict(description)
    for key, schema in known.items():
        if "component" in schema and key in found:
            found[key] = first_names(schema["component"], found[key])
        elif "components" in schema and key in found:
            found[key] = {label: first_names(schema["components"], part) for label, part in found[key].items()}
    for alias in ALIASES:
        if alias.fits(kind, found):
            return alias.translated(found)
    return found


def design_in_first_names(design: Mapping[str, Any]) -> Description:
    """Return a design of `registration.designs` with all its components in first names."""
    claim = dict(design["claim"])
    claim["quantity"] = first_names("quantities", claim["quantity"])
    if "quantity" in (claim.get("control") or {}):
        claim["control"] = claim["control"] | {"quantity": first_names("quantities", claim["control"]["quantity"])}
    learners = {
        name: part | {"grid": [_cell(cell) for cell in part["grid"]]} for name, part in design["learners"].items()
    }
    probes = {
        name: {"probe": first_names("probes", part["probe"]), "grid": [_cell(cell) for cell in part["grid"]]}
        for name, part in design["probes"].items()
    }
    return {**design, "claim": claim, "learners": learners, "probes": probes}


def _cell(cell: Mapping[str, Any]) -> Description:
    """Return a point of a grid in first names."""
    problem = dict(cell["problem"])
    problem |= {part: first_names(f"{part}s", problem[part]) for part in ("input", "teacher")}
    found = {**cell, "problem": problem}
    if "variants" in cell:
        found["representation"] = first_names("representations", cell["representation"])
        found["variants"] = [one | {"learner": first_names("learners", one["learner"])} for one in cell["variants"]]
    return found


def present_names(kind: str, name: str, parameter: str) -> tuple[str, str]:
    """Return the present name of a component and of a parameter of it that are given by their first names."""
    for alias in ALIASES:
        if alias.kind == kind and alias.first["name"] == name:
            now = {first: present for present, first in alias.parameters.items()}
            return alias.present["name"], now.get(parameter, parameter)
    return name, parameter
