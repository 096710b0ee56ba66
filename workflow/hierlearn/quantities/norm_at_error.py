"""The norm of the weights at the moment when the training error falls to a given size."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np

from hierlearn.core.parameters import Positive, Reference
from hierlearn.core.protocols import Quantity
from hierlearn.quantities._parameters import Place, Samples
from hierlearn.quantities._sizes import at_place
from hierlearn.quantities._tables import FAILED, at, without_interval
from hierlearn.statistics import estimates
from hierlearn.statistics.estimates import Measurement

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class NormAtError(Quantity):
    """Geometric mean over seeds of |W|_F where train_loss first falls to `error`, interpolated in the logs of both.

    Norms compare only at matched training error: they grow as the training goes on  (allenzhu2019, Figure 1).
    """

    learner: Annotated[str, Reference("learners"), "Name of a learner that records its training."]
    samples: Samples
    error: Annotated[Positive, "Training error."]
    where: Place = field(default_factory=dict)
    reads_traces: ClassVar[bool] = True

    @property
    def learners(self) -> list[str]:
        """The learner that the quantity rests on."""
        return [self.learner]

    def measure(
        self, cube: "xarray.Dataset", probes: "dict[str, xarray.Dataset]", traces: "xarray.Dataset"
    ) -> Measurement:
        """traces: traces.nc of the study. A seed whose training error stays above leaves no interval."""
        here = self.where | {"samples": self.samples}
        recorded = at(traces[["train_loss", "frobenius_norm"]], self.learner, here, ("seed", "step"))
        norms = np.array(
            [
                norm_at(*row, self.error)
                for row in zip(recorded.train_loss.values, recorded.frobenius_norm.values, strict=True)
            ]
        )
        above = int(np.sum(~np.isfinite(norms)))
        failed = np.isin(at(cube, self.learner, here, ("seed",)).status.values, FAILED).any()
        return without_interval(
            at_place(estimates.positive_mean(norms), cube, self.where, self.samples),
            *([f"{self.learner}: {above} seeds stay above a training error of {self.error:g}"] if above else []),
            *([f"{self.learner}: training failed at n = {self.samples}"] if failed else []),
        )


def norm_at(losses: np.ndarray, norms: np.ndarray, error: float) -> float:
    """The norm where the losses (T,) first fall to `error`; NaN if they never do, the first one if they begin below."""
    known = np.isfinite(losses) & np.isfinite(norms) & (losses > 0)
    losses, norms = losses[known], norms[known]
    below = np.flatnonzero(losses <= error)
    if not len(below):
        return np.nan
    i = int(below[0])
    if i == 0:
        return float(norms[0])
    part = np.log(losses[i - 1] / error) / np.log(losses[i - 1] / losses[i])
    return float(np.exp((1 - part) * np.log(norms[i - 1]) + part * np.log(norms[i])))
