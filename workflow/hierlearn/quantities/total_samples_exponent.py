"""Exponent of labelled and unlabelled points together."""

from dataclasses import dataclass, field
from typing import Any

import xarray

from hierlearn.core.protocols import Quantity
from hierlearn.quantities._tables import complexities, failures, noted, part, regressor, unfinished, unjudged
from hierlearn.statistics import estimates
from hierlearn.statistics.estimates import Measured

PARAMETERS = {
    "learner": {"description": "Name of the learner.", "type": "string", "reference": "learners"},
    "where": {
        "description": "Values of the axes other than the dimension.",
        "type": "object",
        "reference": "coordinates",
        "default": {},
    },
    "threshold": {"description": "Risk that n* reaches.", "type": "number", "reference": "thresholds", "default": 0.5},
    "sizes": {
        "description": "Dimensions that the line is fitted to, named before the run; null: all of the study's.",
        "type": ["array", "null"],
        "items": {"type": "integer"},
        "reference": "dimensions",
        "default": None,
    },
    "regressor": {
        "description": "What n* is compared with.",
        "enum": ["dimension", "harmonic_dimension", "polynomial_dimension", "quad_raw_dimension"],
        "default": "dimension",
    },
}


@dataclass(frozen=True)
class TotalSamplesExponent(Quantity):
    """Slope of log(n* + n0) on log of a counted dimension: the honest count of samples."""

    learner: str
    sizes: list[int] | None = None
    where: dict[str, Any] = field(default_factory=dict)
    threshold: float = 0.5
    regressor: str = "dimension"

    @property
    def learners(self) -> list[str]:
        """The learners that the quantity rests on."""
        return [self.learner]

    def measure(self, cube: xarray.Dataset, probes: dict[str, xarray.Dataset]) -> Measured:
        """cube: scores.nc of a study; probes: its probes by name."""
        table = complexities(cube, self.learner, self.where, self.threshold)
        spent = part(cube, self.learner, self.where).unlabelled_samples.max(("seed", "samples")).values
        values = regressor(self.regressor, table.sizes, self.where.get("degree"))
        measured = estimates.total_samples_exponent(table, spent, values, self.sizes)
        rested = cube, self.learner, self.where, table
        return noted(unjudged(measured, failures(*rested)), unfinished(*rested))
