"""Exponent of the sample complexity of one learner."""

from dataclasses import dataclass, field
from typing import Any

import xarray

from hierlearn.core.protocols import Quantity
from hierlearn.quantities._tables import complexities, failures, noted, regressor, unfinished, unjudged
from hierlearn.statistics import estimates
from hierlearn.statistics.estimates import Measured

PARAMETERS = {
    "learner": {"description": "Name of the learner.", "type": "string", "reference": "learners"},
    "axis": {
        "description": "The axis along which n* grows.",
        "type": "string",
        "reference": "axis",
        "default": "dimension",
    },
    "where": {
        "description": "Values of the other axes.",
        "type": "object",
        "reference": "coordinates",
        "default": {},
    },
    "threshold": {"description": "Risk that n* reaches.", "type": "number", "reference": "thresholds", "default": 0.5},
    "sizes": {
        "description": "Values of the axis that the line is fitted to, named before the run; null: all of the study's.",
        "type": ["array", "null"],
        "items": {"type": "number"},
        "reference": "axis values",
        "default": None,
    },
    "regressor": {
        "description": "What n* is compared with; dimension is the value of the axis itself.",
        "enum": ["dimension", "harmonic_dimension", "polynomial_dimension", "quad_raw_dimension"],
        "default": "dimension",
    },
    "risk": {
        "description": "test_risk is the ratio estimate, test_error the bare mean over test points.",
        "enum": ["test_risk", "test_error"],
        "default": "test_risk",
    },
}


@dataclass(frozen=True)
class Exponent(Quantity):
    """Slope of log n* on log of a counted dimension or of another axis, a line through the medians over seeds."""

    learner: str
    sizes: list[float] | None = None
    axis: str = "dimension"
    where: dict[str, Any] = field(default_factory=dict)
    threshold: float = 0.5
    regressor: str = "dimension"
    risk: str = "test_risk"

    @property
    def learners(self) -> list[str]:
        """The learners that the quantity rests on."""
        return [self.learner]

    def measure(self, cube: xarray.Dataset, probes: dict[str, xarray.Dataset]) -> Measured:
        """cube: scores.nc of a study; probes: its probes by name."""
        table = complexities(cube, self.learner, self.where, self.threshold, self.risk, self.axis)
        values = regressor(self.regressor, table.sizes, self.where.get("degree"))
        measured = estimates.exponent(table, values, self.sizes)
        rested = cube, self.learner, self.where, table, self.axis
        return noted(unjudged(measured, failures(*rested)), unfinished(*rested))
