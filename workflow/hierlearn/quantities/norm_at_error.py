"""The norm of the weights at the moment when the training error falls to a given size."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hierlearn.core.parameters import Positive, Reference
from hierlearn.core.protocols import Dataset, Probes
from hierlearn.quantities._bases import AtSamples, OfLearner
from hierlearn.quantities._tables import without_interval
from hierlearn.statistics import estimates


@dataclass(frozen=True, kw_only=True)
class NormAtError(OfLearner, AtSamples):
    """Geometric mean over seeds of |W|_F where train_loss first falls to `error`, interpolated in the logs of both.

    Norms compare only at matched training error: they grow as the training goes on  (allenzhu2019, Figure 1).
    """

    UNIT: ClassVar[str] = "norm"
    learner: Annotated[str, Reference("learners"), "Name of a learner that records its training."]
    error: Annotated[Positive, "Training error."]
    reads_traces: ClassVar[bool] = True

    def measure(self, cube: Dataset, probes: Probes, traces: Dataset) -> estimates.Measurement:
        """traces: traces.nc of the study. A seed whose training error stays above leaves no interval."""
        recorded = self.cells(traces[["train_loss", "frobenius_norm"]], self.learner, over=("step",))
        recorded = recorded.transpose("seed", "step")
        curves = zip(recorded.train_loss.values, recorded.frobenius_norm.values, strict=True)
        norms = np.array([norm_at(*curve, self.error) for curve in curves])
        above = int(np.sum(~np.isfinite(norms)))
        stay = f"{self.learner}: {above} seeds stay above a training error of {self.error:g}" if above else ""
        mean = self.sound(estimates.positive_mean(norms), cube, self.cells(cube, self.learner))
        return without_interval(mean, stay)


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
