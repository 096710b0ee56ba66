"""Tables of a user's own as arrays: points, labels, and the names of columns and classes."""

import functools
from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from hierlearn.core.words import reason, show
from hierlearn.inputs._table_arrays import idx_part, npz_parts
from hierlearn.inputs._table_columns import LISTED, Part, chosen, is_number, rows_listed
from hierlearn.inputs._table_csv import csv_part
from hierlearn.inputs._table_files import FORMATS, Source, UnreadableTable, is_idx, is_npz, paths, read, sha256_of

Kind = Literal["auto", "regression", "classes"]
# Whole numbers with at most so many values are classes, unless the user says otherwise.
MOST_CLASSES = 20


class Table(NamedTuple):
    """Points and labels of a file.

    x (n, d) float32 where it holds the file's numbers, else float64; y: numbers (n,) or (n, k) float64, or (n,) int64
    places in `classes`; names of the columns of x; classes in order, () for numbers; shape of a picture (channels,
    height, width), None for none; test: how many rows at the end are the file's own test points; sha256 of the
    unpacked content.
    """

    x: np.ndarray
    y: np.ndarray
    names: tuple[str, ...]
    classes: tuple[Any, ...]
    shape: tuple[int, int, int] | None
    test: int
    sha256: str

    def __hash__(self) -> int:
        """Known by itself, as arrays have no hash: what is made of it can be remembered."""
        return id(self)

    def constant(self) -> list[str]:
        """Return the names of columns that have one value in all rows."""
        return [name for name, column in zip(self.names, self.x.T, strict=True) if np.all(column == column[0])]


class Selection(NamedTuple):
    """What of a file is points and labels, in the words of `read_table`."""

    target: str | Sequence[str] | None = None
    columns: Sequence[str] | None = None
    shape: Sequence[int] | None = None
    kind: Kind = "auto"
    test: bool = False


def read_table(
    file: str | Path,
    target: str | Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    shape: Sequence[int] | None = None,
    kind: Kind = "auto",
    test: bool = False,
) -> Table:
    """Read points and labels of a csv, npz or idx file, packed by gzip or not.

    Parameters
    ----------
    file : str or path
        A csv, tsv or txt file whose first line names the columns (without one they are x1, x2, ...); an npz file with
        arrays X and y, or x_train and y_train; an idx file of pictures, with its labels beside it; a folder with such
        idx files; or "fashion-mnist", as Debian's package dataset-fashion-mnist has it.
    target : str or sequence of str, optional
        Column of the labels, by default the last one, or several of numbers; of npz the name of an array.
    columns : sequence of str, optional
        Columns that are the points, by default all others.
    shape : sequence of 3 int, optional
        (channels, height, width) of a picture, where rows are pictures and the file does not say so.
    kind : {"auto", "regression", "classes"}, default="auto"
        What the labels are. "auto": classes if they are text or at most 20 different whole numbers.
    test : bool, default=False
        Whether the file's own test points follow at the end: of `mine.test.csv` beside `mine.csv`, of arrays X_test and
        y_test, of the idx files called t10k or test.

    Returns
    -------
    Table
        x, y, names, classes, shape, test and sha256. Raises UnreadableTable, a ValueError of one line that names the
        file, for what is absent, cut, text in the place of numbers, missing, or of a single class.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from hierlearn.datasets import read_table
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "mine.csv"
    >>> _ = file.write_text("age,size,price\\n1,2.5,3.5\\n2,0.5,1.25\\n")
    >>> table = read_table(file, target="price")
    >>> table.x.shape, table.y, table.names
    ((2, 2), array([3.5 , 1.25]), ('age', 'size'))
    """
    selection = Selection(target, columns, shape, kind, test)
    return _parsed([read(path) for path in paths(file, test)], selection)


def known(file: str, selection: Selection) -> Table:
    """Return what `read_table` does, read once for every size and time of change of the files."""
    try:
        files = tuple((path, path.stat().st_size, path.stat().st_mtime_ns) for path in paths(file, selection.test))
    except OSError as error:
        raise UnreadableTable(f"{file}: found no file to read ({reason(error)}); expected {FORMATS}") from error
    # Lists of a study have no hash.
    fixed: tuple[Any, ...] = tuple(tuple(part) if isinstance(part, list) else part for part in selection)
    return _known(files, Selection(*fixed))


@functools.lru_cache(maxsize=8)
def _known(files: tuple[tuple[Path, int, int], ...], selection: Selection) -> Table:
    return _parsed([read(path) for path, *_ in files], selection)


def _parsed(sources: list[Source], selection: Selection) -> Table:
    """Return the table of files that were read. Raises UnreadableTable as `read_table`."""
    target, columns, shape, kind, test = selection
    first = sources[0].path
    wanted = [target] if isinstance(target, str) else None if target is None else list(target)
    if is_idx(first):
        parts = [idx_part(points, labels) for points, labels in zip(sources[::2], sources[1::2], strict=True)]
    elif is_npz(first):
        parts = npz_parts(sources[0], wanted, test)
    else:
        parts = [csv_part(source, wanted, columns) for source in sources]
    if is_idx(first) or is_npz(first):
        parts = [chosen(part, columns) for part in parts]
    for part in parts:
        _refuse_missing(part)
        if part.names != parts[0].names:
            found = f"{len(part.names)} columns ({', '.join(part.names[:LISTED])}, ...)"
            raise UnreadableTable(
                f"{part.path}: found {found}; expected the {len(parts[0].names)} of the training points"
            )
    x = np.concatenate([_numbers(part.x) for part in parts])
    y, classes = _labels(parts, kind)
    rows = len(parts[1].x) if test else 0
    return Table(x, y, parts[0].names, classes, _picture(parts[0], shape), rows, sha256_of(sources))


def _numbers(x: np.ndarray) -> np.ndarray:
    """Points as float32 if that holds every value of their type, else as float64."""
    return x.astype(np.float32 if np.can_cast(x.dtype, np.float32) else np.float64)


def _picture(part: Part, shape: Sequence[int] | None) -> tuple[int, int, int] | None:
    """Return the shape of a picture as the user or the file says it."""
    found = shape if shape is not None else part.shape
    if found is None:
        return None
    if len(found) != 3 or prod(found) != part.x.shape[1]:
        product = " x ".join(map(str, found))
        have = f"{part.x.shape[1]}, the number of columns"
        raise UnreadableTable(
            f"{part.path}: shape: found {product} = {prod(found)}; expected 3 numbers with product {have}"
        )
    return found[0], found[1], found[2]


def _labels(parts: list[Part], kind: Kind) -> tuple[np.ndarray, tuple[Any, ...]]:
    """Labels as numbers or as places in the sorted classes; classes are those of all parts."""
    at, y = f"{parts[0].path}: {parts[0].label}", np.concatenate([part.y for part in parts])
    text = y.dtype.kind in "US"
    whole = text or y.dtype.kind == "b" or np.array_equal(y, np.round(y))
    if kind == "auto":
        few = y.ndim == 1 and whole and len(np.unique(y)) <= MOST_CLASSES
        if text:
            _refuse_text_among_numbers(at, y)
        kind = "classes" if text or y.dtype.kind == "b" or few else "regression"
    if kind == "regression":
        if text:
            row = next(i for i, label in enumerate(y.tolist()) if not is_number(label))
            raise UnreadableTable(f"{at}: found text, {show(str(y[row]))} in row {row + 1}; expected numbers")
        values = y.astype(np.float64)
        if np.all(values == values[:1]):
            raise UnreadableTable(f"{at}: found {values.flat[0]:g} in all {len(y)} rows; expected different values")
        return values, ()
    if y.ndim > 1:
        raise UnreadableTable(f"{at}: found {y.shape[1]} columns; expected one column of classes")
    if not whole:
        raise UnreadableTable(f"{at}: found {y[y != np.round(y)][0]:g}; expected classes, text or whole numbers")
    classes, places = np.unique(y if text else y.astype(np.int64), return_inverse=True)
    if len(classes) < 2:
        raise UnreadableTable(
            f"{at}: found one class, {show(classes[0].item())}, in all {len(y)} rows; expected two or more"
        )
    return places.astype(np.int64), tuple(class_.item() for class_ in classes)


def _refuse_text_among_numbers(at: str, y: np.ndarray) -> None:
    """Raise UnreadableTable for numbers too many to be classes with text among them, such as a unit or a slip."""
    numbers = np.array([is_number(label) for label in y.tolist()])
    if not numbers.all() and len(np.unique(y[numbers])) > MOST_CLASSES:
        rows = np.flatnonzero(~numbers)
        found = f"text, {show(str(y[rows[0]]))}, in {rows_listed(rows + 1)}, and numbers in the others"
        raise UnreadableTable(f"{at}: found {found}; expected numbers alone, or kind: classes")


def _refuse_missing(part: Part) -> None:
    """Raise UnreadableTable for values that are not there, or not finite, naming rows and columns."""
    found = []
    for names, values in ((part.names, part.x), ((part.label,), part.y)):
        if values.dtype.kind != "f" or np.isfinite(values).all():
            continue
        bad = ~np.isfinite(values if values.ndim == 2 else values[:, None])
        columns = [int(column) for column in np.flatnonzero(bad.any(axis=0))]
        found += [(names[min(i, len(names) - 1)], np.flatnonzero(bad[:, i]) + 1) for i in columns]
    if not found:
        return
    told = "; ".join(f"{name} in {rows_listed(rows)}" for name, rows in found[:LISTED])
    more = f"; and {len(found) - LISTED} more columns" if len(found) > LISTED else ""
    count = sum(len(rows) for _, rows in found)
    what = "1 missing or infinite value" if count == 1 else f"{count} missing or infinite values"
    raise UnreadableTable(f"{part.path}: found {what} ({told}{more}); expected a number in every cell")
