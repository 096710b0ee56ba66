"""Questions apart from the designs that answer them, and the fields in which two forms of a question differ.

A design is everything that a registered digest is over. Its question is flat, from a dotted field to a value: place,
kind, rank, rule, limit, side, quantity, rival, and every constant of the problems, representations, learners and probes
that these name. Sizes, seeds, points, caps and the grids of rates, decays and ridges belong to the design alone. What
depends on a size stands there with the coordinates that it depends on.
"""

import csv
import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hierlearn.core import provenance, registry
from hierlearn.core.words import show
from hierlearn.plan import checking, registration
from hierlearn.plan.faults import Fault
from hierlearn.plan.study import Study

FILE, CHANGED, CONTRACT = "first_questions.json", "changed_questions.csv", "contract-3.csv"

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
ASKED_HERE = "asked"
# Parameters that a component had once, with the value that says what it does without them.
GONE = {("quantities", "slope_change", "regressor"): "dimension"}
# Where a component stands in a field: the kind of component, by the last word of the place.
PLACES = {"input": "inputs", "teacher": "teachers", "representation": "representations"}
PLACES |= {"learner": "learners", "probe": "probes", "quantity": "quantities"}

Question = dict[str, Any]


def question(design: Mapping[str, Any]) -> Question:
    """Return the question of a design, flat. design: one of `registration.designs`."""
    claim = design["claim"]
    found = {field: claim[field] for field in ASKED if claim.get(field) is not None}
    quantity = _without_sizes(claim["quantity"])
    found |= _flat({"quantity": quantity})
    found |= _rival(claim.get("control"), quantity)
    selectors = list(_selectors(claim))
    for name, learner in design["learners"].items():
        found |= _flat({f"learners.{name}": _merged(_cells(learner["grid"]), selectors)})
    for name, probe in design["probes"].items():
        cells = [(point["coordinates"], {"problem": point["problem"]}) for point in probe["grid"]]
        found |= _flat({f"probes.{name}": {"probe": probe["probe"]} | _merged(cells, selectors)})
    return {field: value for field, value in found.items() if not _is_of_design(field, value)}


def words(design: Mapping[str, Any]) -> dict[str, str]:
    """Return what a design says of its question in words, the name of its rival included."""
    claim = design["claim"]
    said = {field: claim[field] for field in WORDS if claim.get(field)}
    control = claim.get("control") or {}
    return said | {key: control[key] for key in ("rival", "missing") if control.get(key)}


def write(file: Path, records: Mapping[str, Mapping[str, Any]]) -> None:
    """Write records of questions by claim, a line each. Learners and probes that are equal stand once, as `parts`."""
    shared: dict[str, Question] = {}
    lines: list[str] = []
    for claim, record in records.items():
        form = record["question"]
        own = {field: value for field, value in form.items() if _part_of(field) is None}
        keys = {}
        for name, fields in _parts(form).items():
            key = hashlib.sha256(provenance.canonical(fields).encode()).hexdigest()[:8]
            shared[key], keys[name] = fields, key
        lines.append(f" {json.dumps(claim)}: {_line(dict(record) | {'question': own, 'parts': keys})}")
    of_parts = [f" {json.dumps(key)}: {_line(shared[key])}" for key in sorted(shared)]
    questions, parts = (",\n".join(block) for block in (lines, of_parts))
    file.write_text(f'{{"questions": {{\n{questions}\n}},\n"parts": {{\n{parts}\n}}}}\n', encoding="utf-8")


def read(file: Path) -> dict[str, dict[str, Any]]:
    """Return the records of a file that `write` wrote, by claim."""
    content = json.loads(file.read_text(encoding="utf-8"))
    records = {}
    for claim, record in content["questions"].items():
        parts = record.pop("parts")
        for name, key in parts.items():
            record["question"] |= {name + field: value for field, value in content["parts"][key].items()}
        records[claim] = record
    return records


def _line(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False)


def changed(records: Mapping[str, Mapping[str, Any]], studies: Path) -> Iterator[tuple[str, str, Any, Any]]:
    """Yield (claim, field, first value, present value) of every change since the first form. studies: their folder.

    A claim that no study has any more differs in the field `question`. Raises ValueError where a study has faults.
    """
    present: dict[tuple[str, str], dict[str, Any]] = {}
    for claim, record in records.items():
        place = record["study"], record["preset"]
        if place not in present:
            present[place] = registration.designs(checking.load_study(studies / f"{place[0]}.yaml", place[1]))
        if claim not in present[place]:
            yield claim, "question", ASKED_HERE, None
            continue
        for field, first, now in changes(record["question"], question(present[place][claim])):
            yield claim, field, first, now


def exceptions(folder: Path) -> set[tuple[str, str]]:
    """Return the (claim, field) that may differ from the first form: changed before, or an identity that is a check now.

    folder: `docs/records`.
    """
    tables = []
    for name in (CHANGED, CONTRACT):
        with open(folder / name, newline="", encoding="utf-8") as stream:
            tables.append(list(csv.DictReader(stream)))
    changed, contract = tables
    checks = {(row["row"], "kind") for row in contract if row["change"] == "check"}
    return {(row["row"], row["field"]) for row in changed} | checks


def other_questions(study: Study, folder: Path) -> Iterator[Fault]:
    """Yield the fields in which claims differ from their first form, the `exceptions` apart.

    folder: `docs/records`. A question whose first form is of another preset, or that has none yet, has no fault.
    """
    if not (folder / FILE).is_file():
        return
    listed = exceptions(folder)
    present = registration.designs(study)
    for claim, record in read(folder / FILE).items():
        if (record["study"], record["preset"]) != (study.name, study.preset) or claim not in present:
            continue
        for field, first, now in changes(record["question"], question(present[claim])):
            if (claim, field) not in listed:
                allowed = f"{show(first)}, as first registered on {record['date']}, or a claim with a new name"
                yield Fault(study.file, ("claims", claim, *field.split(".")), show(now), allowed)


def changes(first: Question, now: Question) -> Iterator[tuple[str, Any, Any]]:
    """Yield (field, first value, present value) of every field of a question that is another one now, None for none.

    No change is a parameter that came later and has its default, a value at a size that only one of the two has, a
    coordinate that is named where it had one value before, and another name of what is equal.
    """
    now = _with_names_of(first, now)
    parts, other_parts = _parts(first), _parts(now)
    for part in sorted(parts.keys() ^ other_parts.keys()):
        yield part, *(NAMED if part in known else None for known in (parts, other_parts))
    for field in sorted({*first, *now}):
        before, after = first.get(field), now.get(field)
        if _part_of(field) in parts.keys() ^ other_parts.keys():
            continue
        if _same(before, after) or _named_only(field, first, now):
            continue
        came_later = field not in first and _is_default(field, after, now)
        if not came_later and (field in now or not _is_gone(field, before, first)):
            yield field, before, after


def _part_of(field: str) -> str | None:
    """The learner or the probe that a field is of."""
    section, *rest = field.split(".")
    return f"{section}.{rest[0]}" if section in ("learners", "probes") else None


def _parts(form: Question) -> dict[str, Question]:
    """The fields of every learner and probe of a question."""
    found: dict[str, Question] = {}
    for field, value in form.items():
        if part := _part_of(field):
            found.setdefault(part, {})[field.removeprefix(part)] = value
    return found


def _with_names_of(first: Question, now: Question) -> Question:
    """The present form with the first names of learners and probes that are equal in all but their name."""
    before, after = _parts(first), _parts(now)
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
        part = _part_of(field)
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
    return last in AMOUNTS or value == {} or (section == "probes" and (numbers or last in GRIDS))


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


def _selectors(content: Any, key: str = "") -> Iterator[Mapping[str, Any]]:
    """The places that a claim and its rival name, each a mapping of coordinates to values."""
    if isinstance(content, Mapping):
        if key == "where" or key.endswith("_where") or key == "other":
            yield content
        for name, part in content.items():
            yield from _selectors(part, name)


def _cells(grid: Iterable[Mapping[str, Any]]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """The coordinates and the content of every point at which a learner runs, once per variant."""
    found = []
    for point in grid:
        for variant in point["variants"]:
            choices = {key: value for key, value in variant["choices"].items() if key not in GRIDS}
            content = {key: point[key] for key in ("problem", "representation")}
            content |= {"learner": variant["learner"], "choices": choices}
            found.append((point["coordinates"] | variant["coordinates"], content))
    return found


def _merged(cells: Sequence[tuple[dict[str, Any], Any]], selectors: Sequence[Mapping[str, Any]]) -> Question:
    """The content of cells as one: a value where all agree, else {by: coordinates, values: {their values: value}}."""
    chosen = [cell for cell in cells if any(_meets(cell[0], where) for where in selectors)] or list(cells)
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
        if isinstance(value, Mapping) and value and set(value) != {"by", "values"}:
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


def _is_gone(field: str, value: Any, form: Question) -> bool:
    """Whether a value says what a component does now that has no such parameter any more."""
    place, _, parameter = field.rpartition(".")
    kind = PLACES.get(place.rpartition(".")[2])
    return value == GONE.get((kind, form.get(f"{place}.name"), parameter), ())


def _is_default(field: str, value: Any, form: Question) -> bool:
    """Whether a value is the default of the parameter that it is of, of a component or of one nested in it."""
    path = field.split(".")
    for end in range(len(path) - 1, 0, -1):
        place, rest = path[:end], path[end:]
        kind = PLACES.get(place[-1]) or ("quantities" if place[-1] == "rival" else None)
        name = form.get(".".join([*place, "name"])) if kind else None
        if kind and name in registry.available(kind):
            default: Any = registry.defaults(kind, name)
            for key in rest:
                default = default.get(key) if isinstance(default, Mapping) else None
            return default == value
    return False
