"""What counts as the error of predictions, and which of several fits is kept."""

import numpy as np

from hierlearn.problem import wrong_signs


def error(predictions: np.ndarray, labels: np.ndarray, kind: str) -> np.ndarray:
    """Mean squared error summed over outputs; for classes the share of wrong signs. (..., n, k), (n, k) -> (...)."""
    if kind == "classes":
        return wrong_signs(predictions, labels)
    return np.mean(np.sum((predictions - labels) ** 2, axis=-1), axis=-1)


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
