"""Where an error falls sharply: its fall to a place over its fall from there on."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from annotated_types import MinLen

from hierlearn.core.parameters import Reference
from hierlearn.core.protocols import Quantity
from hierlearn.quantities._lowest import lowest
from hierlearn.quantities._parameters import Samples, SomeCoordinates
from hierlearn.quantities._sizes import at_place
from hierlearn.quantities._tables import FAILED, at, without_interval
from hierlearn.statistics import estimates
from hierlearn.statistics.estimates import Measurement

if TYPE_CHECKING:
    import xarray

Places = Annotated[
    list[Annotated[dict[str, Any], Reference("some coordinates"), "Values of coordinates, beside those in `where`."]],
    MinLen(1),
]


@dataclass(frozen=True, kw_only=True)
class LogFallRatio(Quantity):
    """log of (risk_first / risk_middle) / (risk_middle / risk_last), mean over seeds; the lowest of several cases.

    Above 0 the risk falls by more up to the middle than from there on. Interval: see `quantities._lowest`.
    """

    of: Annotated[list[str], MinLen(1), Reference("learners"), "The learner of every case."]
    samples: Samples
    first: Annotated[Places, "Of every case the place from which the risk falls."]
    middle: Annotated[Places, "Of every case the place that is asked about."]
    last: Annotated[Places, "Of every case the place at which the fall ends."]
    where: SomeCoordinates = field(default_factory=dict)
    risk: Annotated[str, Reference("scores"), "Which measure."] = "test_risk"

    @property
    def learners(self) -> list[str]:
        """The learners that the quantity rests on."""
        return list(dict.fromkeys(self.of))

    def measure(self, cube: "xarray.Dataset", probes: "dict[str, xarray.Dataset]") -> Measurement:
        """cube: scores.nc of a study. A training that failed leaves no interval."""
        cases, failed = [], []
        for learner, *places in zip(self.of, self.first, self.middle, self.last, strict=True):
            logs = []
            for place in places:
                here = self.where | place | {"samples": self.samples}
                chosen = at(cube, learner, here, ("seed",))
                values, broken = chosen[self.risk].values, np.isin(chosen.status.values, FAILED).any()
                logs.append(np.log(np.where(values > 0, values, np.nan)))
                failed += [f"{learner}: training failed at n = {self.samples}"] if broken else []
            cases.append(logs[0] - 2 * logs[1] + logs[2])
        names = [", ".join(f"{name} = {value}" for name, value in place.items()) for place in self.middle]
        found = lowest(lambda level: [estimates.mean(one, level) for one in cases], names)
        measured = at_place(found, cube, self.where, self.samples)
        return without_interval(measured, *dict.fromkeys(failed))
