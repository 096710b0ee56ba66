"""How the sample complexity of one learner grows with the accuracy that is asked of it."""

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np

from hierlearn.core.parameters import UNIQUE, Positive
from hierlearn.core.protocols import Dataset, Probes
from hierlearn.quantities._bases import OfLearner, Place
from hierlearn.quantities._tables import FAILED, at, at_place, trust
from hierlearn.statistics import estimates
from hierlearn.statistics.complexity import Complexities
from hierlearn.statistics.exponents import seed_slopes
from hierlearn.statistics.learning_curves import crossings


@dataclass(frozen=True, kw_only=True)
class AccuracyExponent(OfLearner):
    """Slope of log n*(epsilon) in log 1/epsilon at one place, n*(epsilon) being where the risk falls to epsilon.

    All n* of a seed lie on one learning curve, so that the interval is that of the slopes of the seeds. The curve has
    to be visited whole there (`samples.curves` of the study).
    """

    UNIT: ClassVar[str] = "slope"
    ALONG: ClassVar[str] = "risk"
    risks: Annotated[list[Positive], UNIQUE, "Risks epsilon, three or more."]
    where: Place = field(default_factory=dict)

    def measure(self, cube: Dataset, probes: Probes) -> estimates.Measurement:
        """cube: scores.nc of a study. A risk that a seed does not reach, or starts below, is left out for all seeds."""
        chosen = at(cube, self.learner, self.where, ("seed", "samples"))
        risks = sorted(self.risks, reverse=True)
        found = [crossings(chosen.samples.values, chosen.test_risk.values, risk) for risk in risks]
        samples, status = (np.stack(part) for part in zip(*found, strict=True))
        slopes = seed_slopes(Complexities(1.0 / np.array(risks), samples, status))
        detail = {"medians": [estimates.plain(np.median(one)) for one in samples], "risks": risks}
        seeds = chosen.sizes["seed"]
        failed = int(np.isin(chosen.status.values, FAILED).any(axis=-1).sum())
        exponent = estimates.of_estimate(slopes, seeds, detail)
        return at_place(trust(exponent, f"on the curves of {failed} of {seeds} seeds", chosen), chosen, self.where)
