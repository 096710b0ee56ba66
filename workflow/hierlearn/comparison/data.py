"""What may be compared on: rows of finite numbers with labels, refused in one line where they are something else."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hierlearn.core.words import nearest, show

# Whole numbers of at most so many different values are taken for classes.
MOST_CLASSES = 20
KINDS = ("auto", "classes", "regression")


@dataclass(frozen=True)
class Data:
    """Rows and labels.

    x: (N, d) float64. y: (N,) classes of any type, or (N, k) float64. test: rows of their own on which errors are
    measured, None where a share of the others is. constant: names of columns that have one value.
    """

    x: np.ndarray
    y: np.ndarray
    classes: bool
    columns: list[str]
    constant: list[str]
    test: "Data | None" = None

    @property
    def labels(self) -> np.ndarray:
        """The labels as estimators take them: one column is flat."""
        return self.y if self.classes or self.y.shape[1] > 1 else self.y[:, 0]


def check(X: Any, y: Any, kind: str = "auto", test: Any = None, names: Sequence[str] = ()) -> Data:
    """Return checked rows and labels. Raises ValueError, one line, that names rows and columns.

    X: (N, d) numbers, as array or as a table with `columns`. y: (N,) or, for numbers, (N, k). test: a pair of these.
    names: of the columns, where X has none.
    """
    if kind not in KINDS:
        raise ValueError(f"kind: found {show(kind)}; expected {nearest(kind, KINDS)}")
    columns = list(names) or names_of(X)
    x = _numbers(X, "X", columns)
    if x.ndim != 2 or not x.shape[1]:
        raise ValueError(f"X: found shape {x.shape}; expected rows and columns")
    columns = columns or [f"column {i}" for i in range(x.shape[1])]
    _refuse_missing(x, "X", columns)
    labels, classes = _labels(y, kind, len(x))
    constant = [name for name, flat in zip(columns, np.ptp(x, axis=0) == 0, strict=True) if flat]
    if len(constant) == len(columns):
        raise ValueError(f"X: found {_some(constant)}, all constant; expected a column with two values")
    if test is None:
        return Data(x, labels, classes, columns, constant)
    if len(test) != 2:
        raise ValueError(f"test: found {show(test)}; expected a share, or a pair (X, y)")
    other = _numbers(test[0], "test X", columns)
    if other.ndim != 2 or other.shape[1] != x.shape[1]:
        raise ValueError(f"test X: found shape {other.shape}; expected {x.shape[1]} columns, as X has")
    _refuse_missing(other, "test X", columns)
    aim, _ = _labels(test[1], "classes" if classes else "regression", len(other), "test y")
    if classes and (new := sorted(set(aim.tolist()) - set(labels.tolist()), key=str)):
        raise ValueError(f"test y: found the class {new[0]!r}; expected those of y")
    if not classes and aim.shape[1] != labels.shape[1]:
        raise ValueError(f"test y: found {aim.shape[1]} columns; expected {labels.shape[1]}, as y has")
    return Data(x, labels, classes, columns, constant, Data(other, aim, classes, columns, []))


def names_of(X: Any) -> list[str]:
    """Return the names of a table's columns; none for an array."""
    columns = getattr(X, "columns", None)
    return [] if columns is None else [str(name) for name in columns]


def _numbers(X: Any, what: str, columns: list[str]) -> np.ndarray:
    found = np.asarray(X)
    if found.dtype == object or found.dtype.kind in "US":
        found = _from_objects(found, what, columns)
    if found.dtype.kind not in "buif":
        raise ValueError(f"{what}: found values of type {found.dtype}; expected numbers")
    return found.astype(np.float64)


def _from_objects(found: np.ndarray, what: str, columns: list[str]) -> np.ndarray:
    """Return objects that are numbers as such; else say in which column the first stands that is none."""
    if found.ndim != 2:
        raise ValueError(f"{what}: found no rows of equal length; expected an array of two dimensions")
    numbers = np.empty(found.shape)
    for place in np.ndindex(found.shape):
        value = found[place]
        try:
            numbers[place] = np.nan if value is None else float(value)
        except (TypeError, ValueError):
            column = columns[place[1]] if columns else f"column {place[1]}"
            raise ValueError(
                f"{what}: row {place[0]}, {column}: found {show(_plain(value))}; expected a number"
            ) from None
    return numbers


def _plain(value: Any) -> Any:
    """Return a value of numpy's as one of Python's."""
    return value.item() if isinstance(value, np.generic) else value


def _refuse_missing(x: np.ndarray, what: str, columns: list[str]) -> None:
    bad = ~np.isfinite(x)
    if bad.any():
        rows, places = np.flatnonzero(bad.any(axis=1)), np.flatnonzero(bad.any(axis=0))
        where = f"rows {_some(rows.tolist())}, {_some([columns[i] for i in places])}"
        raise ValueError(f"{what}: {where}: found {bad.sum()} values that are missing or not finite; expected numbers")


def _some(names: list[Any], most: int = 4) -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(str(name) for name in names[:most]) + more


def _labels(y: Any, kind: str, rows: int, what: str = "y") -> tuple[np.ndarray, bool]:
    """Return labels and whether they are classes."""
    found = np.asarray(y)
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim not in (1, 2) or len(found) != rows:
        raise ValueError(f"{what}: found shape {found.shape}; expected a label for each of the {rows} rows of X")
    missing = [i for i, one in enumerate(found.reshape(rows, -1).tolist()) if any(v is None or v != v for v in one)]
    if missing:
        raise ValueError(f"{what}: found no label in rows {_some(missing)}; expected one for each")
    if found.dtype == object:
        found = np.array(found.tolist())
    if kind == "classes" or (kind == "auto" and _are_classes(found)):
        if found.ndim == 2:
            raise ValueError(f"{what}: found {found.shape[1]} columns of classes; expected one")
        classes = np.unique(found)
        if what == "y" and len(classes) < 2:
            raise ValueError(f"{what}: found one class, {classes.tolist()[0]!r}; expected at least 2 classes")
        return found, True
    try:
        numbers = found.astype(np.float64).reshape(rows, -1)
    except (TypeError, ValueError):
        raise ValueError(f"{what}: found labels that are no numbers; expected numbers, or kind 'classes'") from None
    if not np.isfinite(numbers).all():
        raise ValueError(f"{what}: found labels that are not finite; expected finite numbers")
    if what == "y" and (flat := np.flatnonzero(np.ptp(numbers, axis=0) == 0)).size:
        raise ValueError(f"{what}: found {numbers[0, flat[0]]:g} in every row; expected a target that varies")
    return numbers, False


def _are_classes(y: np.ndarray) -> bool:
    """Return whether labels are classes: text, truth values, or at most MOST_CLASSES different whole numbers."""
    if y.ndim == 2 or y.dtype.kind in "USb":
        return y.ndim == 1
    return bool(np.array_equal(y, np.round(y))) and len(np.unique(y)) <= MOST_CLASSES
