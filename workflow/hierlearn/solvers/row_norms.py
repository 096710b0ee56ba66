"""Least squares with the fourth powers of row norms as the penalty, by ridge regressions with weights of their own."""

from dataclasses import dataclass

import numpy as np
import scipy

# What a row counts as at the least, of the mean of all: a gate that is never on leaves it 0.
_LEAST = 1e-12


@dataclass(frozen=True)
class RowFit:
    """Weights (m, D) float64, the objective there, its relative error, and ridge regressions made.

    error: 1/2 sum_r |gradient_r| |w_r| over the objective, a relative size of the gradient: of what a regression gives
    it is 0 at the minimum alone.
    """

    weights: np.ndarray
    objective: float
    error: float
    steps: int


def fit_rows(
    features: np.ndarray,
    gates: np.ndarray,
    targets: np.ndarray,
    ridge: float,
    sizes: np.ndarray | None = None,
    tolerance: float = 1e-3,
    most: int = 60,
) -> RowFit:
    """Minimum over W of mean_i (y_i - sum_r g_ir <w_r, h_i>)^2 + ridge sum_r |w_r|^4  (bai2020, Section 7).

    features (n, D), gates (n, m), targets (n,) float64, ridge > 0; sizes (m,): squared norms of rows to begin with. At
    the minimum W is that of a ridge regression in which row r has the ridge 2 ridge |w_r|^2; the squared norms go a
    third of the way, in logarithms, to those of the regression that they give: at interpolation norms are as the
    inverse of these ridges, so that this is Newton's step. Ends at an error of tolerance, or after `most` regressions.
    Raises LinAlgError where rounding leaves a singular matrix.
    """
    n, products, steps = len(features), features @ features.T, 0
    sizes = np.ones(gates.shape[1]) if sizes is None else np.asarray(sizes, np.float64)
    while True:
        # All are 0 where no gate is on, and for targets of 0.
        sizes, steps = np.maximum(sizes, _LEAST * sizes.mean() or 1.0), steps + 1
        own = 2.0 * ridge * sizes
        matrix = ((gates / own) @ gates.T) * products
        matrix[np.diag_indices(n)] += n
        alpha = scipy.linalg.cho_solve(scipy.linalg.cho_factor(matrix, lower=True, check_finite=False), targets)
        weights = ((gates * alpha[:, None]).T @ features) / own[:, None]
        found = np.vecdot(weights, weights)
        # n alpha is what the regression leaves of the targets.
        objective = float(np.mean((n * alpha) ** 2) + ridge * np.sum(found**2))
        # The regression's gradient is 0, and the objective's differs from it by the sizes alone.
        error = float(2.0 * ridge * np.sum(np.abs(found - sizes) * found)) / (objective or 1.0)
        if error <= tolerance or steps == most:
            return RowFit(weights, objective, error, steps)
        sizes *= (np.maximum(found, _LEAST * found.mean()) / sizes) ** (1.0 / 3.0)
