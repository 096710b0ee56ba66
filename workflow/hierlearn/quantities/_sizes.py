"""The range of sizes that a measurement rests on, in words: d = 10–28."""

from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import Any

from hierlearn.core.protocols import Dataset
from hierlearn.statistics.estimates import Measurement

# The letters of the papers; another axis goes by its name.
LETTERS = {"dimension": "d", "samples": "n", "width": "m", "count": "D", "unlabelled": "n0", "alpha": "α"}


def span(axis: str, values: Any) -> str:
    """An axis with the smallest and the largest of its values, or with all of them if they are words."""
    values = list(dict.fromkeys(values))
    name = LETTERS.get(axis, axis.replace("_", " "))
    if not values:
        return ""
    if not all(isinstance(value, Real) for value in values):
        return f"{name} = {', '.join(map(str, values))}"
    low, high = f"{min(values):g}", f"{max(values):g}"
    return f"{name} = {low}" if low == high else f"{name} = {low}–{high}"


def line_along(axis: str, measured: Measurement) -> Measurement:
    """The measurement of a line with the sizes that it was fitted to."""
    return replace(measured, sizes=span(axis, measured.detail.get("sizes_fitted", ())))


def at_place(measured: Measurement, table: Dataset, where: Mapping[str, Any], samples: Any) -> Measurement:
    """The measurement with the dimension and the sizes that its place has."""
    known = {"dimension": _values(table, "dimension")} | {name: [where[name]] for name in LETTERS if name in where}
    known |= {"samples": [samples]} if samples is not None else {}
    return replace(measured, sizes=", ".join(span(axis, values) for axis, values in known.items() if values))


def over(measured: Measurement, table: Any) -> Measurement:
    """The measurement with the range of the dimension, or else of the width, in a table of its cases."""
    spans = (span(axis, _values(table, axis)) for axis in ("dimension", "width", "samples"))
    return replace(measured, sizes=next((one for one in spans if one), ""))


def _values(table: Any, axis: str) -> list:
    return table[axis].values.reshape(-1).tolist() if axis in table.coords else []
