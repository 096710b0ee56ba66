"""Variables of a probe, read at some of its coordinates."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hierlearn.core.protocols import DataArray, Dataset


def variable_at(probe: Dataset, variable: str, where: Mapping[str, Any], axis: str = "") -> DataArray:
    """A variable at some coordinates; those of a single value need no name, but for `axis`; the seed comes last."""
    chosen = probe[variable].sel({name: value for name, value in where.items() if name in probe[variable].dims})
    single = [name for name in chosen.dims if name not in (axis, "seed") and chosen.sizes[name] == 1]
    return chosen.isel(dict.fromkeys(single, 0)).transpose(..., "seed", missing_dims="ignore")


def along(probe: Dataset, variable: str, axis: str, where: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """The values (K,) of an axis in increasing order, and the variable there (K, S); S = 1 without seeds.

    Raises ValueError where other coordinates are left open.
    """
    chosen = _closed(variable_at(probe, variable, where, axis), axis).sortby(axis)
    return chosen[axis].values, chosen.values.reshape(len(chosen[axis]), -1)


def over_seeds(probe: Dataset, variable: str, where: Mapping[str, Any]) -> np.ndarray:
    """The variable over the seeds (S,). Raises ValueError where other coordinates are left open."""
    return np.atleast_1d(_closed(variable_at(probe, variable, where)).values)


def _closed(chosen: DataArray, axis: str = "") -> DataArray:
    """A variable over nothing but an axis and the seeds."""
    extra = sorted(set(chosen.dims) - {axis, "seed"})
    if extra:
        raise ValueError(f"{chosen.name}: the claim leaves {', '.join(extra)} open; name a value in `where`")
    return chosen
