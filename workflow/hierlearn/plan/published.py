"""Reads and checks the published numbers of a paper: config/published/<paper>.yaml."""

import functools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hierlearn.files.published import ROW_KEYS
from hierlearn.plan import faults as at_fault
from hierlearn.plan import papers
from hierlearn.plan.faults import Broken, Fault, nearest, show
from hierlearn.plan.load import load
from hierlearn.plan.violations import schema_faults


def file_of(paper: str, folder: Path) -> Path:
    """Where a paper's numbers lie: beside the studies of a folder, or of another that the run knows."""
    places = [one / "published" / f"{paper}.yaml" for one in (folder, *papers.folders_of_a_run())]
    return next((place for place in places if place.exists()), places[0])


def tables(file: Path, name: str) -> tuple[dict[str, Any] | None, list[Fault]]:
    """The tables of a paper by name, none where it has no file, and the faults of the file; None where it has any.

    name: what messages call the file.
    """
    if not file.exists():
        return {}, []
    state = file.stat()
    return _tables(file, name, (state.st_mtime_ns, state.st_size))


@functools.cache
def _tables(file: Path, name: str, state: tuple[int, int]) -> tuple[dict[str, Any] | None, list[Fault]]:
    """The same at a state of the file: every study of a paper asks for it."""
    content, faults = load(file, name)
    if faults:
        return None, faults
    broken = Broken()
    faults = list(schema_faults(name, content, papers.schema_of("published"), broken=broken))
    if not broken.over("paper") and content["paper"] != file.stem:
        faults.append(Fault(name, ("paper",), show(content["paper"]), f"{file.stem}, after which the file is called"))
    for key, table in content["tables"].items() if isinstance(content.get("tables"), dict) else ():
        if not broken.hit("tables", key):
            faults += [Fault(name, *fault) for fault in _rows(("tables", key, "rows"), table)]
    return (None if faults else content["tables"]), sorted(set(faults))


def _rows(at: at_fault.Path, table: Mapping[str, Any]) -> Iterator[tuple[at_fault.Path, str, str]]:
    """What a schema cannot see: coordinates that the table does not have, ranges upside down, places named twice."""
    seen: dict[str, int] = {}
    for i, row in enumerate(table["rows"]):
        for key in row:
            if key not in table["coordinates"] and key not in ROW_KEYS:
                yield (*at, i, key), "an unknown coordinate", nearest(key, [*table["coordinates"], *ROW_KEYS])
        here = {axis: row[axis] for axis in table["coordinates"] if axis in row}
        for j, axis in enumerate(row.get("inferred", [])):
            if axis not in here:
                yield (*at, i, "inferred", j), show(axis), nearest(axis, here)
        if "low" in row and row["low"] > row["high"]:
            yield (*at, i), f"low {row['low']} above high {row['high']}", "low <= high"
        first = seen.setdefault(repr(here), i)
        if first != i:
            yield (*at, i), f"the coordinates of rows[{first}] again", "every place once"
