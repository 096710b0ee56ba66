"""Variables of a probe, read at some of its coordinates."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray


def variable_at(probe: "xarray.Dataset", variable: str, where: Mapping[str, Any]) -> "xarray.DataArray":
    """A variable at some coordinates; those of a single value need not be named, the seed comes last."""
    chosen = probe[variable].sel({axis: value for axis, value in where.items() if axis in probe[variable].dims})
    single = [name for name in chosen.dims if name != "seed" and chosen.sizes[name] == 1]
    return chosen.isel(dict.fromkeys(single, 0)).transpose(..., "seed", missing_dims="ignore")


def along(probe: "xarray.Dataset", variable: str, axis: str, where: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """The values (K,) of an axis in increasing order, and the variable there (K, S); S = 1 without seeds.

    Raises ValueError where other coordinates are left open.
    """
    chosen = probe[variable].sel({name: value for name, value in where.items() if name in probe[variable].dims})
    single = [name for name in chosen.dims if name not in (axis, "seed") and chosen.sizes[name] == 1]
    chosen = chosen.isel(dict.fromkeys(single, 0)).sortby(axis)
    extra = set(chosen.dims) - {axis, "seed"}
    if extra:
        raise ValueError(f"{variable}: the claim leaves {', '.join(sorted(extra))} open; name a value in `where`")
    values = chosen.transpose(axis, "seed", missing_dims="ignore").values
    return chosen[axis].values, values.reshape(len(chosen[axis]), -1)


def over_seeds(probe: "xarray.Dataset", variable: str, where: Mapping[str, Any]) -> np.ndarray:
    """The variable over the seeds (S,). Raises ValueError where other coordinates are left open."""
    chosen = variable_at(probe, variable, where)
    extra = set(chosen.dims) - {"seed"}
    if extra:
        raise ValueError(f"{variable}: the claim leaves {', '.join(sorted(extra))} open; name a value in `where`")
    return np.atleast_1d(chosen.values)
