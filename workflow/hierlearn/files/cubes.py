"""Files as xarray datasets, for the jobs that draw and judge."""

import os
from collections.abc import Mapping

import xarray
from xarray.backends import NetCDF4DataStore

from hierlearn.files import netcdf


def load(path: str | os.PathLike, expected: Mapping[str, str] | None = None) -> xarray.Dataset:
    """What xarray.load_dataset finds in a netCDF-4 file, checked as checksums.read does and read once."""
    with netcdf.open_file(path, expected) as dataset:
        return xarray.open_dataset(NetCDF4DataStore(dataset)).load()
