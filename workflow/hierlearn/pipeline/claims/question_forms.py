"""Questions apart from the designs that answer them, and the fields in which two forms of a question differ.

A design is everything that a registered digest is over. Its question is flat, from a dotted field to a value: place,
kind, rank, rule, limit, side, quantity, rival, and every constant of the problems, representations, learners and probes
that these name. Sizes, seeds, points, caps and the grids of rates, decays and ridges belong to the design alone. What
depends on a size stands there with the coordinates that it depends on.
"""

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hierlearn.core import registry
from hierlearn.core.aliases import design_in_first_names, present_names

# What a claim says of its question in words.
WORDS = ("statement", "regime", "beyond", "proof")
ASKED = ("place", "kind", "rank", "rule", "predicted", "slack", "side")
# Parameters of quantities that list the sizes which a line is fitted to.
FITTED = ("sizes", "values", "above_sizes", "below_sizes")
# Choices whose grid belongs to the design, and parameters of probes and learners that say seeds, points and caps.
GRIDS = ("learning_rate", "learning_rates", "weight_decay", "ridge", "ridges")
AMOUNTS = (
    "points",
    "draws",
    "repeats",
    "test",
    "validation",
    "unlabelled",
    "max_iterations",
    "polish_rounds",
    "max_products",
)
NAMED = "named"
# Where a component stands in a field: the kind of component, by the last word of the place.
PLACES = {"input": "inputs", "teacher": "teachers", "representation": "representations"}
PLACES |= {"learner": "learners", "probe": "probes", "quantity": "quantities", "rival": "quantities"}
NO_DEFAULT = object()

Question = dict[str, Any]


def question(design: Mapping[str, Any]) -> Question:
    """Return the question of a design, flat. design: one of `registration.designs`."""
    design = design_in_first_names(design)
    claim = design["claim"]
    found = {field: claim[field] for field in ASKED if claim.get(field) is not None}
    quantity = _without_sizes(claim["quantity"])
    found |= _flat({"quantity": quantity})
    found |= _rival(claim.get("control"), quantity)
    found |= _of_parts(design, list(selectors(claim)))
    return {field: value for field, value in found.items() if not _is_of_design(field, value)}


def amounts(design: Mapping[str, Any]) -> Question:
    """Return what a design says beside its question, flat: sizes, seeds, points, caps and grids."""
    design = design_in_first_names(design)
    claim = design["claim"]
    found: Question = {"seeds": design["seeds"]}
    described = {"quantity": claim["quantity"], "rival": (claim.get("control") or {}).get("quantity", {})}
    for place, quantity in described.items():
        found |= {f"{place}.{key}": quantity[key] for key in FITTED if quantity.get(key) is not None}
    for section, name, part in _sections(design):
        shared = {key: part[key] for key in ("walk", "points") if key in part}
        sizes = [{key: point[key] for key in ("coordinates", "samples") if key in point} for point in part["grid"]]
        found |= {f"{section}.{name}.shared": shared, f"{section}.{name}.sizes": sizes}
    of_parts = _of_parts(design, ())
    return found | {field: value for field, value in of_parts.items() if varies(value) or _is_of_design(field, value)}


def _sections(design: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """The learners and the probes of a design: section, name, content."""
    for section in ("learners", "probes"):
        for name, part in design[section].items():
            yield section, name, part


def _of_parts(design: Mapping[str, Any], where: Sequence[Mapping[str, Any]]) -> Question:
    """The fields of all learners and probes, of a learner at the places of the selectors."""
    found: Question = {}
    for section, name, part in _sections(design):
        own = {"probe": part["probe"]} if section == "probes" else {}
        found |= _flat({f"{section}.{name}": own | _merged(_cells(part["grid"]), where)})
    return found


def varies(value: Any) -> bool:
    """Return whether a value hangs on coordinates."""
    return isinstance(value, Mapping) and set(value) == {"by", "values"}


def words(design: Mapping[str, Any]) -> dict[str, str]:
    """Return what a design says of its question in words, the name of its rival included."""
    claim = design["claim"]
    said = {field: claim[field] for field in WORDS if claim.get(field)}
    control = claim.get("control") or {}
    return said | {key: control[key] for key in ("rival", "missing") if control.get(key)}


def changes(first: Question, now: Question) -> Iterator[tuple[str, Any, Any]]:
    """Yield (field, first value, present value) of every field of a question that is another one now, None for none.

    No change is a parameter that came later and has its default, a value at a size that only one of the two has, a
    coordinate that is named where it had one value before, and another name of what is equal.
    """
    now = _with_names_of(first, now)
    parts, other_parts = parts_of(first), parts_of(now)
    for part in sorted(parts.keys() ^ other_parts.keys()):
        yield part, *(NAMED if part in known else None for known in (parts, other_parts))
    for field in sorted({*first, *now}):
        before, after = first.get(field), now.get(field)
        if part_of(field) in parts.keys() ^ other_parts.keys():
            continue
        if _same(before, after) or _named_only(field, first, now):
            continue
        if field in first or not is_default(field, after, now):
            yield field, before, after


def part_of(field: str) -> str | None:
    """Return the learner or the probe that a field is of, None for other fields."""
    section, *rest = field.split(".")
    return f"{section}.{rest[0]}" if section in ("learners", "probes") else None


def parts_of(form: Question) -> dict[str, Question]:
    """Return the fields of every learner and probe of a question, by section and name."""
    found: dict[str, Question] = {}
    for field, value in form.items():
        if part := part_of(field):
            found.setdefault(part, {})[field.removeprefix(part)] = value
    return found


def _with_names_of(first: Question, now: Question) -> Question:
    """The present form with the first names of learners and probes that are equal in all but their name."""
    before, after = parts_of(first), parts_of(now)
    known: dict[str, str] = {}
    for part in after.keys() - before.keys():
        for other in before.keys() - after.keys():
            if part.split(".")[0] == other.split(".")[0] and before[other] == after[part]:
                known[part] = other
    if not known:
        return now
    names = {part.partition(".")[2]: other.partition(".")[2] for part, other in known.items()}
    found = {}
    for field, value in now.items():
        part = part_of(field)
        if part in known:
            field = known[part] + field.removeprefix(part)
        elif part is None and isinstance(value, str | list):
            value = [names.get(one, one) for one in value] if isinstance(value, list) else names.get(value, value)
        found[field] = value
    return found


def _is_of_design(field: str, value: Any) -> bool:
    """Whether a field of a probe or a learner says sizes, points, caps or a grid, or nothing at all."""
    section, last = field.partition(".")[0], field.rpartition(".")[2]
    if section not in ("learners", "probes"):
        return False
    numbers = isinstance(value, list) and all(isinstance(part, int | float) for part in value)
    grid = last in GRIDS and (section == "probes" or ".choices." in field)
    return last in AMOUNTS or value == {} or grid or (section == "probes" and numbers)


def _without_sizes(quantity: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in quantity.items() if key not in FITTED}


def _rival(control: Mapping[str, Any] | None, quantity: Mapping[str, Any]) -> Question:
    """What is other in the quantity of the rival, or that there is none yet."""
    if not control:
        return {}
    if "quantity" not in control:
        return {"rival": "missing"}
    own, other = _flat(quantity), _flat(_without_sizes(control["quantity"]))
    differing = {key: other.get(key) for key in sorted({*own, *other}) if own.get(key) != other.get(key)}
    return {f"rival.{key}": value for key, value in differing.items()}


def selectors(content: Any, key: str = "") -> Iterator[Mapping[str, Any]]:
    """Yield the places that a claim and its rival name, each a mapping of coordinates to values."""
    if isinstance(content, Mapping):
        if key == "where" or key.endswith("_where") or key == "other":
            yield content
        for name, part in content.items():
            yield from selectors(part, name)


def cells_of(grid: Iterable[Mapping[str, Any]], where: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the content of every point of a grid that one of the selectors names, of all points where none does."""
    return [content for _, content in _chosen(_cells(grid, ("problem", "representation", "samples")), where)]


def _chosen(cells: Sequence[tuple[dict[str, Any], Any]], where: Sequence[Mapping[str, Any]]) -> list:
    return [cell for cell in cells if any(_meets(cell[0], one) for one in where)] or list(cells)


def _cells(
    grid: Iterable[Mapping[str, Any]], keys: Sequence[str] = ("problem", "representation")
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """The coordinates and the content of every point of a grid, of a learner once per variant."""
    found = []
    for point in grid:
        content = {key: point[key] for key in keys if key in point}
        variants = [(one["coordinates"], one) for one in point.get("variants", ())] or [({}, {})]
        for coordinates, variant in variants:
            own = {key: variant[key] for key in ("learner", "choices") if key in variant}
            found.append((point["coordinates"] | coordinates, content | own))
    return found


def _merged(cells: Sequence[tuple[dict[str, Any], Any]], where: Sequence[Mapping[str, Any]]) -> Question:
    """The content of cells as one: a value where all agree, else {by: coordinates, values: {their values: value}}."""
    chosen = _chosen(cells, where)
    places = [place for place, _ in chosen]
    flat = [_flat(content) for _, content in chosen]
    found = {}
    for field in dict.fromkeys(itertools.chain.from_iterable(flat)):
        values = [one.get(field) for one in flat]
        if all(value == values[0] for value in values):
            found[field] = values[0]
        else:
            found[field] = _by_coordinates(places, values)
    return found


def _meets(place: Mapping[str, Any], where: Mapping[str, Any]) -> bool:
    return all(place[key] == value for key, value in where.items() if key in place and not isinstance(value, list))


def _by_coordinates(places: Sequence[Mapping[str, Any]], values: Sequence[Any]) -> dict[str, Any]:
    """Values by as few coordinates as tell them apart."""
    axes = [axis for axis in places[0] if len({json.dumps(place.get(axis)) for place in places}) > 1]
    for count in range(1, len(axes) + 1):
        for by in itertools.combinations(axes, count):
            keys = [json.dumps([place.get(axis) for axis in by])[1:-1] for place in places]
            found: dict[str, Any] = {}
            if all(found.setdefault(key, value) == value for key, value in zip(keys, values, strict=True)):
                return {"by": list(by), "values": found}
    return {"by": [], "values": {str(index): value for index, value in enumerate(values)}}


def _flat(content: Mapping[str, Any], at: str = "") -> Question:
    """A description as fields with dots; lists and empty mappings are values."""
    found = {}
    for key, value in content.items():
        field = f"{at}.{key}" if at else key
        if isinstance(value, Mapping) and value and not varies(value):
            found |= _flat(value, field)
        else:
            found[field] = value
    return found


def _same(before: Any, after: Any) -> bool:
    """Whether two values are equal at every size that both have."""
    if isinstance(before, Mapping) and isinstance(after, Mapping) and before.get("by") and after.get("by"):
        shared = before["values"].keys() & after["values"].keys()
        if before["by"] != after["by"]:
            return not [value for value in before["values"].values() if value not in after["values"].values()]
        return all(before["values"][key] == after["values"][key] for key in shared)
    for one, other in ((before, after), (after, before)):
        if isinstance(one, Mapping) and one.get("by") and not isinstance(other, Mapping):
            return other in one["values"].values()
    return before == after


def _named_only(field: str, first: Question, now: Question) -> bool:
    """Whether a field names a coordinate that the other form has as its only value."""
    _, named, axis = field.partition(".where.")
    if not named or (field in first) == (field in now):
        return field.endswith(".where") and not (first.get(field) or now.get(field))
    value, other = (first[field], now) if field in first else (now[field], first)
    there = [
        known for key, known in other.items() if key.endswith(f".{axis}") and not key.startswith(("rival", "quant"))
    ]
    return bool(there) and all(_same(known, value) for known in there)


def is_default(field: str, value: Any, form: Question) -> bool:
    """Return whether a value is the default of the parameter that it is of, of a component or of one nested in it."""
    path = field.split(".")
    for end in range(len(path) - 1, 0, -1):
        kind = PLACES.get(path[end - 1])
        if kind:
            return _default(kind, path[:end], path[end:], form) == value
    return False


def _default(kind: str, place: Sequence[str], rest: Sequence[str], form: Question) -> Any:
    """The default of a parameter of the component at a place, `NO_DEFAULT` where it has none. rest: below the place."""
    said = form.get(".".join([*place, "name"])) or (form.get("quantity.name") if place[0] == "rival" else None)
    name, parameter = present_names(kind, said or "", rest[0])
    if name not in registry.available(kind):
        return NO_DEFAULT
    schema = registry.parameters(kind, name).get(parameter, {})
    if len(rest) == 1:
        return schema.get("default", NO_DEFAULT)
    if "component" in schema:
        return _default(schema["component"], [*place, rest[0]], rest[1:], form)
    if "components" in schema and len(rest) > 2:
        return _default(schema["components"], [*place, *rest[:2]], rest[2:], form)
    return NO_DEFAULT
