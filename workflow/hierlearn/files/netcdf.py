"""Files that are whole or absent: netCDF-4 written aside, checked, and moved into place under a lock."""

import fcntl
import os
import tempfile
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np

from hierlearn.files import checksums


@dataclass(frozen=True)
class Variable:
    """An array with named dimensions and attributes (units, long_name, flags)."""

    dimensions: tuple[str, ...]
    values: np.ndarray
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self):
        if np.ndim(self.values) != len(self.dimensions):
            raise ValueError(f"a variable over {self.dimensions} has shape {np.shape(self.values)}")


Group = Mapping[str, Variable]


class UnreadableFile(ValueError):
    """A file that is not the netCDF it should be; the message is one line that names it."""


def flags(meanings: Mapping[str, int]) -> dict[str, Any]:
    """CF attributes of a flag variable: the values of `meanings` and their names."""
    return {
        "flag_values": np.array(list(meanings.values()), dtype=np.int8),
        "flag_meanings": " ".join(meanings),
    }


def write(path: str | os.PathLike, groups: Mapping[str, Group], attributes: Mapping[str, Any]) -> None:
    """Write a netCDF-4 file. groups: path inside the file ("" is the root, "a/b" nests) -> variables.

    Equal content gives equal bytes. Raises ValueError if one dimension name has two lengths within a group.
    """
    replace(path, encode(groups, attributes), check=decode)


def encode(groups: Mapping[str, Group], attributes: Mapping[str, Any]) -> bytes:
    """The bytes of the netCDF-4 file that `write` would write."""
    # Through a file: one written in memory carries the time of its creation.
    with tempfile.TemporaryDirectory(prefix=checksums.scratch()) as folder:
        file = Path(folder, "content.nc")
        dataset = netCDF4.Dataset(file, mode="w", format="NETCDF4")
        content = file.open("rb")
    # The file has no name any more: whatever ends the process ends the file.
    with content:
        with dataset:
            dataset.setncatts({name: attributes[name] for name in sorted(attributes)})
            for name, group in groups.items():
                target = dataset if name == "" else dataset.createGroup(name)
                for key, variable in group.items():
                    _add(target, name, key, variable)
        return content.read()


def _add(target, group: str, name: str, variable: Variable) -> None:
    values = np.asarray(variable.values)
    kind = str if values.dtype.kind in "UO" else values.dtype
    for dimension, length in zip(variable.dimensions, values.shape, strict=True):
        if dimension not in target.dimensions:
            target.createDimension(dimension, length)
        elif len(target.dimensions[dimension]) != length:
            known = len(target.dimensions[dimension])
            raise ValueError(f"group {group!r}: {name} has {dimension} = {length}, which was {known} before")
    created = target.createVariable(name, kind, variable.dimensions, fill_value=False if kind is not str else None)
    created.setncatts(dict(variable.attributes))
    if values.size:
        created[...] = values.astype(object) if kind is str else values


def read(path: str | os.PathLike) -> dict[str, dict[str, Variable]]:
    """All groups of a netCDF-4 file, "" being the root. Raises UnreadableFile, one line, if it is damaged."""
    try:
        return decode(Path(path).read_bytes())
    except (OSError, RuntimeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UnreadableFile(f"{path}: not a readable netCDF-4 file ({reason}); delete it and run again") from error


def attributes(path: str | os.PathLike) -> dict[str, Any]:
    """The attributes of a file as a whole."""
    with netCDF4.Dataset(path) as dataset:
        return {name: dataset.getncattr(name) for name in dataset.ncattrs()}


def decode(content: bytes) -> dict[str, dict[str, Variable]]:
    """The groups in the bytes of a netCDF-4 file."""
    dataset = netCDF4.Dataset("in-memory", memory=content)
    try:
        return dict(_groups("", dataset))
    finally:
        dataset.close()


def _groups(name: str, group):
    yield name, {key: _variable(variable) for key, variable in group.variables.items()}
    for key, child in group.groups.items():
        yield from _groups(f"{name}/{key}" if name else key, child)


def _variable(variable) -> Variable:
    variable.set_auto_maskandscale(False)
    values = np.asarray(variable[...])
    if values.dtype.kind == "O":
        values = values.astype(str)
    return Variable(variable.dimensions, values, {name: variable.getncattr(name) for name in variable.ncattrs()})


def replace(path: str | os.PathLike, content: bytes, check=None) -> None:
    """Put `content` at `path` all at once. check(bytes), if given, reads the written bytes back and may raise.

    Nothing half-written is ever seen at `path`; a writer that was orphaned and its successor take turns.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}.part")
    with _locked(scratch) as descriptor:
        try:
            os.ftruncate(descriptor, 0)
            with os.fdopen(os.dup(descriptor), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if check is not None:
                check(scratch.read_bytes())
            checksums.lift(path)
            os.replace(scratch, path)
            checksums.put(path, checksums.digest(content))
        except BaseException:
            scratch.unlink(missing_ok=True)
            raise


@contextmanager
def _locked(scratch: Path):
    while True:
        descriptor = os.open(scratch, os.O_CREAT | os.O_RDWR, 0o666)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        # The former holder may have moved the file into place while we waited: then this is no scratch file any more.
        try:
            if os.fstat(descriptor).st_ino == os.stat(scratch).st_ino:
                break
        except FileNotFoundError:
            pass
        os.close(descriptor)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
