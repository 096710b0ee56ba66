"""The exponents of sample complexities over the degree of a parity and the order of a Taylor model, against a table."""

from dataclasses import dataclass, field
from math import comb
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import MinLen

from hierlearn.core.parameters import UNIQUE, Count, Reference
from hierlearn.core.protocols import Dataset, Probes, Quantity
from hierlearn.pipeline.quantities._bases import FittedDimensions, SomeCoordinates, Threshold
from hierlearn.pipeline.quantities._tables import add_notes, complexities, line_along, reservations, without_interval
from hierlearn.statistics import estimates
from hierlearn.statistics.intervals import LEVEL


@dataclass(frozen=True, kw_only=True)
class OrderTable(Quantity):
    """The largest distance of a measured exponent of n* from a table over degree q and order k (bai2020, Section 7).

    The upper end is the largest of the cells' own ends, so that it lies below a limit only where every cell does; the
    lower end is the largest of the cells' ends at a level that holds for all cells at once.
    """

    UNIT = "largest distance of slopes"
    METHOD = "line through sizes, jointly"
    READS = ("test_risk",)
    learners_of_order: Annotated[
        list[Annotated[list[Annotated[str, Reference("learners")]], UNIQUE]],
        MinLen(1),
        UNIQUE,
        "The learners of order 1, of order 2, and so on: of every order one for each degree.",
    ]
    degrees: Annotated[list[Count], MinLen(1), UNIQUE, "Degrees q of the parities, values of `axis`."]
    axis: Annotated[str, Reference("axis"), "The axis along which the degree grows."] = "order"
    expected: Annotated[
        Literal["order", "kernel"], "order: the exponent max(1, q - k + 1); kernel: q at every order."
    ] = "order"
    regressor: Annotated[
        Literal["dimension", "count"],
        "dimension: d; count: the e-th root of the number of parities of e coordinates, e the expected exponent.",
    ] = "count"
    sizes: Annotated[
        list[FittedDimensions] | None,
        UNIQUE,
        "Of every degree the dimensions that its lines are fitted to, named before the run; null: all.",
    ] = None
    where: SomeCoordinates = field(default_factory=dict)
    threshold: Threshold = 0.5

    @property
    def learners(self) -> list[str]:
        return list(dict.fromkeys(name for names in self.learners_of_order for name in names))

    def measure(self, cube: Dataset, probes: Probes) -> estimates.Measurement:
        """cube: scores.nc of a study, with the axis of the degree. A cell without a slope leaves no interval."""
        limits = self.sizes or [None] * len(self.degrees)
        cells = [
            (order, degree, sizes, name)
            for order, names in enumerate(self.learners_of_order, start=1)
            for degree, sizes, name in zip(self.degrees, limits, names, strict=True)
        ]
        rows, notes, lost = [], [], []
        for order, degree, sizes, name in cells:
            where = {**self.where, self.axis: degree}
            table = complexities(cube, name, where, self.threshold)
            exponent = max(1, degree - order + 1) if self.expected == "order" else degree
            counts = [comb(int(d), exponent) ** (1 / exponent) for d in table.sizes]
            values = counts if self.regressor == "count" else None
            own, joint = (
                estimates.exponent(table, values, sizes, level) for level in (LEVEL, 1 - (1 - LEVEL) / len(cells))
            )
            failed, note = reservations(cube, name, where, table)
            lost.append(failed or ("" if np.isfinite(own.high) else f"{name} at degree {degree}: {own.reason}"))
            notes.append(note)
            rows.append(
                {
                    "order": order,
                    "degree": degree,
                    "expected": exponent,
                    "slope": own.value,
                    "low": own.low,
                    "high": own.high,
                    "distance": abs(own.value - exponent),
                    "least": max(joint.low - exponent, exponent - joint.high, 0.0),
                    "most": max(exponent - own.low, own.high - exponent),
                    "fitted": own.detail["sizes_fitted"],
                    "dof": own.detail["dof"],
                }
            )
        ends = (float(np.max([row[end] for row in rows])) for end in ("distance", "least", "most"))
        fitted = sorted({size for row in rows for size in row["fitted"]})
        detail = {
            "cells": [_plain(row) for row in rows],
            "sizes_fitted": fitted,
            "dof": min(row["dof"] for row in rows),
        }
        far = max(rows, key=lambda row: row["distance"])
        said = f"{len(rows)} cells, the furthest at degree {far['degree']} and order {far['order']}: {far['slope']:.2f}"
        measured = estimates.Measurement(*ends, said, cube.sizes["seed"], detail, positive=True)
        return add_notes(without_interval(line_along("dimension", measured), *lost), *notes)


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """The row in the words of strict JSON."""
    return {name: estimates.plain(value) if isinstance(value, float) else value for name, value in row.items()}
