"""Where an error falls sharply: its fall to a place over its fall from there on."""

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import MinLen

from hierlearn.core.parameters import Reference
from hierlearn.core.protocols import Dataset, Probes
from hierlearn.quantities._bases import AtSamples, SomeCoordinates
from hierlearn.statistics import estimates

Places = Annotated[
    list[Annotated[dict[str, Any], Reference("some coordinates"), "Values of coordinates, beside those in `where`."]],
    MinLen(1),
]


@dataclass(frozen=True, kw_only=True)
class LogFallRatio(AtSamples):
    """log of (risk_first / risk_middle) / (risk_middle / risk_last), mean over seeds; the lowest of several cases.

    Above 0 the risk falls by more up to the middle than from there on. Interval: see `statistics.estimates.lowest`.
    """

    UNIT: ClassVar[str] = "log ratio"
    of: Annotated[list[str], MinLen(1), Reference("learners"), "The learner of every case."]
    first: Annotated[Places, "Of every case the place from which the risk falls."]
    middle: Annotated[Places, "Of every case the place that is asked about."]
    last: Annotated[Places, "Of every case the place at which the fall ends."]
    where: SomeCoordinates = field(default_factory=dict)
    risk: Annotated[str, Reference("scores"), "Which measure."] = "test_risk"

    @property
    def learners(self) -> list[str]:
        return list(dict.fromkeys(self.of))

    def measure(self, cube: Dataset, probes: Probes) -> estimates.Measurement:
        """cube: scores.nc of a study. A training that failed leaves no interval."""
        cases, every = [], []
        for learner, *places in zip(self.of, self.first, self.middle, self.last, strict=True):
            cells = [self.cells(cube, learner, place) for place in places]
            risks = (one[self.risk].values for one in cells)
            first, middle, last = (np.log(np.where(values > 0, values, np.nan)) for values in risks)
            cases.append(first - 2 * middle + last)
            every += cells
        names = [", ".join(f"{name} = {value}" for name, value in place.items()) for place in self.middle]
        found = estimates.lowest(lambda level: [estimates.mean(one, level) for one in cases], names)
        return self.sound(found, cube, *every)
