"""Files as xarray datasets, for the jobs that draw and judge."""

import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import xarray
from xarray.backends import NetCDF4DataStore

from hierlearn.core import folders
from hierlearn.core.words import show
from hierlearn.pipeline.files import netcdf


def load(path: str | os.PathLike, expected: Mapping[str, str] | None = None) -> xarray.Dataset:
    """Load a netCDF-4 file of a run as xarray.load_dataset does, and check that it is whole.

    The file is compared with the checksum beside it, `.NAME.checksum`. One without a checksum, such as one that was
    copied elsewhere alone, is read as it is. Raises ValueError, one line that names the file and what to do, where it
    is damaged, absent or no netCDF-4 file, and for what is no path to a file.
    """
    file = folders.path(path, "results")
    if os.path.isdir(file):
        raise ValueError(f"{file}: found a folder; expected a file of results, such as {file / 'scores.nc'}")
    with netcdf.open_file(file, expected) as dataset:
        return xarray.open_dataset(NetCDF4DataStore(dataset)).load()


def load_groups(path: str | os.PathLike) -> dict[str, xarray.Dataset]:
    """Load a netCDF-4 file with groups: those that have variables by their path inside it, "" being the root.

    It is checked as `load` does. Raises ValueError, one line, where it is damaged, absent or no netCDF-4 file.
    """
    with netcdf.open_file(folders.path(path, "results")) as dataset:
        return dict(_loaded(dataset))


def _loaded(group: Any) -> Iterator[tuple[str, xarray.Dataset]]:
    """A group and those inside it."""
    if group.variables:
        yield group.path.strip("/"), xarray.open_dataset(NetCDF4DataStore(group)).load()
    for child in group.groups.values():
        yield from _loaded(child)


def in_words(status: xarray.DataArray) -> xarray.DataArray:
    """The words of a variable of numbers, such as `status` of scores.nc, as its attributes flag_values and
    flag_meanings have them; "" for a number that is none of them. Raises ValueError for what has no such attributes."""
    if not isinstance(status, xarray.DataArray) or not {"flag_values", "flag_meanings"} <= status.attrs.keys():
        raise ValueError(f"in_words: found {show(status)}; expected a variable with flag_values and flag_meanings")
    words = dict(zip(np.atleast_1d(status.flag_values).tolist(), status.flag_meanings.split(), strict=True))
    return xarray.apply_ufunc(np.vectorize(lambda value: words.get(value, ""), otypes=[object]), status)
