"""Exact ridge regression over many ridges at once, float64: kernel (dual), leave-one-out, and linear (primal).

All solve min_f (1/n) sum_i |f(x_i) - y_i|^2 + ridge |f|^2, so the dual system is (K + n ridge I) alpha = y. A penalty
of fourth powers of row norms is reached by regressions in which every row has a ridge of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

_CHECK_EVERY = 16
# Sweeps of fewer steps resolve no ridge that learners try. From there on, a sweep ends that at its pace so far would
# take this many times the steps that it has to resolve the next ridge.
_LEAST_STEPS, _EARLY_CHECKS, _HOPELESS = 5, 3, 1.5
# One float64 Cholesky costs as much as about n / 40 products with the kernel (n = 4000, one thread).
_PRODUCTS_PER_CHOLESKY = 1 / 40
# A full eigendecomposition costs about this many Cholesky factorisations.
_CHOLESKYS_PER_EIGH = 14
# What a sweep for many ridges may cost, in factorisations. For fewer than so many it may cost less, by the square of
# their share: a sweep resolves the larger ridges alone, and the others are factored after all.
_BUDGET, _MANY_RIDGES = 2.0, 7
# What it may cost at the least where a ridge is so large a part of the kernel's trace that few steps resolve it.
_LEAST_BUDGET, _LARGE_RIDGE = 0.6, 0.05
# What a row counts as at the least, of the mean of all: a gate that is never on leaves it 0.
_LEAST_ROW = 1e-12


class Indefinite(ValueError):
    """A kernel matrix that is not positive semi-definite to rounding, or not positive definite with its ridge."""


@dataclass(frozen=True)
class Duals:
    """Solutions of (K + n ridge I) alpha = y: coefficients (R, n, k) and residuals (R,) = |r| / |y|, float64.

    method: "lanczos", or "lanczos+cholesky" / "lanczos+eigh" where some or all ridges were solved by a factorisation.
    """

    coefficients: np.ndarray
    residuals: np.ndarray
    method: str


def ridge_path(
    kernel: np.ndarray, targets: np.ndarray, ridges: np.ndarray, tolerance: float = 1e-9, budget: float | None = None
) -> Duals:
    """Solve kernel ridge regression for all ridges from one Krylov space.

    kernel (n, n) symmetric positive semi-definite, targets (n, k) or (n,), ridges (R,) >= 0 -> `Duals` (float64),
    in the order of the ridges. A block Lanczos sweep with full reorthogonalisation serves every ridge by shifted
    projected solves, until each relative residual is at most `tolerance` or the cost reaches `budget` Cholesky
    factorisations (by default two for seven ridges or more, and less for fewer); ridges still unresolved are solved by
    Cholesky, or by one eigendecomposition if they are many.
    A kernel of zeros predicts 0 whatever its coefficients: at ridge 0 they are 0, with a residual of 1.
    Raises ValueError for shapes that do not fit, entries that are not finite, and a ridge too small to make the kernel
    positive definite, or to outweigh twice a negative eigenvalue beyond rounding.
    """
    kernel, targets, ridges = _check(kernel, targets, ridges)
    n = len(kernel)
    shifts = n * ridges
    # Orthonormal columns with the rank of the targets: dependent targets would break the block recurrence.
    left, sizes, right = np.linalg.svd(targets, full_matrices=False)
    rank = int(np.sum(sizes > sizes[0] * n * np.finfo(float).eps)) if sizes[0] > 0.0 else 0
    if rank == 0:
        return Duals(np.zeros((len(ridges), *targets.shape)), np.zeros(len(ridges)), "lanczos")
    if not shifts.all() and not np.diag(kernel).any() and not kernel.any():
        inverse = np.divide(1.0, shifts, out=np.zeros(len(shifts)), where=shifts > 0.0)
        return Duals(inverse[:, None, None] * targets, np.where(shifts > 0.0, 0.0, 1.0), "lanczos")
    mix = sizes[:rank, None] * right[:rank]
    if budget is None:
        large = shifts.max() >= _LARGE_RIDGE * np.trace(kernel)
        budget = max(_BUDGET * min(1.0, len(ridges) / _MANY_RIDGES) ** 2, _LEAST_BUDGET if large else 0.0)
    products = max(int(budget * n * _PRODUCTS_PER_CHOLESKY / (1.0 + 0.25 * (rank - 1))), 1)
    steps = min(products, n // rank)
    coefficients = _lanczos(kernel, left[:, :rank], mix, shifts, tolerance, steps) if steps >= _LEAST_STEPS else None
    if coefficients is None:
        coefficients, residuals = np.empty((len(ridges), *targets.shape)), np.full(len(ridges), np.inf)
    else:
        residuals = _residuals(kernel, targets, shifts, coefficients)
    open_ridges = np.flatnonzero(~(residuals <= tolerance))
    method = "lanczos"
    if len(open_ridges) > _CHOLESKYS_PER_EIGH:
        method = "lanczos+eigh"
        values, vectors = scipy.linalg.eigh(kernel, check_finite=False)
        _refuse_negative(values[0], values[-1], n, shifts[open_ridges].min())
        projected = vectors.T @ targets
        for index in open_ridges:
            if not values[0] + shifts[index] > 0.0:
                raise Indefinite(f"kernel plus ridge is not positive definite: eigenvalue {values[0]:.3g}")
            coefficients[index] = vectors @ (projected / (values + shifts[index])[:, None])
    elif len(open_ridges):
        method = "lanczos+cholesky"
        for index in open_ridges:
            coefficients[index] = scipy.linalg.cho_solve(_factor(kernel, shifts[index]), targets, check_finite=False)
    if len(open_ridges):
        residuals[open_ridges] = _residuals(kernel, targets, shifts[open_ridges], coefficients[open_ridges])
    return Duals(coefficients, residuals, method)


def usable_paths(
    kernels: Sequence[np.ndarray], targets: Sequence[np.ndarray], ridges: np.ndarray
) -> tuple[np.ndarray, list[Duals] | None]:
    """Return positions of the ridges for which all systems can be solved, and the `Duals` of every system there.

    kernels (n, n) each, targets (n, k) each, ridges (R,) -> (R',) int, list; ([], None) where no ridge is left. Ridges
    beyond the range go first, then the smallest, until no matrix is `Indefinite`. Raises ValueError as `ridge_path`.
    """
    with np.errstate(over="ignore"):
        left = np.flatnonzero(np.isfinite(len(kernels[0]) * ridges))
    while len(left):
        try:
            pairs = zip(kernels, targets, strict=True)
            return left, [ridge_path(kernel, columns, ridges[left]) for kernel, columns in pairs]
        except Indefinite:
            left = np.delete(left, np.argmin(ridges[left]))
    return left, None


def _check(
    matrix: np.ndarray, targets: np.ndarray, ridges: np.ndarray, square: bool = True
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    matrix, targets, ridges = (np.asarray(values, np.float64) for values in (matrix, targets, ridges))
    targets = targets[:, None] if targets.ndim == 1 else targets
    fits = matrix.ndim == 2 and len(targets) == len(matrix) and ridges.ndim == 1
    if not fits or (square and matrix.shape[0] != matrix.shape[1]):
        raise ValueError(f"shapes do not fit: matrix {matrix.shape}, targets {targets.shape}, ridges {ridges.shape}")
    # A sum is not finite if an entry is not: no temporary of the kernel's size.
    if not (np.isfinite(matrix.sum()) and np.isfinite(targets).all() and np.isfinite(ridges).all()):
        raise ValueError("matrix, targets and ridges must be finite")
    if np.any(ridges < 0.0):
        raise ValueError("ridges must not be negative")
    return matrix, targets, ridges


def _refuse_negative(smallest: float, largest: float, n: int, shift: float) -> None:
    # A cosine near 1 has an angle with half of its digits: a ridge mends what that leaves.
    if smallest < -10.0 * n * np.finfo(float).eps * largest and shift < -2.0 * smallest:
        raise Indefinite(f"kernel is not positive semi-definite: eigenvalue {smallest:.3g} beside {largest:.3g}")


def _factor(kernel: np.ndarray, shift: float) -> tuple[np.ndarray, bool]:
    shifted = kernel.copy()
    shifted[np.diag_indices(len(kernel))] += shift
    try:
        # The transpose of a symmetric C-ordered matrix is factored in place.
        return scipy.linalg.cho_factor(shifted.T, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError as error:
        raise Indefinite(f"kernel plus {shift:.3g} on its diagonal is not positive definite") from error


def _residuals(kernel: np.ndarray, targets: np.ndarray, shifts: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    flat = np.moveaxis(coefficients, 0, 1).reshape(len(kernel), -1)
    image = np.moveaxis((kernel @ flat).reshape(len(kernel), *coefficients.shape[::2]), 1, 0)
    image += shifts[:, None, None] * coefficients
    return np.linalg.norm(image - targets, axis=(1, 2)) / np.linalg.norm(targets)


def _lanczos(
    kernel: np.ndarray, block: np.ndarray, mix: np.ndarray, shifts: np.ndarray, tolerance: float, steps: int
) -> np.ndarray | None:
    """Block Lanczos from orthonormal columns (n, b) for targets block @ mix -> coefficients (R, n, k).

    None where no ridge will be resolved in that many steps.
    """
    n, width = block.shape
    basis = np.empty(((steps + 1) * width, n))
    basis[:width] = block.T
    projected = np.zeros(((steps + 1) * width, (steps + 1) * width))
    target_norm = np.linalg.norm(mix)
    answer, used, check = np.zeros((len(shifts), 0, mix.shape[1])), 0, _LEAST_STEPS
    for step in range(steps):
        low, high = step * width, (step + 1) * width
        newest = basis[low:high].T
        image = (
            scipy.linalg.blas.dsymv(1.0, kernel.T, newest[:, 0])[None]
            if width == 1
            else scipy.linalg.blas.dsymm(1.0, kernel.T, newest).T
        )
        diagonal = image @ newest
        projected[low:high, low:high] = 0.5 * (diagonal + diagonal.T)
        for _ in range(2):
            image -= (image @ basis[:high].T) @ basis[:high]
        q, r = np.linalg.qr(image.T)
        used = high
        broken = np.linalg.norm(r) <= n * np.finfo(float).eps * np.linalg.norm(diagonal)
        if step + 1 >= check or step + 1 == steps or broken:
            values, vectors = np.linalg.eigh(projected[:high, :high])
            _refuse_negative(values[0], values[-1], n, shifts.min())
            inverse = 1.0 / (values + np.where(shifts == 0.0, np.finfo(float).tiny, shifts)[:, None])
            answer = np.einsum("aj,rj,bj->rab", vectors, inverse, vectors[:width]) @ mix
            error = np.linalg.norm(r @ answer[:, low:high], axis=(1, 2)) / target_norm
            left = error[~(error <= 0.3 * tolerance)]
            if not len(left) or broken:
                break
            if step + 1 < _CHECK_EVERY:
                pace = np.log(np.clip(left.min(), np.finfo(float).tiny, 0.99)) / (step + 1)
                if np.log(tolerance) / pace > _HOPELESS * steps:
                    if len(left) == len(shifts):
                        return None
                    break
            check = max(step + 1 + (_EARLY_CHECKS if step + 1 < _CHECK_EVERY else _CHECK_EVERY), int(1.2 * (step + 1)))
        # Directions lost to a partial breakdown come out of QR arbitrary: make them orthogonal to the basis too.
        q -= basis[:high].T @ (basis[:high] @ q)
        basis[high : high + width] = np.linalg.qr(q)[0].T if width > 1 else q.T / np.linalg.norm(q)
        projected[high : high + width, low:high] = r
        projected[low:high, high : high + width] = r.T
    return np.einsum("rak,an->rnk", answer, basis[:used], optimize=True)


def leave_one_out(kernel: np.ndarray, targets: np.ndarray, ridge: float) -> np.ndarray:
    """Return leave-one-out errors y_i - f_{-i}(x_i) of kernel ridge regression.

    kernel (n, n), targets (n, k) or (n,), ridge > 0 -> (n, k) float64. With A = (K + n ridge I)^{-1} the error is
    (A y)_i / A_ii; the fits without a sample keep the shift n ridge. A kernel of zeros leaves the targets, at ridge 0
    too. Raises ValueError as `ridge_path`.
    """
    kernel, targets, ridges = _check(kernel, targets, np.array([ridge]))
    if not np.diag(kernel).any() and not kernel.any():
        return targets.copy()
    factor = _factor(kernel, len(kernel) * ridges[0])
    values = scipy.linalg.cho_solve(factor, targets, check_finite=False)
    inverse, _ = scipy.linalg.lapack.dpotri(factor[0], lower=True, overwrite_c=True)
    return values / np.diag(inverse)[:, None]


def linear_ridge_path(features: np.ndarray, targets: np.ndarray, ridges: np.ndarray) -> np.ndarray:
    """Return weights of linear ridge regression, (1/n) |H w - y|^2 + ridge |w|^2, for all ridges by one factorisation.

    features (n, D), targets (n, k) or (n,), ridges (R,) >= 0 -> (R, D, k) float64; ridge 0 gives the least-norm
    solution. QR of [H, y] and then an SVD of R, so that the condition number is not squared. Raises ValueError for
    shapes that do not fit and entries that are not finite.
    """
    features, targets, ridges = _check(features, targets, np.minimum(ridges, np.finfo(float).max), square=False)
    n, dimension = features.shape
    triangle = np.asarray(np.linalg.qr(np.hstack([features, targets]), mode="r"))
    left, sizes, right = np.linalg.svd(triangle[:, :dimension], full_matrices=False)
    projected = left.T @ triangle[:, dimension:]
    kept = sizes > sizes.max(initial=0.0) * max(n, dimension) * np.finfo(float).eps
    sizes, projected, right = sizes[kept], projected[kept], right[kept]
    # At a ridge that overflows the weights are 0.
    with np.errstate(over="ignore"):
        factors = sizes / (sizes**2 + n * ridges[:, None])
    return np.einsum("jd,rj,jk->rdk", right, factors, projected, optimize=True)


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
    """Minimise mean_i (y_i - sum_r g_ir <w_r, h_i>)^2 + ridge sum_r |w_r|^4 over W  (bai2020, Section 7).

    features (n, D), gates (n, m), targets (n,) float64, ridge > 0; sizes (m,): squared norms of rows to begin with. At
    the minimum W is that of a ridge regression in which row r has the ridge 2 ridge |w_r|^2; the squared norms go a
    third of the way, in logarithms, to those of the regression that they give: at interpolation norms are as the
    inverse of these ridges, so that this is Newton's step. Ends at an error of tolerance, or after `most` regressions.
    Raises LinAlgError where rounding leaves a singular matrix, or the ridge is not finite.
    """
    if not np.isfinite(ridge):
        raise np.linalg.LinAlgError(f"ridge {ridge}; expected a finite one")
    n, products, steps = len(features), features @ features.T, 0
    sizes = np.ones(gates.shape[1]) if sizes is None else np.asarray(sizes, np.float64)
    while True:
        # All are 0 where no gate is on, and for targets of 0.
        sizes, steps = np.maximum(sizes, _LEAST_ROW * sizes.mean() or 1.0), steps + 1
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
        sizes *= (np.maximum(found, _LEAST_ROW * found.mean()) / sizes) ** (1.0 / 3.0)
