"""Rows of a file of your own: a table, or pictures."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import MinLen

from hierlearn.core.parameters import EXECUTION, UNIQUE, Share
from hierlearn.core.protocols import Objection
from hierlearn.core.streams import Streams
from hierlearn.core.words import show
from hierlearn.inputs import _tables
from hierlearn.inputs._finite import Finite, part_of, passes
from hierlearn.inputs._table_files import UnreadableTable

# Rows that a split needs: a training, a validation and a test point at least, and one more to learn from.
FEWEST = 4
# Of a class: one in each part.
RAREST = 3
PARTS = ("training", "validation")
# Of columns in a message.
LISTED = 5


@dataclass(frozen=True, kw_only=True)
class Table(Finite):
    """Rows of a csv, npz or idx file, packed as gz or not, with a label each.

    Every seed is another split of the same rows into training, validation and test points, so that intervals over seeds
    are of splits. The file's SHA-256 is part of the design: a study runs again if a cell of its file changes.
    """

    file: Annotated[
        str,
        EXECUTION,
        "csv, npz or idx file, or folder with idx files, from where the run starts; fashion-mnist: Debian's.",
    ] = "data/table.csv"
    target: Annotated[
        str | list[str] | None, "Column of the labels, or several of numbers; null: the last one, of npz the array y."
    ] = None
    columns: Annotated[list[str] | None, MinLen(1), UNIQUE, "Columns that are the point; null: all others."] = None
    kind: Annotated[
        Literal["auto", "regression", "classes"],
        "What the labels are; auto: classes if they are text or at most 20 different whole numbers.",
    ] = "auto"
    shape: Annotated[
        list[int] | None, "Channels, height and width, where rows are pictures; null: as the file says, if it does."
    ] = None
    test: Annotated[
        Literal["share", "file"],
        "Test points: a share of the rows, or the file's own, as mine.test.csv beside mine.csv, X_test or t10k.",
    ] = "share"
    share: Annotated[Share, "Share of the rows that are test points."] = 0.25
    validation: Annotated[Share, "Share of the other rows that are validation points."] = 0.2
    standardise: Annotated[
        bool, "Whether every column, of pictures every channel, has mean 0 and variance 1 over the rows."
    ] = True
    sha256: Annotated[str, "SHA-256 of the unpacked content; if it is left out, that of the file as it is."] = ""
    law = stream_key = "table"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.shape is not None:
            object.__setattr__(self, "shape", tuple(self.shape))

    def completed(self, inputs: Any = None) -> Mapping[str, Any]:
        """Return checksum and shape of the file; of one whose checksum is stated nothing is asked."""
        if self.sha256:
            return {}
        try:
            found = _read(self)
        except UnreadableTable:
            return {}
        return {"sha256": found.sha256, "shape": found.shape and list(found.shape)}

    def missing_inputs(self) -> Iterator[Objection]:
        """Report a file that is not there, or that cannot be used; another one than the study states."""
        try:
            _checked(self)
        except UnreadableTable as error:
            yield error.objection

    def validate(self, inputs: Any) -> Iterator[Objection]:
        """Object to another dimension than the file has."""
        found = _known(self)
        if found is not None and inputs.dimension != len(found.names):
            yield "dimension", f"{inputs.dimension}", f"{len(found.names)}, the number of columns of {self.file}"
        if self.shape is not None and (len(self.shape) != 3 or prod(self.shape) != inputs.dimension):
            yield "shape", show(self.shape), f"3 numbers whose product is the dimension, {inputs.dimension}"

    def warnings(self, inputs: Any) -> Iterator[Objection]:
        """Warn of columns of one value, and of classes too rare to be in every part."""
        found = _known(self)
        if found is not None and found.shape is None and (constant := found.constant()):
            more = f" and {len(constant) - LISTED} more" if len(constant) > LISTED else ""
            columns = f"one value in all rows of {', '.join(constant[:LISTED])}{more}"
            yield "columns", columns, "columns that say something; name them"
        if found is not None and found.classes:
            counts = np.bincount(found.y, minlength=len(found.classes))
            for place in np.flatnonzero(counts < RAREST)[:1]:
                rows = f"{counts[place]} row{'s' if counts[place] > 1 else ''} of class {show(found.classes[place])}"
                yield "target", rows, f"{RAREST} or more of each class, one to train on, to choose by and to test"

    def finite(self) -> Mapping[str, int]:
        """Return columns and held-out rows of the file. Raises UnreadableTable."""
        found = _checked(self)
        if len(found.names) < 2:
            raise UnreadableTable(f"{self.file}: found one column of points; expected two or more")
        return {"dimension": len(found.names), **_parts(self, found)}

    def supply(self) -> Mapping[str, int]:
        """Return how many rows each role has; nothing for a file that cannot be read."""
        found = _known(self)
        return {} if found is None else _parts(self, found)

    def rows(self, streams: Streams, role: str, start: int, count: int) -> np.ndarray:
        found = _checked(self)
        parts = _parts(self, found)
        if self.test == "file" and role == "test":
            own = np.tile(np.arange(len(found.x) - found.test, len(found.x)), (len(streams.seeds), 1))
        elif self.test == "file":
            own = part_of(streams, role, {name: parts[name] for name in PARTS})
        else:
            own = part_of(streams, role, parts)
        return passes(streams, own, start, count)

    def overlap(self) -> float:
        """Return 0 where test points are the file's own, of every seed."""
        return 0.0 if self.test == "file" else super().overlap()

    def of_rows(self, rows: np.ndarray) -> np.ndarray:
        return _points(_checked(self), self.standardise)[rows]

    def labels(self) -> np.ndarray:
        """Return all labels: classes (N,), or numbers (N, k) float64, mean 0 over rows but the file's test points."""
        found = _checked(self)
        if found.classes:
            return found.y
        y = found.y.reshape(len(found.y), -1)
        return y - y[: len(y) - found.test].mean(axis=0)

    def number_of_classes(self) -> int:
        return len(_checked(self).classes)


def _parts(asked: Any, found: _tables.Table) -> dict[str, int]:
    """How many rows each role has."""
    count = len(found.x)
    test = found.test if asked.test == "file" else max(round(asked.share * count), 1)
    validation = max(round(asked.validation * (count - test)), 1)
    return {"training": count - test - validation, "validation": validation, "test": test}


def _read(asked: Any) -> _tables.Table:
    """Return the file of a description. Raises UnreadableTable, also for fewer rows than a split needs."""
    selection = _tables.Selection(asked.target, asked.columns, asked.shape, asked.kind, asked.test == "file")
    found = _tables.known(asked.file, selection)
    if len(found.x) - found.test < FEWEST:
        few = f"{len(found.x) - found.test} rows"
        raise UnreadableTable(f"{asked.file}: found {few}; expected {FEWEST} or more, to split them")
    if _is_flat(found):
        raise UnreadableTable(f"{asked.file}: found one value in all rows of every column; expected two in some column")
    return found


@lru_cache(maxsize=2)
def _is_flat(table: _tables.Table) -> bool:
    """Say whether all rows are one point."""
    return bool(np.all(table.x == table.x[0]))


def _checked(asked: Any) -> _tables.Table:
    """Return the file of a description, if it is the one whose checksum it states. Raises UnreadableTable."""
    found = _read(asked)
    if asked.sha256 and found.sha256 != asked.sha256:
        wanted = f"{asked.sha256}, that of the study as it was planned: restore the file, or run again"
        raise UnreadableTable(f"{asked.file}: found other content, SHA-256 {found.sha256}; expected {wanted}")
    return found


def _known(asked: Any) -> _tables.Table | None:
    """Return the file of a description, None where it cannot be used, of which `missing_inputs` tells."""
    try:
        return _checked(asked)
    except UnreadableTable:
        return None


@lru_cache(maxsize=2)
def _points(table: _tables.Table, standardise: bool) -> np.ndarray:
    """All rows as points (N, d) float32."""
    x = table.x
    if not standardise:
        return x.astype(np.float32)
    known = x[: len(x) - table.test].astype(np.float64)
    if table.shape is not None:
        # Pixels alike: an edge that is nearly always dark would be blown up.
        known = known.reshape(len(known), table.shape[0], -1).transpose(0, 2, 1).reshape(-1, table.shape[0])
    # A column of one value becomes zero, to the last bit.
    low, constant = known.min(axis=0), known.min(axis=0) == known.max(axis=0)
    mean = np.where(constant, low, known.mean(axis=0))
    deviation = np.where(constant, 1.0, known.std(axis=0))
    if table.shape is not None:
        mean, deviation = (np.repeat(one, prod(table.shape[1:])) for one in (mean, deviation))
    return ((x - mean) / deviation).astype(np.float32)
