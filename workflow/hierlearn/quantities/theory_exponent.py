"""Exponent of a sample complexity that a theory predicts."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray

from hierlearn.core.protocols import Quantity
from hierlearn.quantities._tables import regressor
from hierlearn.statistics import estimates
from hierlearn.statistics.complexity import Complexities
from hierlearn.statistics.estimates import Measured

PARAMETERS = {
    "probe": {"description": "Name of the probe that holds the line.", "type": "string", "reference": "probes"},
    "line": {"description": "Name of the theory line.", "type": "string", "reference": "probe lines"},
    "where": {
        "description": "Values of the axes other than the dimension.",
        "type": "object",
        "reference": "probe grid coordinates",
        "default": {},
    },
    "threshold": {
        "description": "Risk that n* reaches.",
        "type": "number",
        "reference": "probe thresholds",
        "default": 0.5,
    },
    "sizes": {
        "description": "Dimensions that the line is fitted to, named before the run; null: all of the probe's.",
        "type": ["array", "null"],
        "items": {"type": "integer"},
        "reference": "probe dimension",
        "default": None,
    },
    "regressor": {
        "description": "What n* is compared with.",
        "enum": ["dimension", "harmonic_dimension", "polynomial_dimension", "quad_raw_dimension"],
        "default": "dimension",
    },
}


@dataclass(frozen=True)
class TheoryExponent(Quantity):
    """Slope of log n* on log of a counted dimension, n* from the deterministic equivalent: no seeds, no noise."""

    probe: str
    line: str
    sizes: list[int] | None = None
    where: dict[str, Any] = field(default_factory=dict)
    threshold: float = 0.5
    regressor: str = "dimension"

    @property
    def learners(self) -> list[str]:
        """None: theory trains nothing."""
        return []

    def measure(self, cube: xarray.Dataset, probes: dict[str, xarray.Dataset]) -> Measured:
        """The interval is a t-interval from the deviations of the line's points from a power law."""
        line = probes[self.probe].sel(line=self.line, threshold=self.threshold, **self.where)
        samples = line.sample_complexity.values[:, None]
        status = np.where(np.isfinite(samples), "observed", "missing")
        table = Complexities(line.dimension.values, samples, status)
        values = regressor(self.regressor, table.sizes, self.where.get("degree"))
        measured = estimates.exponent(table, values, self.sizes)
        return Measured(measured.value, measured.low, measured.high, measured.reason, 0, measured.detail)
