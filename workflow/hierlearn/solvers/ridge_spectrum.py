"""Kernel ridge regression for many ridges by one eigendecomposition, with exact leave-one-out errors at each."""

from dataclasses import dataclass

import numpy as np
import scipy

# Bytes of a block of squared eigenvectors: the full square would be a second matrix of the kernel's size.
BLOCK_BYTES = 1 << 26


@dataclass(frozen=True)
class LeaveOneOut:
    """What leaving out each point in turn gives, for every ridge.

    coefficients (R, n, k) solve (K + n ridge I) alpha = y; errors (R, n, k) are y_i - f_{-i}(x_i). Both are NaN at a
    ridge too small to make the kernel positive definite to rounding. float64.
    """

    coefficients: np.ndarray
    errors: np.ndarray


def leave_one_out_path(kernel: np.ndarray, targets: np.ndarray, ridges: np.ndarray) -> LeaveOneOut:
    """Solve kernel ridge regression and compute its exact leave-one-out errors for every ridge.

    kernel (n, n) float64, symmetric positive semi-definite, which this call overwrites; targets (n, k) or (n,); ridges
    (R,) >= 0. With K = V diag(s) V^T and A = (K + n ridge I)^{-1} the error is (A y)_i / A_ii, and
    A_ii = sum_j V_ij^2 / (s_j + n ridge): one decomposition serves every ridge. The fits without a point keep the shift
    n ridge. Raises ValueError for shapes that do not fit, negative ridges and entries that are not finite.
    """
    kernel, targets, ridges = (np.asarray(values, np.float64) for values in (kernel, targets, ridges))
    targets = targets[:, None] if targets.ndim == 1 else targets
    n = len(kernel)
    if kernel.shape != (n, n) or len(targets) != n or ridges.ndim != 1:
        raise ValueError(f"shapes do not fit: kernel {kernel.shape}, targets {targets.shape}, ridges {ridges.shape}")
    if not (np.isfinite(kernel.sum()) and np.isfinite(targets).all() and np.isfinite(ridges).all()):
        raise ValueError("kernel, targets and ridges must be finite")
    if np.any(ridges < 0.0):
        raise ValueError("ridges must not be negative")
    # The transpose of a symmetric C-ordered matrix is decomposed in place.
    values, vectors = scipy.linalg.eigh(kernel.T, overwrite_a=True, check_finite=False, driver="evd")
    shifted = values[None, :] + n * ridges[:, None]
    rounding = n * np.finfo(float).eps * max(values[-1], 0.0)
    usable = np.min(shifted, axis=1) > rounding
    inverse = np.where(usable[:, None], 1.0 / np.where(shifted > 0.0, shifted, 1.0), np.nan)
    projected = vectors.T @ targets
    columns = (inverse[:, :, None] * projected).transpose(1, 0, 2).reshape(n, -1)
    coefficients = (vectors @ columns).reshape(n, len(ridges), -1).transpose(1, 0, 2)
    diagonal, rows = np.empty((n, len(ridges))), max(1, BLOCK_BYTES // (8 * n))
    for start in range(0, n, rows):
        diagonal[start : start + rows] = np.square(vectors[start : start + rows]) @ inverse.T
    return LeaveOneOut(coefficients, coefficients / diagonal.T[:, :, None])
