"""Tables of a user's own as arrays: points, labels, and the names of columns and classes."""

import csv
import functools
import io
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import prod
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from hierlearn.core.words import nearest, reason, show
from hierlearn.inputs._table_files import FORMATS, Source, UnreadableTable, is_idx, is_npz, paths, read, sha256_of

Kind = Literal["auto", "regression", "classes"]
# Whole numbers with at most so many values are classes, unless the user says otherwise.
MOST_CLASSES = 20
# What stands in a cell without a value.
MISSING = {"", "na", "n/a", "nan", "null", "none", "?"}
# Of names and values in a message.
LISTED = 5
POINTS, LABELS = ("x", "data", "images"), ("y", "target", "labels")
BAD_ARCHIVE = (OSError, ValueError, EOFError, LookupError, AttributeError, TypeError, zipfile.BadZipFile, zlib.error)
IDX = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


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


@dataclass(frozen=True)
class _Part:
    """Raw points (n, d) and labels (n, ...) of one file, numbers or text, with the names of columns and of labels."""

    path: Path
    x: np.ndarray
    y: np.ndarray
    names: tuple[str, ...]
    label: str
    shape: tuple[int, ...] | None = None


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
    return parse([read(path) for path in paths(file, test)], target, columns, shape, kind, test)


def known(
    file: str,
    target: str | Sequence[str] | None,
    columns: Sequence[str] | None,
    shape: Sequence[int] | None,
    kind: Kind,
    test: bool,
) -> Table:
    """Return what `read_table` does, read once for every size and time of change of the files."""
    try:
        found = tuple((path, path.stat().st_size, path.stat().st_mtime_ns) for path in paths(file, test))
    except OSError as error:
        raise UnreadableTable(f"{file}: found no file to read ({reason(error)}); expected {FORMATS}") from error
    lists = (tuple(one) if isinstance(one, list) else one for one in (target, columns, shape))
    return _known(found, *lists, kind, test)


@functools.lru_cache(maxsize=8)
def _known(
    files: tuple[tuple[Path, int, int], ...],
    target: str | Sequence[str] | None,
    columns: Sequence[str] | None,
    shape: Sequence[int] | None,
    kind: Kind,
    test: bool,
) -> Table:
    return parse([read(path) for path, *_ in files], target, columns, shape, kind, test)


def parse(
    sources: list[Source],
    target: str | Sequence[str] | None,
    columns: Sequence[str] | None,
    shape: Sequence[int] | None,
    kind: Kind,
    test: bool,
) -> Table:
    """Return the table of files that were read. Raises UnreadableTable as `read_table`."""
    first = sources[0].path
    wanted = [target] if isinstance(target, str) else None if target is None else list(target)
    if is_idx(first):
        parts = [_idx_part(points, labels) for points, labels in zip(sources[::2], sources[1::2], strict=True)]
    elif is_npz(first):
        parts = _npz_parts(sources[0], wanted, test)
    else:
        parts = [_csv_part(source, wanted, columns) for source in sources]
    if is_idx(first) or is_npz(first):
        parts = [_chosen(part, columns) for part in parts]
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


def _picture(part: _Part, shape: Sequence[int] | None) -> tuple[int, int, int] | None:
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


def _labels(parts: list[_Part], kind: Kind) -> tuple[np.ndarray, tuple[Any, ...]]:
    """Labels as numbers or as places in the sorted classes; classes are those of all parts."""
    at, y = f"{parts[0].path}: {parts[0].label}", np.concatenate([part.y for part in parts])
    text = y.dtype.kind in "US"
    whole = text or y.dtype.kind == "b" or np.array_equal(y, np.round(y))
    if kind == "auto":
        few = y.ndim == 1 and whole and len(np.unique(y)) <= MOST_CLASSES
        kind = "classes" if text or y.dtype.kind == "b" or few else "regression"
    if kind == "regression":
        if text:
            raise UnreadableTable(f"{at}: found text, {show(str(y.flat[0]))} in row 1; expected numbers")
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
    return places.astype(np.int64), tuple(one.item() for one in classes)


def _refuse_missing(part: _Part) -> None:
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
    told = "; ".join(f"{name} in {_rows(rows)}" for name, rows in found[:LISTED])
    more = f"; and {len(found) - LISTED} more columns" if len(found) > LISTED else ""
    count = sum(len(rows) for _, rows in found)
    what = "1 missing or infinite value" if count == 1 else f"{count} missing or infinite values"
    raise UnreadableTable(f"{part.path}: found {what} ({told}{more}); expected a number in every cell")


def _rows(rows: np.ndarray) -> str:
    """Rows as a message lists them, counted from 1 below the line of names."""
    listed = ", ".join(map(str, rows[:LISTED]))
    more = f" and {len(rows) - LISTED} more" if len(rows) > LISTED else ""
    return f"{'row' if len(rows) == 1 else 'rows'} {listed}{more}"


def _places(path: Path, key: str, asked: Iterable[str], names: Sequence[str]) -> list[int]:
    """Where columns stand. Raises UnreadableTable for a name that is not there, with the nearest one."""
    places = []
    for name in asked:
        if name not in names:
            raise UnreadableTable(f"{path}: {key}: found no column {show(name)}; expected {_listed(name, names)}")
        places.append(names.index(name))
    return places


def _listed(name: str, names: Sequence[str]) -> str:
    """Return the nearest columns and a few others: a table may have thousands."""
    listed = nearest(name, names)
    if len(names) <= 4 * LISTED:
        return listed
    close = listed.partition("(")[2]
    return f"one of its {len(names)} columns" + (f" ({close}" if close else "")


def _chosen(part: _Part, columns: Sequence[str] | None) -> _Part:
    """Return a part with some of its columns."""
    if columns is None:
        return part
    places = _places(part.path, "columns", columns, part.names)
    return _Part(part.path, part.x[:, places], part.y, tuple(columns), part.label)


# --- csv ---


def _csv_part(source: Source, target: list[str] | None, columns: Sequence[str] | None) -> _Part:
    names, rows = _csv_rows(source)
    wanted = target or [names[-1]]
    labels = _places(source.path, "target", wanted, names)
    others = [i for i in range(len(names)) if i not in labels]
    chosen = others if columns is None else _places(source.path, "columns", columns, names)
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
    return _Part(source.path, np.stack(points), y, tuple(names[i] for i in chosen), ", ".join(wanted))


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
            found = f"{len(missing)} missing value{'s' * (len(missing) > 1)} in {_rows(np.array(missing))}"
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
    if all(map(_is_number, first)) and first != [str(i) for i in range(len(first))]:
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


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


# --- npz ---


def _npz_parts(source: Source, target: list[str] | None, test: bool) -> list[_Part]:
    arrays = _arrays(source)
    if target is not None and len(target) > 1:
        raise UnreadableTable(f"{source.path}: target: found {len(target)} names; expected one array of an npz file")
    return [_npz_part(source.path, arrays, target, role) for role in (("train", "test") if test else ("train",))]


def _arrays(source: Source) -> dict[str, np.ndarray]:
    try:
        with np.load(io.BytesIO(source.content), allow_pickle=False) as archive:
            names = archive.files
            return {name: archive[name] for name in names}
    except BAD_ARCHIVE as error:
        objects = "pickle" in str(error) and zipfile.is_zipfile(io.BytesIO(source.content))
        text = "arrays of Python objects" if objects else "no archive of arrays"
        raise UnreadableTable(f"{source.path}: found {text}; expected a whole npz file of numbers or text") from error


def _npz_part(path: Path, arrays: dict[str, np.ndarray], target: list[str] | None, role: str) -> _Part:
    endings = [f"_{role}"] if role == "test" else ["", f"_{role}"]
    x = _array(path, arrays, [f"{word}{ending}" for ending in endings for word in POINTS])
    words = LABELS if target is None else target
    label = _array(path, arrays, [f"{word}{ending}" for ending in endings for word in words])
    points, y = arrays[x], arrays[label]
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    if points.dtype.kind not in "biuf" or points.ndim < 2:
        found = f"{x} of type {points.dtype} with {points.ndim} axes"
        raise UnreadableTable(f"{path}: found {found}; expected numbers with two axes or more")
    if y.dtype.kind not in "biufUS" or y.ndim not in (1, 2) or len(y) != len(points) or not len(y):
        found = f"{label} of type {y.dtype} and shape {y.shape} beside {len(points)} points"
        raise UnreadableTable(f"{path}: found {found}; expected a label for each of one or more points")
    width = prod(points.shape[1:])
    names = next((arrays[key] for key in ("feature_names", "columns", "names") if key in arrays), None)
    told = [f"x{i}" for i in range(1, width + 1)] if names is None or names.shape != (width,) else list(map(str, names))
    return _Part(path, points.reshape(len(points), -1), _decoded(y), tuple(told), label, _channels(points.shape[1:]))


def _decoded(y: np.ndarray) -> np.ndarray:
    """Bytes as text."""
    return np.char.decode(y, "utf-8", "replace") if y.dtype.kind == "S" else y


def _array(path: Path, arrays: dict[str, np.ndarray], words: list[str]) -> str:
    """Return the first of some names that an archive has, in small or capital letters."""
    known = {name.lower(): name for name in arrays}
    found = next((known[word.lower()] for word in words if word.lower() in known), None)
    if found is None:
        raise UnreadableTable(f"{path}: found no array {show(words[0])}; expected it among {nearest(words[0], arrays)}")
    return found


def _channels(shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """(channels, height, width) of points (height, width) or with channels first; None for vectors."""
    return None if len(shape) == 1 else (1, *shape) if len(shape) == 2 else shape


# --- idx ---


def _idx_part(points: Source, labels: Source) -> _Part:
    x, y = _idx(points), _idx(labels)
    if x.ndim < 2 or y.ndim != 1 or len(x) != len(y):
        found = f"shapes {x.shape} and, in {labels.path.name}, {y.shape}"
        raise UnreadableTable(f"{points.path}: found {found}; expected as many labels as points")
    width = prod(x.shape[1:])
    names = tuple(f"x{i}" for i in range(1, width + 1))
    return _Part(points.path, x.reshape(len(x), -1), y, names, labels.path.name, _channels(x.shape[1:]))


def _idx(source: Source) -> np.ndarray:
    """Return the array of an idx file: two zeros, type, number of axes, sizes of axes, numbers; high bytes first."""
    content = source.content
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] not in IDX or not content[3]:
        raise UnreadableTable(
            f"{source.path}: found {show(bytes(content[:4]))} at its head; expected that of an idx file"
        )
    axes, kind = content[3], np.dtype(IDX[content[2]])
    head = 4 + 4 * axes
    shape = tuple(int(size) for size in np.frombuffer(content[4:head].ljust(4 * axes, b"\0"), ">u4"))
    expected = head + prod(shape) * kind.itemsize
    if len(content) != expected or not prod(shape):
        told = " x ".join(map(str, shape))
        raise UnreadableTable(f"{source.path}: found {len(content)} bytes; expected {expected}, for {told} numbers")
    return np.frombuffer(content, kind, offset=head).reshape(shape).astype(kind.newbyteorder("="))
