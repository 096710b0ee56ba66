"""How far learned features are from given ones, up to a rotation or up to a linear map."""

import numpy as np

# Directions in which learned features vary less than this, relative to their largest second moment, are rounding.
NEGLIGIBLE = 1e-10


def feature_errors(learned: np.ndarray, wanted: np.ndarray) -> tuple[float, float]:
    """min_U E|U S - S*|^2 and min_B E|B S - S*|^2, both over E|S*|^2  (allenzhu2020, Theorem 2).

    learned S (n, m), wanted S* (n, k), float64, means over the n points. U has orthonormal rows, where m < k columns:
    the polar factor of the cross moment, which is the best one for m = k and for S of rank k; what wider features carry
    beside is not counted. B is any matrix. NaN where the features are not finite.
    """
    if not np.isfinite(learned).all():
        return np.nan, np.nan
    count, size = len(wanted), np.mean(np.sum(wanted**2, axis=1))
    cross = learned.T @ wanted / count
    left, _, right = np.linalg.svd(cross, full_matrices=False)
    rotated = learned @ (left @ right)
    mapped = learned @ (np.linalg.pinv(learned.T @ learned / count, rcond=NEGLIGIBLE, hermitian=True) @ cross)
    squares = (np.mean(np.sum((values - wanted) ** 2, axis=1)) for values in (rotated, mapped))
    rotation, linear = (square / size for square in squares)
    return rotation, linear
