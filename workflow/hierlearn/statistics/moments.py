"""Second moments of features."""

import numpy as np


def operator_norm(features: np.ndarray) -> np.ndarray:
    """M_{h,op} = |(1/n) sum_i h_i h_i^T|_op^{1/2} / max_i |h_i| of features (S, n, D) -> (S,) float64.

    Dimensionless: 1/sqrt(D) where no direction stands out and norms are equal (chen2020, Theorem 1), 1 where all points
    lie in one direction. The finite n keeps it from falling below about 1/sqrt(n).
    """
    values = []
    for h in features:
        h = h.astype(np.float64)
        # The smaller of the two matrices with the same largest eigenvalue.
        gram = h.T @ h if h.shape[1] <= len(h) else h @ h.T
        largest = float(np.max(np.linalg.norm(h, axis=1)))
        values.append(np.sqrt(np.linalg.eigvalsh(gram)[-1] / len(h)) / largest if largest else np.nan)
    return np.array(values)


def share_within(values: np.ndarray, groups: np.ndarray) -> float:
    """Variance of values (n, c) around the means of their groups (n,), over that around the mean of all: of all c.

    NaN where nothing varies.
    """
    values = np.asarray(values, np.float64)
    _, place, counts = np.unique(groups, return_inverse=True, return_counts=True)
    sums = np.zeros((len(counts), values.shape[1]))
    np.add.at(sums, place, values)
    within = values - (sums / counts[:, None])[place]
    total = np.sum((values - values.mean(axis=0)) ** 2)
    return float(np.sum(within**2) / total) if total > 0 else np.nan


def share_explained(values: np.ndarray, features: np.ndarray) -> float:
    """Part of the variance of values (n,) that a linear function of features (n, c) and a constant explains.

    Fitted on the even rows by least squares and measured on the odd ones, so that it may be below 0. NaN where nothing
    varies.
    """
    values, lifted = np.asarray(values, np.float64), np.column_stack([features, np.ones(len(features))])
    coefficients = np.linalg.lstsq(lifted[::2], values[::2], rcond=1e-10)[0]
    left, total = values[1::2] - lifted[1::2] @ coefficients, values[1::2] - values[1::2].mean()
    return float(1 - np.sum(left**2) / np.sum(total**2)) if np.any(total) else np.nan
