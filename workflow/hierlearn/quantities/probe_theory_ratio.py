"""How far a probe's variable lies above what a theory gives at the same places."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hierlearn.core.parameters import Reference
from hierlearn.quantities._bases import AlongProbe
from hierlearn.quantities._tables import along, compared
from hierlearn.statistics import estimates


@dataclass(frozen=True, kw_only=True)
class ProbeTheoryRatio(AlongProbe):
    """Mean over the places of an axis of the median log(variable / theory), with a t-interval over the places.

    0 where the theory is exact at finite sizes. detail: every place by itself.
    """

    UNIT: ClassVar[str] = "log ratio"
    theory: Annotated[str, Reference("probe measures"), "The theory's, positive, the same for all seeds."]

    def _estimate(self, probe) -> estimates.Measurement:
        table = self.positive_values(probe)
        sizes, theory = along(probe, self.theory, self.axis, self.where)
        if not np.array_equal(table.sizes, sizes):
            raise ValueError(f"probe {self.probe}: {self.theory} has other values of {self.axis} than {self.variable}")
        return compared(self.axis, estimates.over_theory(table, np.median(theory, axis=1), self.values))
