"""Kernel ridge regression that diverges for one seed, and says that it was trained in steps; only tests use it."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from hierlearn.core.protocols import STATUS, Fit, Learner
from hierlearn.kernels.ntk_raw import NtkRaw
from hierlearn.learners.kernel_ridge import KernelRidge


@dataclass(frozen=True)
class Failing(Learner):
    """As its kernel, but NaN for seed 1."""

    batch_seeds: ClassVar[bool] = False
    MEASURES: ClassVar[dict[str, str]] = KernelRidge.MEASURES
    TRACES: ClassVar[dict[str, str]] = {"train_loss": "squared error on the training points"}

    def fit(self, sample, monitor, cache) -> Fit:
        """State: that of kernel ridge regression, NaN where the seed failed."""
        chosen = replace(sample, choices={"ridge": [1e-3]})
        fit = KernelRidge(kernel=NtkRaw()).fit(chosen, monitor, cache)
        failed = np.array([seed == 1 for seed in sample.data.seeds])
        fit.state["coefficients"][failed] = np.nan
        fit.validation_risk[failed] = fit.train_risk[failed] = np.nan
        fit.status[failed] = STATUS["diverged"]
        fit.choices = {}
        ends = np.stack([np.ones(len(failed)), fit.train_risk], axis=1)
        fit.trace = {"step": np.tile([0, sample.n], (len(failed), 1)), "train_loss": ends}
        return fit

    def predict(self, state, features, role, count, cache) -> np.ndarray:
        """(S, count, k) float64."""
        return KernelRidge(kernel=NtkRaw()).predict(state, features, role, count, cache)
