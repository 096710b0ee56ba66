"""What is measured of features: their second moments, what they explain, and how far they are from given ones."""

import numpy as np

# Directions in which learned features vary less than this, relative to their largest second moment, are rounding.
NEGLIGIBLE = 1e-10


def operator_norm(features: np.ndarray) -> np.ndarray:
    """Return M_{h,op} = |(1/n) sum_i h_i h_i^T|_op^{1/2} / max_i |h_i| of features (S, n, D) -> (S,) float64.

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
    """Return the variance of values (n, c) around the means of their groups (n,), over that around the mean of all.

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
    """Return the part of the variance of values (n,) that a linear function of features (n, c) and a constant explains.

    Fitted on the even rows by least squares and measured on the odd ones, so that it may be below 0. NaN where nothing
    varies.
    """
    values, lifted = np.asarray(values, np.float64), np.column_stack([features, np.ones(len(features))])
    coefficients = np.linalg.lstsq(lifted[::2], values[::2], rcond=1e-10)[0]
    left, total = values[1::2] - lifted[1::2] @ coefficients, values[1::2] - values[1::2].mean()
    return float(1 - np.sum(left**2) / np.sum(total**2)) if np.any(total) else np.nan


def unexplained_variance(
    features: np.ndarray, targets: np.ndarray, held_out_features: np.ndarray, held_out_targets: np.ndarray
) -> np.ndarray:
    """Return 1 - R^2 on held-out points of targets regressed on features and a constant, the mean over targets.

    features (S, n, D), targets (S, n, b); held out: (S, n', D), (S, n', b) -> (S,) float64. A minimum-norm least
    squares fit in float64; R^2 is against the variance of the held-out targets.
    """
    values = []
    for h, y, h_new, y_new in zip(features, targets, held_out_features, held_out_targets, strict=True):
        design = np.concatenate([h.astype(np.float64), np.ones((len(h), 1))], axis=1)
        moment, cross = design.T @ design, design.T @ y
        scale, rotation = np.linalg.eigh(moment)
        keep = scale > 1e-10 * scale[-1]
        weights = rotation[:, keep] @ ((rotation[:, keep].T @ cross) / scale[keep, None])
        design = np.concatenate([h_new.astype(np.float64), np.ones((len(h_new), 1))], axis=1)
        residual = np.mean((y_new - design @ weights) ** 2, axis=0)
        values.append(np.mean(residual / np.var(y_new, axis=0)))
    return np.array(values)


def feature_errors(learned: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return min_U E|U S - S*|^2, min_B E|B S - S*|^2 and min_V E|S - V S*|^2, over E|S*|^2  (allenzhu2020, Theorem 2).

    learned S (..., n, m), wanted S* (..., n, k), float64, means over the n points -> (3, ...). U has orthonormal rows,
    where m < k columns: the polar factor of the cross moment, which is the best one for m = k and for S of rank k; what
    wider features carry beside is not counted. B is any matrix. V has orthonormal columns, where m < k rows: here all
    counts that wide features carry. The first and the third agree for m = k. NaN where the features are not finite.
    """
    finite, count = np.isfinite(learned).all(axis=(-2, -1)), wanted.shape[-2]
    if not finite.all():
        learned = np.where(finite[..., None, None], learned, 0.0)
    # By moments: errors of outputs that are 1e-12 of their size keep three digits, in a fifth of the time.
    size = np.sum(wanted * wanted, axis=(-2, -1)) / count
    cross, moment = learned.mT @ wanted / count, learned.mT @ learned / count
    left, singular, right = np.linalg.svd(cross, full_matrices=False)
    linear_map = np.linalg.pinv(moment, rcond=NEGLIGIBLE, hermitian=True) @ cross
    rotated, linear = (
        size + np.sum(best * (moment @ best - 2.0 * cross), axis=(-2, -1)) for best in (left @ right, linear_map)
    )
    whole = size + np.trace(moment, axis1=-2, axis2=-1) - 2.0 * np.sum(singular, axis=-1)
    return np.where(finite, np.maximum(np.stack([rotated, linear, whole]) / size, 0.0), np.nan)
