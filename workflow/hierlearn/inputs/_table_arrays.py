"""Points and labels of npz files, and of idx files as MNIST has them."""

import io
import zipfile
import zlib
from math import prod
from pathlib import Path

import numpy as np

from hierlearn.core.words import nearest, show
from hierlearn.inputs._table_columns import Part
from hierlearn.inputs._table_files import Source, UnreadableTable

POINTS, LABELS = ("x", "data", "images"), ("y", "target", "labels")
BAD_ARCHIVE = (OSError, ValueError, EOFError, LookupError, AttributeError, TypeError, zipfile.BadZipFile, zlib.error)
IDX = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def npz_parts(source: Source, target: list[str] | None, test: bool) -> list[Part]:
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


def _npz_part(path: Path, arrays: dict[str, np.ndarray], target: list[str] | None, role: str) -> Part:
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
    return Part(path, points.reshape(len(points), -1), _decoded(y), tuple(told), label, _channels(points.shape[1:]))


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


def idx_part(points: Source, labels: Source) -> Part:
    x, y = _idx(points), _idx(labels)
    if x.ndim < 2 or y.ndim != 1 or len(x) != len(y):
        found = f"shapes {x.shape} and, in {labels.path.name}, {y.shape}"
        raise UnreadableTable(f"{points.path}: found {found}; expected as many labels as points")
    width = prod(x.shape[1:])
    names = tuple(f"x{i}" for i in range(1, width + 1))
    return Part(points.path, x.reshape(len(x), -1), y, names, labels.path.name, _channels(x.shape[1:]))


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
