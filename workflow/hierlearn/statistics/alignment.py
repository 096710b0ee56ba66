"""How far learned features are from given ones, up to a rotation or up to a linear map."""

import numpy as np

# Directions in which learned features vary less than this, relative to their largest second moment, are rounding.
NEGLIGIBLE = 1e-10


def feature_errors(learned: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """min_U E|U S - S*|^2, min_B E|B S - S*|^2 and min_V E|S - V S*|^2, over E|S*|^2  (allenzhu2020, Theorem 2).

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
