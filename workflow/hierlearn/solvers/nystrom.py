"""Kernel ridge regression on landmarks, f(x) = sum_j alpha_j K(x, z_j), from points that come in blocks  (Nystrom).

The objective is (1/n) sum_i |f(x_i) - y_i|^2 + ridge |f|^2 with the norm of K's space. In memory are matrices of the
landmarks' number squared and a block of the kernel; the number of points costs time alone.
"""

from collections.abc import Callable

import numpy as np
import scipy

from hierlearn.solvers.ridge import usable_paths

# Added to the landmarks' kernel, of its mean diagonal, until it can be factored: landmarks may lie close together.
FIRST_JITTER, LARGEST_JITTER = 1e-12, 1e-4

# A block of points (b, d) -> its kernel with the landmarks, (b, m) float64.
Rows = Callable[[np.ndarray], np.ndarray]


class Nystrom:
    """Sums over points that landmarks need.

    In the basis R of the landmarks' kernel K = R^T R the features of a point are R^{-T} k(x), so that the regression is
    an ordinary one with the identity as penalty. moment: sum_i w_i k_i k_i^T, the lower triangle of a Fortran-ordered
    (m, m) matrix; correlation: sum_i w_i k_i y_i^T, (m, k); weight: sum_i w_i.
    """

    def __init__(self, kernel: np.ndarray, outputs: int):
        """Factor the kernel of the landmarks, (m, m) float64. Raises ValueError where it is not positive definite."""
        self.root, self.outputs = _root(kernel), outputs
        self.clear()

    def clear(self) -> None:
        """Forget all points."""
        count = len(self.root)
        self.moment = np.zeros((count, count), order="F")
        self.correlation, self.weight = np.zeros((count, self.outputs)), 0.0

    def add(self, rows: np.ndarray, labels: np.ndarray, weights: np.ndarray | None = None) -> None:
        """Add a block: its kernel with the landmarks (b, m), which is overwritten, labels (b, k) and weights (b,)."""
        if weights is not None:
            root = np.sqrt(weights)[:, None]
            rows *= root
            labels = labels * root
        self.weight += float(len(rows) if weights is None else np.sum(weights))
        self.correlation += rows.T @ labels
        # In place, one triangle: half of a product's operations and no temporary.
        self.moment = scipy.linalg.blas.dsyrk(1.0, rows.T, beta=1.0, c=self.moment, lower=True, overwrite_c=True)

    def solve(self, ridges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients of the landmarks for every ridge that leaves a regular matrix.

        ridges (R,) > 0 in the kernel's units -> their positions (R',) int and coefficients (R', m, k) float64; none
        where no ridge is large enough.
        """
        moment = np.tril(self.moment) + np.tril(self.moment, -1).T
        # R^{-T} M R^{-1}: solving with R^T on one side and then, of the transpose, on the other.
        for _ in range(2):
            moment = scipy.linalg.solve_triangular(self.root, moment.T, trans="T", overwrite_b=True, check_finite=False)
        moment = (moment + moment.T) / 2
        targets = scipy.linalg.solve_triangular(self.root, self.correlation, trans="T", check_finite=False)
        # The path divides by the matrix's size, the regression by the points' number.
        scaled = np.asarray(ridges, np.float64) * self.weight / len(moment)
        usable, paths = usable_paths([moment], [targets], scaled)
        if paths is None:
            return np.empty(0, int), np.empty((0, *targets.shape))
        flat = np.concatenate(list(paths[0].coefficients), axis=1)
        flat = scipy.linalg.solve_triangular(self.root, flat, check_finite=False)
        return usable, np.stack(np.split(flat, len(usable), axis=1))


def _root(kernel: np.ndarray) -> np.ndarray:
    """R (m, m), upper triangular, with R^T R = K + jitter I for the smallest jitter that works."""
    unit, jitter = float(np.mean(np.diag(kernel))), FIRST_JITTER
    while jitter <= LARGEST_JITTER:
        shifted = kernel.copy()
        shifted[np.diag_indices(len(kernel))] += jitter * unit
        try:
            return scipy.linalg.cholesky(shifted, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            jitter *= 10.0
    raise ValueError(
        f"kernel of {len(kernel)} landmarks is not positive definite; expected a kernel, or other landmarks"
    )
