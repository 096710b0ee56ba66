"""Kernel ridge regression along a walk: Gram matrices that grow with the sample, and the ridge chosen on validation."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hierlearn.core import contracts
from hierlearn.core.protocols import STATUS
from hierlearn.learners._selection import best_on_validation, error
from hierlearn.solvers.ridge import usable_paths

log = logging.getLogger("hierlearn")
Gram = Callable[..., np.ndarray]


@dataclass(frozen=True)
class DualFit:
    """coefficients (n, k) float64 of the chosen ridge; risks in squared error summed over outputs.

    validation_loss: the squared error where validation_risk is the share of wrong signs, else the same.

    residual: |(K + n ridge I) alpha - y| / |y|.
    """

    coefficients: np.ndarray
    ridge: float
    residual: float
    validation_risk: float
    validation_loss: float
    train_risk: float
    status: int
    flops: float  # products of coefficients with Gram matrices

    @property
    def parts(self) -> dict[str, Any]:
        """What `fit_of_seed` takes of it, beside a state."""
        same = {name: vars(self)[name] for name in ("status", "validation_risk", "train_risk", "flops")}
        return same | {"choices": {"ridge": self.ridge}, "measures": {"ridge_residual": self.residual}}


def gram_matrix(kernel: Gram, x: np.ndarray, cache: dict[Any, Any], key: Any) -> np.ndarray:
    """Return the Gram matrix of x (n, D); rows that `cache` holds from a smaller n are not computed again."""
    before: Any = cache.get(key)
    old = 0 if before is None else len(before)
    if not old:
        # No second matrix of this size.
        cache[key] = before = contracts.gram(kernel, x).astype(np.float64, copy=False)
    elif old < len(x):
        gram = np.empty((len(x), len(x)))
        gram[:old, :old] = before
        gram[old:, :old] = contracts.gram(kernel, x[old:], x[:old])
        gram[:old, old:] = gram[old:, :old].T
        gram[old:, old:] = contracts.gram(kernel, x[old:])
        cache[key] = before = gram
    return before[: len(x), : len(x)]


def cross_gram_matrix(kernel: Gram, x: np.ndarray, z: np.ndarray, cache: dict[Any, Any], key: Any) -> np.ndarray:
    """kernel(x, z) (n, n'); columns that `cache` holds from a smaller n' are not computed again."""
    before: Any = cache.get(key)
    old = 0 if before is None else before.shape[1]
    if old < len(z):
        new = contracts.gram(kernel, x, z[old:])
        cache[key] = before = np.concatenate([before, new], axis=1) if old else new
    return before[:, : len(z)]


def no_fit(labels: np.ndarray, ridge: float, status: str) -> DualFit:
    """Return a fit that is none, for a reason: a name of STATUS."""
    unknown = np.nan, np.nan, np.nan, np.nan
    return DualFit(np.full(labels.shape, np.nan), float(ridge), *unknown, STATUS[status], 0.0)


def say_dropped(learner: str, n: int, ridges: np.ndarray, absolute: np.ndarray, usable: np.ndarray) -> None:
    """Log which ridges cannot be chosen, and why; absolute: as they enter the matrix, usable: positions of others."""
    dropped = np.delete(np.arange(len(ridges)), usable)
    with np.errstate(over="ignore"):
        finite = np.isfinite(n * absolute[dropped])
    for kept, reason in ((finite, "leave a singular matrix; use larger ones"), (~finite, "overflow; use smaller ones")):
        if kept.any():
            log.warning("%s: n = %d: the ridges %s %s", learner, n, ridges[dropped[kept]].tolist(), reason)


def fit_dual(
    gram: np.ndarray,
    labels: np.ndarray,
    validation_gram: np.ndarray,
    validation_labels: np.ndarray,
    ridges: ArrayLike,
    kind: str = "regression",
) -> DualFit:
    """(K + n ridge mean(diag K) I) alpha = y for every ridge; the best one on validation points is kept.

    gram (n, n) float64, labels (n, k), validation_gram (n', n), validation_labels (n', k). kind: of the teacher; for
    classes validation_risk is the share of wrong signs. Ridges that are too small to make the matrix positive definite
    or so large that they overflow cannot be chosen, which the log says; without any other the status is `singular` and
    the coefficients are NaN. A Gram matrix of zeros has the fit f = 0.
    """
    n = len(gram)
    offered = np.asarray(ridges, dtype=np.float64)
    with np.errstate(over="ignore"):
        absolute = offered * np.mean(np.diag(gram))
    usable, paths = usable_paths([gram], [labels], absolute)
    if paths is None:
        return no_fit(labels, offered[0], "singular")
    if len(usable) < len(offered):
        say_dropped("kernel ridge", n, offered, absolute, usable)
        offered, absolute = offered[usable], absolute[usable]
    (duals,) = paths
    # One product for all ridges: the Gram matrix is read once.
    columns = np.moveaxis(duals.coefficients, 0, 1).reshape(n, -1)
    outputs = (validation_gram @ columns).reshape(len(validation_gram), *duals.coefficients.shape[::2])
    predictions = np.moveaxis(outputs, 1, 0)
    best = best_on_validation(predictions, validation_labels, kind)
    alpha = duals.coefficients[best]
    return DualFit(
        coefficients=alpha,
        ridge=float(offered[best]),
        residual=float(duals.residuals[best]),
        validation_risk=float(error(predictions[best], validation_labels, kind)),
        validation_loss=float(error(predictions[best], validation_labels, "regression")),
        # K alpha - y = -n ridge alpha at the solution, so the training error needs no further product; K = 0 has none.
        train_risk=float(error(labels - n * absolute[best] * alpha if absolute[best] else 0 * labels, labels, kind)),
        status=STATUS["ok" if np.isfinite(alpha).all() else "diverged"],
        flops=2.0 * labels.shape[1] * len(offered) * n * (n + len(validation_gram)),
    )
