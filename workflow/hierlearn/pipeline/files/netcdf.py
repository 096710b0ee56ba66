"""netCDF-4 files as groups of described arrays: equal content gives equal bytes."""

import os
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hierlearn.core.folders import UnreadableFile
from hierlearn.pipeline.files import checksums

if TYPE_CHECKING:
    import netCDF4


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
# Bytes of a variable from which compression makes a file smaller.
WORTH = 8192


def warm_up() -> None:
    """Load the library, which every job needs. Called by the process whose forks are jobs."""
    import_module("netCDF4")


def flags(meanings: Mapping[str, int]) -> dict[str, Any]:
    """CF attributes of a flag variable: the values of `meanings` and their names."""
    return {
        "flag_values": np.array(list(meanings.values()), dtype=np.int8),
        "flag_meanings": " ".join(meanings),
    }


def encode(groups: Mapping[str, Group], attributes: Mapping[str, Any], compressed: bool = False) -> bytes:
    """The bytes of a netCDF-4 file. groups: path inside the file ("" is the root, "a/b" nests) -> variables.

    compressed: whether numbers are, without loss, which is slower. Equal content gives equal bytes. Raises ValueError
    if one dimension name has two lengths within a group.
    """
    import netCDF4

    # Through a file: one written in memory carries the time of its creation.
    with tempfile.TemporaryDirectory(prefix=checksums.scratch()) as folder:
        file = Path(folder, "content.nc")
        dataset = netCDF4.Dataset(file, mode="w", format="NETCDF4")
        content = file.open("rb")
    # The file has no name any more: whatever ends the process ends the file.
    with content:
        with dataset:
            dataset.setncatts({name: attributes[name] for name in sorted(attributes)})
            declared = []
            for name, group in groups.items():
                target = dataset if name == "" else dataset.createGroup(name)
                declared += [_declare(target, name, key, variable, compressed) for key, variable in group.items()]
            # Values after all declarations: each change from the first to the second goes through the whole file.
            for variable, values in declared:
                if values.size:
                    variable[...] = values
        return content.read()


def _declare(
    target, group: str, name: str, variable: Variable, compressed: bool
) -> tuple["netCDF4.Variable", np.ndarray]:
    """Define a variable of a group -> it, and the values that it is to hold."""
    values = np.asarray(variable.values)
    kind = str if values.dtype.kind in "UO" else values.dtype
    for dimension, length in zip(variable.dimensions, values.shape, strict=True):
        if dimension not in target.dimensions:
            target.createDimension(dimension, length)
        elif len(target.dimensions[dimension]) != length:
            known = len(target.dimensions[dimension])
            raise ValueError(f"group {group!r}: {name} has {dimension} = {length}, which was {known} before")
    # A chunk's own place in the file takes more than a few numbers do.
    is_packed = compressed and kind is not str and values.nbytes >= WORTH
    packed = {"compression": "zlib", "shuffle": True, "chunksizes": values.shape} if is_packed else {}
    fill = False if kind is not str else None
    created = target.createVariable(name, kind, variable.dimensions, fill_value=fill, **packed)
    created.setncatts(dict(variable.attributes))
    return created, values.astype(object) if kind is str else values


def read(
    path: str | os.PathLike, expected: Mapping[str, str] | None = None, names: Collection[str] | None = None
) -> dict[str, dict[str, Variable]]:
    """All groups of a netCDF-4 file, "" being the root, or those with names, checked as checksums.read does."""
    with open_file(path, expected) as dataset:
        return dict(_groups("", dataset, names))


@contextmanager
def open_file(path: str | os.PathLike, expected: Mapping[str, str] | None = None) -> Iterator["netCDF4.Dataset"]:
    """A netCDF-4 file in memory, checked as checksums.read does; raises UnreadableFile if it is none."""
    import netCDF4

    content = checksums.read(path, expected)
    try:
        with netCDF4.Dataset("in-memory", memory=content) as dataset:
            yield dataset
    except (OSError, RuntimeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UnreadableFile(f"{path}: not a readable netCDF-4 file ({reason}); delete it and run again") from error


def _groups(name: str, group, names: Collection[str] | None):
    if names is None or name in names:
        yield name, {key: _variable(variable) for key, variable in group.variables.items()}
    for key, child in group.groups.items():
        yield from _groups(f"{name}/{key}" if name else key, child, names)


def _variable(variable) -> Variable:
    variable.set_auto_maskandscale(False)
    values = np.asarray(variable[...])
    if values.dtype.kind == "O":
        values = values.astype(str)
    return Variable(variable.dimensions, values, {name: variable.getncattr(name) for name in variable.ncattrs()})
