"""The columns of a table by their names: what the formats of files share."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hierlearn.core.words import nearest, show
from hierlearn.inputs._table_files import UnreadableTable

# Of names and values in a message.
LISTED = 5


@dataclass(frozen=True)
class Part:
    """Raw points (n, d) and labels (n, ...) of one file, numbers or text, with the names of columns and of labels."""

    path: Path
    x: np.ndarray
    y: np.ndarray
    names: tuple[str, ...]
    label: str
    shape: tuple[int, ...] | None = None


def is_number(cell: str) -> bool:
    """Say whether a cell's text is one number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def rows_listed(rows: np.ndarray) -> str:
    """Rows as a message lists them, counted from 1 below the line of names."""
    listed = ", ".join(map(str, rows[:LISTED]))
    more = f" and {len(rows) - LISTED} more" if len(rows) > LISTED else ""
    return f"{'row' if len(rows) == 1 else 'rows'} {listed}{more}"


def places_of(path: Path, key: str, asked: Iterable[str], names: Sequence[str]) -> list[int]:
    """Where columns stand. Raises UnreadableTable for a name that is not there, with the nearest one."""
    places = []
    for name in asked:
        if name not in names:
            raise UnreadableTable(
                f"{path}: {key}: found no column {show(name)}; expected {columns_listed(name, names)}"
            )
        places.append(names.index(name))
    return places


def columns_listed(name: str, names: Sequence[str]) -> str:
    """Return the nearest columns and a few others: a table may have thousands."""
    listed = nearest(name, names)
    if len(names) <= 4 * LISTED:
        return listed
    close = listed.partition("(")[2]
    return f"one of its {len(names)} columns" + (f" ({close}" if close else "")


def chosen(part: Part, columns: Sequence[str] | None) -> Part:
    """Return a part with some of its columns."""
    if columns is None:
        return part
    places = places_of(part.path, "columns", columns, part.names)
    return Part(part.path, part.x[:, places], part.y, tuple(columns), part.label)
