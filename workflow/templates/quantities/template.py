"""The largest score over seeds."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hierlearn.core.parameters import Reference
from hierlearn.core.protocols import Dataset, Probes
from hierlearn.pipeline.quantities._bases import OfScores
from hierlearn.statistics.estimates import Measurement


# OfScores brings the learner, the number of samples and the place that the scores are read at.
@dataclass(frozen=True, kw_only=True)
class Template(OfScores):
    """The largest score of any seed at one place; its interval is that of the largest of all seeds but one."""

    UNIT: ClassVar[str] = "{averaged}"
    variable: Annotated[str, Reference("scores"), "A variable of scores.nc."] = "test_risk"

    def measure(self, cube: Dataset, probes: Probes) -> Measurement:
        """Return a `Measurement`. cube: scores.nc of a study. A failed training leaves no interval."""
        values, cells = self.scores(cube, self.variable)
        # Without one seed each, as a jackknife has it.
        without = [np.max(np.delete(values, i)) for i in range(len(values))] if len(values) > 1 else [np.nan]
        # `reason` says why there is no value or no interval; here there always is one.
        found = Measurement(np.max(values), np.min(without), np.max(values), "", len(values))
        return self.sound(found, cube, cells)
