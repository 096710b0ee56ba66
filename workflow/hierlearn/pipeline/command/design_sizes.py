"""What a design holds: its seeds, sizes, points and grids, and what a later one lacks of it.

A later design of a question contains every value of an earlier one, so that no choice of sizes can follow a result.
The designs at `standard` that were registered last are kept in `docs/records/designs.json`, by study.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hierlearn.pipeline.claims.question_forms import AMOUNTS, FITTED, GRIDS
from hierlearn.pipeline.files import texts
from hierlearn.pipeline.files.errors import Fault
from hierlearn.pipeline.plan import registration
from hierlearn.pipeline.plan.study import Study

FILE = "designs.json"
# Of this preset alone designs are nested.
PRESET = "standard"
# A number that only grows, or values to which others are only added.
Holdings = dict[str, int | float | list]


def held(study: Study) -> Holdings:
    """Return what the design of a study holds, by dotted field."""
    found: Holdings = {"seeds": study.seed_count}
    for claim, design in registration.designs(study).items():
        quantity = design["claim"]["quantity"]
        found |= {f"claims.{claim}.quantity.{key}": quantity[key] for key in FITTED if quantity.get(key)}
        for name, learner in design["learners"].items():
            found |= {f"learners.{name}.{key}": value for key, value in _of_learner(learner).items()}
        for name, probe in design["probes"].items():
            found |= {f"probes.{name}.{key}": value for key, value in _of_probe(probe).items()}
    return dict(sorted(found.items()))


def _of_learner(learner: Mapping[str, Any]) -> Holdings:
    """The points, axes, sample sizes and grids of a learner."""
    cells = learner["grid"]
    found: Holdings = {f"points.{key}": value for key, value in learner["points"].items() if isinstance(value, int)}
    found |= _axes(cells)
    found["samples"] = _distinct(size for cell in cells for size in cell["samples"])
    choices = [variant["choices"] for cell in cells for variant in cell["variants"]]
    for key in GRIDS:
        if values := _distinct(value for one in choices for value in one.get(key, ())):
            found[f"grid.{key}"] = values
    return found


def _of_probe(probe: Mapping[str, Any]) -> Holdings:
    """The axes of a probe, its lists of numbers, and its numbers of points and draws."""
    found = _axes(probe["grid"])
    for key, value in probe["probe"].items():
        if isinstance(value, list) and value and all(isinstance(one, int | float) for one in value):
            found[key] = _distinct(value)
        elif key in AMOUNTS and isinstance(value, int | float):
            found[key] = value
    return found


def _axes(cells: Iterable[Mapping[str, Any]]) -> Holdings:
    """The values of every coordinate of some cells."""
    cells = list(cells)
    return {f"axes.{axis}": _distinct(cell["coordinates"][axis] for cell in cells) for axis in cells[0]["coordinates"]}


def _distinct(values: Iterable[Any]) -> list:
    """Every value once, in an order of their own."""
    return sorted(dict.fromkeys(values), key=lambda value: (isinstance(value, str), value))


def lacking(earlier: Holdings, now: Holdings) -> Iterator[tuple[str, str, str]]:
    """Yield (field, what is found, what is expected) for everything that a later design lacks."""
    for field, known in earlier.items():
        value = now.get(field)
        if value is None:
            yield field, "nothing", f"{_told(known)}, which the design registered before has"
        elif isinstance(known, list):
            if lost := [one for one in known if one not in value]:
                yield field, f"no {_told(lost)}", "every value of the design registered before"
        elif value < known:
            yield field, str(value), f"at least {known}, as registered before"


def _told(values: Any) -> str:
    return ", ".join(map(str, values)) if isinstance(values, list) else str(values)


def read(file: Path) -> dict[str, Holdings]:
    """Return the designs of a file by study, none where there is no file."""
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def write(file: Path, designs: Mapping[str, Holdings]) -> None:
    """Write designs by study, a line for every field."""
    blocks = []
    for study, fields in sorted(designs.items()):
        lines = [f"  {json.dumps(field)}: {json.dumps(value, ensure_ascii=False)}" for field, value in fields.items()]
        blocks.append(f" {json.dumps(study)}: {{\n" + ",\n".join(lines) + "\n }")
    texts.put(file, "{\n" + ",\n".join(blocks) + "\n}\n")


def keep(studies: Iterable[Study], folder: Path) -> None:
    """Put the designs of studies in the place of those registered before, where a project keeps them."""
    new = {study.name: held(study) for study in studies if study.preset == PRESET}
    if new and (folder / FILE).is_file():
        write(folder / FILE, read(folder / FILE) | new)


def smaller_designs(study: Study, folder: Path) -> Iterator[Fault]:
    """Yield what the design of a study lacks of the one registered before, claims that are gone apart.

    folder: `docs/records`.
    """
    earlier = read(folder / FILE).get(study.name)
    if earlier is not None and study.preset == PRESET:
        for field, found, allowed in lacking(earlier, held(study)):
            section, name, *_ = (*field.split("."), "")
            if section == "claims" and name not in study.claims:
                continue
            yield Fault(study.file, tuple(field.split(".")), found, f"{allowed}; what must shrink is a new question")
