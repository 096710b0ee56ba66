"""Tables of published numbers, and the rows of one at some coordinates."""

from collections.abc import Mapping
from typing import Any

# What a row says beside its coordinates.
ROW_KEYS = ("value", "low", "high", "inferred")


def rows(table: Mapping[str, Any], where: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows at some coordinates; a row that lacks one of them is for all of its values, and is no such row.

    table: coordinates and rows, as in config/published; each row has a `value`, or the ends `low` and `high`.
    """
    return [row for row in table["rows"] if all(axis in row and row[axis] == v for axis, v in where.items())]


def coordinates_in(table: Mapping[str, Any], ours: Mapping[str, Any], where: Mapping[str, Any]) -> dict[str, Any]:
    """Where a measurement at our coordinates `ours` stands in a table: those that it has too, and `where` over them."""
    return {axis: value for axis, value in ours.items() if axis in table["coordinates"]} | dict(where)


def number(table: Mapping[str, Any], where: Mapping[str, Any], lowest: bool = False) -> float:
    """The number at a place, of a range its lower end if `lowest`. Raises ValueError unless one row is there."""
    found = rows(table, where)
    key = "low" if lowest and len(found) == 1 and "low" in found[0] else "value"
    if len(found) != 1 or key not in found[0]:
        ends = " without a value" if len(found) == 1 else "s"
        raise ValueError(f"{table['place']}: {len(found)} row{ends} at {dict(where)}; expected one with a value")
    return float(found[0][key])
