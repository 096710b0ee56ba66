"""How the risk of a learner falls with the number of samples."""

from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar

from annotated_types import MinLen

from hierlearn.core.parameters import Count, Reference
from hierlearn.core.protocols import Dataset, Probes
from hierlearn.quantities._bases import OfLearner, Place
from hierlearn.quantities._tables import at, line_along, trust, without_interval
from hierlearn.statistics import estimates
from hierlearn.statistics.complexity import where_positive


@dataclass(frozen=True, kw_only=True)
class SamplesSlope(OfLearner):
    """Slope of log risk in the log of the number of samples, a line through the medians over seeds.

    A seed's smaller training sets are parts of its larger ones, so that its errors lie near a line of its own: how far
    these slopes differ does not show in the scatter about the common line. The interval spans that of the line and that
    of the mean of the seeds' own slopes.
    """

    UNIT: ClassVar[str] = "slope"
    ALONG: ClassVar[str] = "samples"
    sizes: Annotated[
        list[Count],
        MinLen(3),
        Reference("samples"),
        "Numbers of samples that the line is fitted to, named before the run.",
    ]
    where: Place = field(default_factory=dict)
    risk: Annotated[str, Reference("scores"), "Which measure."] = "test_risk"

    def measure(self, cube: Dataset, probes: Probes) -> estimates.Measurement:
        """cube: scores.nc of a study. A training that failed at one of the sizes leaves no interval, nor does a single
        seed."""
        chosen = at(cube, self.learner, self.where, ("samples", "seed")).sel(samples=self.sizes).sortby("samples")
        line = estimates.exponent(where_positive(chosen.samples.values, chosen[self.risk].values))
        own = line.detail["seed_slopes"]
        if own["low"] is None:
            line = without_interval(line, own["reason"])
        else:
            line = replace(line, low=min(line.low, own["low"]), high=max(line.high, own["high"]))
        return trust(line_along("samples", line), "at one of the sizes", chosen)
