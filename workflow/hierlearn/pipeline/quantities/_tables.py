"""Scores, n* and probes as claims read them, and what a measurement says of them.

That is its place in words, d = 10–28, and why it is not to be trusted.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from hierlearn.core.protocols import STATUS, DataArray, Dataset
from hierlearn.statistics.complexity import Complexities
from hierlearn.statistics.estimates import Measurement, mean, positive_mean
from hierlearn.statistics.intervals import LEVEL
from hierlearn.statistics.learning_curves import LEFT_CENSORED, MISSING, OBSERVED, RIGHT_CENSORED, crossings
from hierlearn.theory.dimensions import harmonics, neurons_of_harmonics, polynomials
from hierlearn.theory.hypercube import products

FAILED = [STATUS[name] for name in ("diverged", "collapsed", "singular")]
UNTRAINED = [STATUS[name] for name in ("not_visited", "over_cap", "not_planned")]
LARGEST = "largest"
# The letters of the papers; another axis goes by its name.
LETTERS = {"dimension": "d", "samples": "n", "width": "m", "count": "D", "unlabelled": "n0", "alpha": "α"}
REGRESSORS = {
    "harmonic_dimension": harmonics,
    "polynomial_dimension": lambda d, p: polynomials(d, (p + 1) // 2),
    # With the logarithms that a bound up to logarithms hides.
    "polynomial_dimension_log": lambda d, p: polynomials(d, (p + 1) // 2) * math.log(d),
    "polynomial_dimension_log2": lambda d, p: polynomials(d, (p + 1) // 2) * math.log(d) ** 2,
    "quadratic_dimension": lambda d, p: polynomials(d, 2, sphere=False),
    "quad_raw_dimension": neurons_of_harmonics,
}


def at(
    cube: Dataset, learner: str, where: Mapping[str, Any], left: tuple[str, ...] = ("dimension", "seed", "samples")
) -> Dataset:
    """The scores of a learner at some coordinates, over those that are left.

    A single value need not be named, nor one of a parameter that other learners sweep. where: as for `indexers`, along
    the first of those that are left; samples may be LARGEST, at every place the largest number of samples at which
    a training was made, whether it failed or not.
    """
    largest = where.get("samples") == LARGEST
    fixed = {axis: value for axis, value in where.items() if not (largest and axis == "samples")}
    chosen = cube.sel(learner=learner, **indexers(fixed, left[0]))
    if largest:
        trained = ~chosen.status.isin(UNTRAINED).isel(samples=slice(None, None, -1))
        last = chosen.sizes["samples"] - 1 - trained.argmax("samples")
        chosen = chosen.isel(samples=last)
    chosen = of_own(chosen, left)
    extra = set(chosen.dims) - set(left)
    if extra:
        raise ValueError(
            f"learner {learner}: the claim leaves {', '.join(sorted(extra))} open; name a value in `where`"
        )
    return chosen.transpose(*left)


def of_own(chosen: Dataset, left: tuple[str | None, ...]) -> Dataset:
    """The scores of a learner without coordinates of a single value, and without those that only others sweep.

    Along what a learner does not sweep its scores are repeated. left: coordinates that stay in any case.
    """
    for axis in sorted(map(str, set(chosen.dims) - set(left))):
        first = chosen.isel({axis: 0}, drop=True)
        if all(first.equals(chosen.isel({axis: i}, drop=True)) for i in range(1, chosen.sizes[axis])):
            chosen = first
    return chosen


def indexers(where: Mapping[str, Any], axis: str) -> dict[str, Any]:
    """Coordinates for xarray's sel; a list goes along with `axis`: it has a value for each of its values, in order.

    Truth values are numbers in files.
    """
    import xarray

    plain = {name: np.asarray(v) for name, v in where.items()}
    plain = {name: v.astype(np.int64) if v.dtype.kind == "b" else v for name, v in plain.items()}
    return {name: xarray.DataArray(v, dims=axis) if v.ndim else v.item() for name, v in plain.items()}


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


def complexities(
    cube: Dataset,
    learner: str,
    where: Mapping[str, Any],
    threshold: float,
    risk: str = "test_risk",
    axis: str = "dimension",
) -> Complexities:
    """n* (values of the axis, seeds) of a learner, where `risk` falls to the threshold.

    A search ends where validation risk crosses. Where `risk` crosses beyond that end, n* is the end, which lies between
    what the two say: nothing is censored there. A risk from which the variance of the labels' noise is taken off, as it
    is on validation points, may lie below 0 and counts as 0.
    """
    chosen = at(cube, learner, where, (axis, "seed", "samples"))
    samples, status = crossings(chosen.samples.values, np.maximum(chosen[risk].values, 0.0), threshold)
    for side, is_beyond in ((RIGHT_CENSORED, np.greater), (LEFT_CENSORED, np.less)):
        there = is_beyond(chosen.samples.values, samples[..., None])
        ended = (there & (chosen.status.values == STATUS["not_visited"])).any(axis=-1)
        failed = (there & np.isin(chosen.status.values, FAILED)).any(axis=-1)
        status = np.where((status == side) & ended & ~failed, OBSERVED, status)
    return Complexities(chosen[axis].values, samples, status)


def reservations(
    cube: Dataset, learner: str, where: Mapping[str, Any], table: Complexities, axis: str = "dimension"
) -> tuple[str, str]:
    """Why n* of a learner rests on failed training: no curve at all, or a failed cell on either side of a crossing, or
    beyond the last n of a curve that does not cross.

    And which n* lie beside a cell whose training did not converge: its risk counts, and is said to.
    """
    chosen = at(cube, learner, where, (axis, "seed", "samples"))
    curveless = np.isin(chosen.status.values, FAILED).any(axis=-1) & (table.status == MISSING)
    failed = _places(curveless | _at_crossing(chosen, table, FAILED), chosen, table)
    going_on = _places(_at_crossing(chosen, table, [STATUS["not_converged"]]), chosen, table)
    return (
        f"{learner}: training failed at the crossing of {failed}" if failed else "",
        f"{learner}: training did not converge at the crossing of {going_on}" if going_on else "",
    )


def _at_crossing(chosen: Dataset, table: Complexities, statuses: list[int]) -> np.ndarray:
    """(K, S) bool: whether the cell visited next below or next above n* has one of the statuses.

    Where the curve does not cross, n* is its last cell with a risk: that one lies below.
    """
    grid, found = chosen.samples.values, np.isin(chosen.status.values, statuses)
    visited = ~np.isin(chosen.status.values, UNTRAINED)
    beyond = (grid > table.samples[..., None]) | (
        (grid == table.samples[..., None]) & (table.status != RIGHT_CENSORED)[..., None]
    )
    places, last = np.arange(len(grid)), len(grid) - 1
    above = np.where(visited & beyond, places, last).min(axis=-1)
    below = np.where(visited & ~beyond, places, 0).max(axis=-1)
    sides = [np.take_along_axis(found, side[..., None], -1)[..., 0] for side in (above, below)]
    return (sides[0] | sides[1]) & np.isfinite(table.samples)


def _places(which: np.ndarray, chosen: Dataset, table: Complexities) -> str:
    return ", ".join(f"seed {chosen.seed.values[s]} at size {table.sizes[k]}" for k, s in np.argwhere(which))


def mean_of(values: np.ndarray, log: bool, positive: bool, level: float = LEVEL) -> Measurement:
    """The mean over seeds of values (S,), of their logarithms, or in the logarithm and given back in their units."""
    if positive and not log:
        return positive_mean(values, level)
    return mean(np.log(np.where(values > 0, values, np.nan)) if log else values, level)


def add_notes(measured: Measurement, *notes: str) -> Measurement:
    """The measurement with notes behind its reason."""
    return replace(measured, reason="; ".join(part for part in (measured.reason, *notes) if part))


def without_interval(measured: Measurement, *reasons: str) -> Measurement:
    """The measurement without an interval where there are reasons not to trust it."""
    given = "; ".join(reason for reason in reasons if reason)
    if not given:
        return measured
    reason = "; ".join(part for part in (given, measured.reason) if part)
    return replace(measured, low=np.nan, high=np.nan, reason=reason)


def trust(measured: Measurement, place: str, *cells: Dataset) -> Measurement:
    """The measurement, without its interval where a training failed in the cells of a learner; place: what they are."""
    failed = [str(cell.learner.values) for cell in cells if np.isin(cell.status.values, FAILED).any()]
    return without_interval(measured, *dict.fromkeys(f"{name}: training failed {place}" for name in failed))


def regressor(name: str, dimensions, where: Mapping[str, Any]) -> np.ndarray:
    """The values (K,) that sample sizes are compared with. dimensions: those of the axis, for `products` orders k.

    Raises ValueError where it hangs on a degree, or on a dimension, and the place has none.
    """
    if name == "dimension":
        return np.asarray(dimensions, dtype=np.float64)
    if name == "products":
        if "dimension" not in where:
            raise ValueError(f"regressor {name}: found no dimension in `where`; expected one")
        return np.array([products(where["dimension"], int(k)) for k in dimensions], dtype=np.float64)
    degree = where.get("degree")
    if degree is None:
        raise ValueError(f"regressor {name}: found no degree in `where`; expected one")
    return np.array([REGRESSORS[name](int(d), degree) for d in dimensions], dtype=np.float64)


def span(axis: str, values: Any) -> str:
    """An axis with the smallest and the largest of its values, or with all of them if they are words."""
    values = list(dict.fromkeys(values))
    name = LETTERS.get(axis, axis.replace("_", " "))
    if not values:
        return ""
    if not all(isinstance(value, Real) for value in values):
        return f"{name} = {', '.join(map(str, values))}"
    low, high = f"{min(values):g}", f"{max(values):g}"
    return f"{name} = {low}" if low == high else f"{name} = {low}–{high}"


def line_along(axis: str, measured: Measurement) -> Measurement:
    """The measurement of a line with the sizes that it was fitted to."""
    return replace(measured, sizes=span(axis, measured.detail.get("sizes_fitted", ())))


def compared(axis: str, measured: Measurement) -> Measurement:
    """The measurement of a mean over sizes with those that have a value."""
    sizes = [row["size"] for row in measured.detail["sizes"] if row["median"] is not None]
    return replace(measured, sizes=span(axis, sizes))


def at_place(measured: Measurement, table: Dataset, where: Mapping[str, Any], samples: Any = None) -> Measurement:
    """The measurement with the dimension and the sizes that its place has."""
    known = {"dimension": _values(table, "dimension")} | {name: [where[name]] for name in LETTERS if name in where}
    known |= {"samples": [samples]} if samples is not None else {}
    return replace(measured, sizes=", ".join(span(axis, values) for axis, values in known.items() if values))


def over(measured: Measurement, table: Any) -> Measurement:
    """The measurement with the range of the dimension, or else of the width, in a table of its cases."""
    spans = (span(axis, _values(table, axis)) for axis in ("dimension", "width", "samples"))
    return replace(measured, sizes=next((one for one in spans if one), ""))


def _values(table: Any, axis: str) -> list:
    return table[axis].values.reshape(-1).tolist() if axis in table.coords else []
