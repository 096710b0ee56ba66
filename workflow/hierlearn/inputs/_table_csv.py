"""Points and labels of a csv, tsv or txt file."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from hierlearn.core.words import reason, show
from hierlearn.inputs._table_columns import Part, is_number, places_of, rows_listed
from hierlearn.inputs._table_files import Source, UnreadableTable

# What stands in a cell without a value.
MISSING = {"", "na", "n/a", "nan", "null", "none", "?"}


def csv_part(source: Source, target: list[str] | None, columns: Sequence[str] | None) -> Part:
    names, rows = _csv_rows(source)
    wanted = target or [names[-1]]
    labels = places_of(source.path, "target", wanted, names)
    others = [i for i in range(len(names)) if i not in labels]
    chosen = others if columns is None else places_of(source.path, "columns", columns, names)
    if both := set(chosen) & set(labels):
        raise UnreadableTable(
            f"{source.path}: columns: found the target {show(names[both.pop()])}; expected other columns"
        )
    if not chosen:
        raise UnreadableTable(f"{source.path}: found no column beside the target; expected one or more")
    if unnamed := [i + 1 for i in (*chosen, *labels) if not names[i]]:
        index = "an index that pandas wrote (index=False leaves it out)"
        raise UnreadableTable(f"{source.path}: found no name for column {unnamed[0]}, {index}; expected a name")
    cells = _Cells(source.path, names, chosen)
    points, answers = [], []
    for number, row in enumerate(rows, 1):
        if len(row) != len(names):
            raise UnreadableTable(
                f"{source.path}: found {len(row)} cells in row {number}; expected {len(names)}, one a name"
            )
        points.append(cells.numbers(number, row))
        answers.append([row[i].strip() for i in labels])
    if not points:
        raise UnreadableTable(f"{source.path}: found no row below the names; expected points")
    y = _csv_labels(source.path, wanted, answers)
    return Part(source.path, np.stack(points), y, tuple(names[i] for i in chosen), ", ".join(wanted))


@dataclass(frozen=True)
class _Cells:
    """Turns the cells of points into numbers."""

    path: Path
    names: Sequence[str]
    chosen: Sequence[int]

    def numbers(self, number: int, row: Sequence[str]) -> np.ndarray:
        """(d,) float64 of a row, NaN where a value is missing. Raises UnreadableTable for text."""
        cells = [row[i] for i in self.chosen]
        try:
            return np.array(cells, np.float64)
        except ValueError:
            return np.array([self._number(number, i, row[i]) for i in self.chosen])

    def _number(self, number: int, place: int, cell: str) -> float:
        if cell.strip().lower() in MISSING:
            return np.nan
        try:
            return float(cell)
        except ValueError:
            at = f"{self.path}: column {self.names[place]}"
            how = "expected numbers; code it as numbers, or leave it out by `columns`"
            raise UnreadableTable(f"{at}: found text, {show(cell)} in row {number}; {how}") from None


def _csv_labels(path: Path, names: Sequence[str], answers: list[list[str]]) -> np.ndarray:
    """Labels as numbers if all are, NaN where one is missing; else as text."""
    for column, name in enumerate(names):
        missing = [i for i, row in enumerate(answers, 1) if row[column].lower() in MISSING]
        if missing:
            found = f"{len(missing)} missing value{'s' * (len(missing) > 1)} in {rows_listed(np.array(missing))}"
            raise UnreadableTable(f"{path}: {name}: found {found}; expected a label in every row")
    single = len(names) == 1
    try:
        return np.array([row[0] for row in answers] if single else answers, np.float64)
    except ValueError:
        if single:
            return np.array([row[0] for row in answers])
        raise UnreadableTable(f"{path}: {', '.join(names)}: found text; expected numbers, or a single column") from None


def _csv_rows(source: Source) -> tuple[list[str], Iterator[list[str]]]:
    """Names of columns and the rows below them; a file whose first line has numbers alone names none."""
    try:
        text = source.content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableTable(f"{source.path}: found no text ({reason(error)}); expected text in UTF-8") from error
    head = text.lstrip().partition("\n")[0]
    if not head:
        raise UnreadableTable(f"{source.path}: found an empty file; expected names of columns and rows below them")
    rows = _lines(source.path, text, max(",;\t", key=head.count))
    first = [cell.strip() for cell in next(rows)]
    if all(map(is_number, first)) and first != [str(i) for i in range(len(first))]:
        return [f"x{i}" for i in range(1, len(first) + 1)], chain([first], rows)
    if again := next((name for i, name in enumerate(first) if name and name in first[:i]), None):
        raise UnreadableTable(f"{source.path}: found two columns {show(again)}; expected names that differ")
    return first, rows


def _lines(path: Path, text: str, delimiter: str) -> Iterator[list[str]]:
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        yield from (line for line in lines if line)
    except csv.Error as error:
        raise UnreadableTable(
            f"{path}: line {lines.line_num}: found {error}; expected cells apart by {delimiter!r}"
        ) from error
