"""How far a sample complexity lies above what a theory gives at the same sizes."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hierlearn.core.protocols import Dataset
from hierlearn.quantities._bases import FittedDimensions, Line, OfLearner, OfSampleComplexities, Probe
from hierlearn.quantities._tables import compared, variable_at
from hierlearn.statistics import estimates


@dataclass(frozen=True, kw_only=True)
class TheoryRatio(OfLearner, OfSampleComplexities):
    """Mean over sizes of the median log(n* / n* of the theory), with a t-interval over the sizes.

    0 where the theory is exact at finite sizes, whatever power law both follow there. detail: every size by itself.
    """

    UNIT: ClassVar[str] = "log ratio"
    probe: Probe
    line: Line
    sizes: FittedDimensions = None

    def _estimate(self, tables, probes) -> estimates.Measurement:
        (table,) = tables
        theory = self._theory(probes[self.probe], table.sizes)
        # What the probe's grid lacks has no theory; sizes that are not compared need none.
        known = np.isfinite(theory)
        named = table.sizes.tolist() if self.sizes is None else self.sizes
        unknown = sorted(set(named) - set(table.sizes[known].tolist()))
        if unknown:
            raise ValueError(f"probe {self.probe}: no n* of {self.line} at the dimensions {unknown}")
        return compared("dimension", estimates.over_theory(table, np.where(known, theory, 1.0), named))

    def _theory(self, probe: Dataset, sizes: np.ndarray) -> np.ndarray:
        """n* (K,) of the theory at the sizes, NaN where it has none."""
        line = probe.sample_complexity
        place: dict[str, Any] = {"line": self.line, "threshold": self.threshold} | self.where
        for name, value in place.items():
            if name in line.dims and value not in line[name].values:
                raise ValueError(f"probe {self.probe}: found no {name} {value} among {line[name].values.tolist()}")
        line = variable_at(probe, "sample_complexity", place, "dimension")
        return line.transpose("dimension").reindex(dimension=sizes).values
