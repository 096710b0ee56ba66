"""The preset smoke: the quick design of a study with all that takes time made small, by the names of parameters.

Grids, learners, probes, figures and claims stay as they are, so that smoke runs all that quick runs, and every value
that a claim names is there.
"""

from collections.abc import Container, Iterator, Mapping
from typing import Any

from hierlearn.core import registry

SEEDS = 2
# Held-out points, by their purpose.
POINTS = {"validation": 40, "test": 60}
# Where a search for the samples that a learner needs begins and ends; it reaches what claims and figures name.
SEARCH = {"near": 32, "start": 16, "cap": 64}
# The most that a number or a size of a component is, by the parameter's name, said or its default. Lists of values
# stay: claims and figures name them.
CAPS = {
    "width": 10,
    "steps": 20,
    "epochs": 1,
    "samples": 32,
    "validation": 40,
    "test": 60,
    "repeats": 1,
    "draws": 2,
    "points": 1000,
    "ascent": 3,
}
# The same of probes alone: a learner that ends before it converges counts as not trained.
CAPS_OF_PROBES = CAPS | {"max_iterations": 20, "polish_rounds": 0, "max_products": 50}
# The sections of components that are made small, with the key and the kind of theirs.
SECTIONS = (("learners", "learner", "learners"), ("probes", "probe", "probes"))


def smallest(body: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a study at smoke, from its quick one, whose content may be anything."""
    small = dict(body)
    if "seeds" in body:
        small["seeds"] = _capped(body["seeds"], SEEDS)
    if "points" in body:
        small["points"] = _each(body["points"], POINTS)
    named = _named_samples([body.get(key) for key in ("claims", "rivals", "figure")])
    search = SEARCH | {"cap": max([SEARCH["cap"], *named])}
    for section, key, kind in SECTIONS:
        entries = body.get(section)
        if isinstance(entries, dict):
            small[section] = {name: _entry(entry, key, kind, search) for name, entry in entries.items()}
    return small


def _entry(entry: Any, key: str, kind: str, search: Mapping[str, int]) -> Any:
    """A learner or a probe whose component, at `key`, and whose search are small."""
    if not isinstance(entry, dict):
        return entry
    changed = {}
    if key in entry:
        chosen = {name for part in ("select", "sweep") if isinstance(entry.get(part), dict) for name in entry[part]}
        changed[key] = _component(entry[key], kind, chosen)
    if kind == "learners" and "samples" in entry:
        changed["samples"] = _each(entry["samples"], search)
    return entry | changed


def _component(part: Any, kind: str, chosen: Container[str] = ()) -> Any:
    """A component with those that it holds. chosen: parameters that are selected or swept, which have no one value."""
    most = CAPS_OF_PROBES if kind == "probes" else CAPS
    if not isinstance(part, dict) or part.get("name") not in registry.available(kind):
        # Of a component that there is not, what is said alone is known.
        return _each(part, most)
    schemas = registry.parameters(kind, part["name"])
    # No cap is below what the parameter may be at least.
    caps = {key: max(most[key], one.get("minimum", 0)) for key, one in schemas.items() if key in most}
    usual = {key: schemas[key]["default"] for key in caps if key not in chosen and "default" in schemas[key]}
    small = {key: one for key, one in usual.items() if _capped(one, caps[key]) != one} | part
    for key, one in small.items():
        schema = schemas.get(key, {})
        if "component" in schema:
            small[key] = _component(one, schema["component"])
        elif "components" in schema and isinstance(one, dict):
            small[key] = {name: _component(each, schema["components"]) for name, each in one.items()}
        else:
            small[key] = _capped(one, caps.get(key))
    return small


def _each(part: Any, caps: Mapping[str, int]) -> Any:
    return {name: _capped(one, caps.get(name)) for name, one in part.items()} if isinstance(part, dict) else part


def _capped(value: Any, most: int | None) -> Any:
    """A number or a size {coefficient, of, power, most} that is at most so large; anything else as it is."""
    if most is None or isinstance(value, bool):
        return value
    if isinstance(value, dict) and "coefficient" in value:
        own = value.get("most", most)
        return value | {"most": min(own, most)} if isinstance(own, int) else value
    return min(value, most) if isinstance(value, int) else value


def _named_samples(part: Any) -> Iterator[int]:
    """The numbers of samples that some part of a study names."""
    for key, one in part.items() if isinstance(part, dict) else enumerate(part if isinstance(part, list) else []):
        listed = one if isinstance(one, list) else [one]
        yield from (n for n in listed if key == "samples" and isinstance(n, int))
        yield from _named_samples(one)
