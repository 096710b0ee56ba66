"""What counts as the error of predictions, which of several fits is kept, and which of them diverged."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hierlearn.core.problem import wrong_signs
from hierlearn.core.protocols import Monitor

# Measures of learners that train many settings of the steps.
DIVERGED = {
    "diverged_runs": "settings (learning rate, weight decay) whose weights or outputs were not finite at the end",
    "diverged_settings": "sum of 2^i over the settings in diverged_runs, i = 0, 1, ... in the order of the study, the "
    "last choice varying fastest",
}


def error(predictions: np.ndarray, labels: np.ndarray, kind: str) -> np.ndarray:
    """Mean squared error summed over outputs; for classes the share of wrong signs. (..., n, k), (n, k) -> (...).

    NaN where a prediction is not finite: its sign means nothing.
    """
    if kind == "classes":
        found = wrong_signs(predictions, labels)
    else:
        found = np.mean(np.sum((predictions - labels) ** 2, axis=-1), axis=-1)
    return np.where(np.isfinite(predictions).all(axis=(-2, -1)), found, np.nan)


def divergence(finite: np.ndarray) -> dict[str, float]:
    """The measures of DIVERGED of one seed; finite (G,): which settings ended with finite values."""
    lost = np.flatnonzero(~finite)
    return {"diverged_runs": float(len(lost)), "diverged_settings": float(np.sum(2.0**lost))}


def report_divergence(
    monitor: Monitor, samples: int, seed: int, finite: np.ndarray, settings: Sequence[Mapping[str, Any]]
) -> None:
    """A line of the log that names the settings of a seed that diverged, if there are any."""
    lost = [setting for setting, sound in zip(settings, finite, strict=True) if not sound]
    if lost:
        named = "; ".join(", ".join(f"{name} {value}" for name, value in setting.items()) for setting in lost)
        monitor.report(1, 1, f"n = {samples}, seed {seed}: {len(lost)} of {len(settings)} runs diverged: {named}")


def best(errors: np.ndarray, losses: np.ndarray) -> int:
    """Position of the least error (R,), among equal ones of the least loss (R,), then the first; not finite is last."""
    finite = np.where(np.isfinite(losses), losses, np.inf)
    return int(np.lexsort((finite, np.where(np.isfinite(finite), errors, np.inf)))[0])


def validated(predictions: np.ndarray, labels: np.ndarray, kind: str, loss=None) -> int:
    """Which of the predictions (R, n, k) on validation points is kept, judged by labels (n, k).

    Regression: the least mean squared error. Classes: the least share of wrong signs, which often has ties, and among
    those the least mean of `loss`, a function of predictions and labels (squared by default).
    """
    losses = error(predictions, labels, "regression") if loss is None else np.mean(loss(predictions, labels), (-2, -1))
    return best(losses if kind == "regression" else error(predictions, labels, kind), losses)
