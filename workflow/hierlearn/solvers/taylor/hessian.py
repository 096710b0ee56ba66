"""The Taylor objective's Hessian: exact products, and the Gauss-Newton metric.

The Hessian is G + C with G = J^T diag(l''/n) J the Gauss-Newton term, l'' the loss's second derivative in the output,
J the (n, mD) slopes of the outputs, and C the models' own curvature plus the penalty's. At small ridges G is larger
than C by orders of magnitude, and plain Lanczos does not resolve the smallest eigenvalue in any sensible number of
products. Relative to M = G + Delta all that is left to resolve is C, at every ridge alike.
"""

from typing import Any

import numpy as np
import scipy

from hierlearn.solvers.blas_inplace import add_product, outer_products
from hierlearn.solvers.taylor.lanczos import Operator
from hierlearn.solvers.taylor.model import TaylorPoint, row_blocks, row_dots

# A neuron's entry of Delta is at least this share of the mean over neurons: dead ones have no curvature of their own,
# and Delta has to be invertible.
_LEAST_SHARE = 0.1


def hessian_operator(
    point: TaylorPoint,
    scaled_ridge: float,
    *,
    gauss_newton: bool = True,
    features: np.ndarray | None = None,
    outputs: np.ndarray | None = None,
) -> Operator:
    """Return V -> Hessian V of the objective in scaled weights at `point`; both are (m, D), two products each.

    Three terms: Gauss-Newton (loss curvature times output slopes; left out with gauss_newton False), the model's own
    curvature (loss gradient times second derivatives, absent at interpolation), and the penalty's. Exact up to the
    point's dtype, or that of `features`, the problem's in another dtype, in which all is done. outputs (n,): others
    than the point's, at which the loss gradient of the second term is taken.
    """
    problem = point.problem
    order, scale, count = problem.order, problem.output_scale, len(problem.targets)
    every = problem.features if features is None else features
    dtype = every.dtype
    outputs = point.outputs if outputs is None else outputs
    gradient = problem.loss.gradient(outputs, problem.targets) * (order * (order - 1) * scale / count)
    curvature = problem.loss.curvature(point.outputs, problem.targets) * ((order * scale) ** 2 / count)
    second = problem.signed_gates * gradient[:, None]
    for _ in range(order - 2):
        second *= point.inner
    second, curvature = second.astype(dtype, copy=False), curvature.astype(dtype, copy=False)
    slopes = point.power.astype(dtype, copy=False) if gauss_newton else None
    outer = _outer(point)
    weights, norms = point.weights.astype(dtype, copy=False), point.norms.astype(dtype, copy=False)
    own = _own_curvature(point, scaled_ridge).astype(dtype)[:, None]

    blocks = row_blocks(second)
    buffers = np.empty_like(second[blocks[0]]), np.empty_like(second[blocks[0]])

    def apply(vector: np.ndarray) -> np.ndarray:
        transposed = np.ascontiguousarray(vector.T)
        image = own * vector
        for rows in blocks:
            features = every[rows]
            moved, tangent = (buffer[: len(features)] for buffer in buffers)
            np.matmul(features, transposed, out=moved)
            if slopes is None:
                moved *= second[rows]
            else:
                change = curvature[rows] * np.vecdot(slopes[rows], moved)
                moved *= second[rows]
                moved += np.multiply(slopes[rows], change[:, None], out=tangent)
            add_product(moved, features, image)
        if problem.penalty_power == 2:
            return image
        cross = np.vecdot(weights, vector)
        along = 8.0 * outer * cross
        if problem.penalty_power == 8:
            along += 32.0 * (norms @ cross) * norms
        image += (scaled_ridge * along).astype(dtype, copy=False)[:, None] * weights
        return image

    return apply


class GaussNewtonMetric:
    """M = J^T diag(l''/n) J + Delta, inverted through the (n, n) matrix of output slopes' inner products.

    Delta is the penalty's own curvature, one number per neuron, held above a tenth of its mean, which counts as at
    least `floor` in units of Gauss-Newton's trace. `solve(V)` is M^{-1} V
    for V (m, D): two products and two triangular solves. Setting up costs 2 n^2 (m + D) and one Cholesky factorisation;
    without it (`whole` False) M is Delta. `delta` is at most M's smallest eigenvalue, `bound` at least its largest one.
    features: those of the problem in another dtype, in which all is done; float32 serves where M only preconditions
    and the floor is above its rounding. gram: `outer_products` of those features, if they are known.
    """

    def __init__(
        self,
        point: TaylorPoint,
        scaled_ridge: float,
        whole: bool = True,
        floor: float = 1e-10,
        features: np.ndarray | None = None,
        gram: np.ndarray | None = None,
    ) -> None:
        problem = point.problem
        curvature = problem.loss.curvature(point.outputs, problem.targets) / len(problem.targets)
        self.loss_roots = np.sqrt(curvature)
        self.features = problem.features if features is None else features
        dtype = self.features.dtype
        self.power = point.power.astype(dtype)
        self.factor: np.ndarray | None = None
        self.weight = self.loss_roots * problem.order * problem.output_scale
        # The penalty's own mean curvature; the floor keeps the Cholesky factor's rounding below delta.
        curvatures, trace = _curvatures(point, scaled_ridge)
        curvatures = np.maximum(curvatures, _LEAST_SHARE * max(float(curvatures.mean()), floor * trace))
        self.delta, self.bound = float(curvatures.min()), trace + float(curvatures.max())
        self.roots = (curvatures**-0.5)[:, None]
        self.curvatures = curvatures[:, None]
        if whole:
            # What M is in units of Delta, I + J^T J: rows of slopes are weighted, and columns divided by Delta's roots.
            self.roots = self.roots.astype(dtype)
            self.power *= self.weight.astype(dtype)[:, None]
            self.power *= self.roots[:, 0]
            kernel = outer_products(self.power)
            kernel *= outer_products(self.features) if gram is None else gram
            kernel[np.diag_indices(len(kernel))] += 1.0
            self.factor, _ = scipy.linalg.cho_factor(kernel, lower=True, overwrite_a=True, check_finite=False)
            self.triangular_solve = scipy.linalg.get_blas_funcs("trsv", dtype=dtype)
            self.blocks = row_blocks(self.power)
            self.buffer = np.empty_like(self.power[self.blocks[0]])
            # (diag(c) power)^T features scales whichever matrix has fewer columns.
            narrow = self.features.shape[1] < self.power.shape[1]
            self.scaled = np.empty_like(self.features) if narrow else None

    def solve(self, vector: np.ndarray) -> np.ndarray:
        """Return M^{-1} V by Woodbury's identity, (m, D) -> (m, D)."""
        return vector * self.roots**2 if self.factor is None else self._solve(vector)[0]

    def solve_with_outputs(self, vector: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return M^{-1} V and how far it moves outputs to first order, J M^{-1} V (n,) float64; 0 where l'' is 0."""
        result, change = self._solve(vector)
        moved = np.zeros(len(change))
        return result, np.divide(change, self.loss_roots, out=moved, where=self.loss_roots > 0.0)

    def undo(self, outputs: np.ndarray) -> np.ndarray:
        """Return -M^{-1} J^T diag(l''/n) c (m, D): what takes a change c (n,) of the outputs back where M lets it."""
        change = self._substitute((-self.loss_roots * outputs).astype(self.features.dtype))
        return self._sum_of_slopes(change[:, None]) * self.roots

    def _solve(self, vector: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        cast = np.multiply(vector, self.roots, dtype=self.features.dtype, casting="same_kind")
        transposed, change = np.ascontiguousarray(cast.T), np.empty(len(self.power), cast.dtype)
        for rows in self.blocks:
            power = self.power[rows]
            moved = np.matmul(self.features[rows], transposed, out=self.buffer[: len(power)])
            np.vecdot(power, moved, out=change[rows])
        change = self._substitute(change)
        result = np.subtract(cast, self._sum_of_slopes(change[:, None]), dtype=vector.dtype)
        result *= self.roots
        return result, change

    def _substitute(self, change: np.ndarray) -> np.ndarray:
        # One right side: two triangular solves that each read the factor once, without the packing of LAPACK's.
        change = self.triangular_solve(self.factor, change, lower=True)
        return self.triangular_solve(self.factor, change, lower=True, trans=True)

    def _sum_of_slopes(self, factors: np.ndarray) -> np.ndarray:
        """(diag(factors) power)^T features."""
        if self.scaled is not None:
            return self.power.T @ np.multiply(self.features, factors, out=self.scaled)
        total = np.zeros((self.power.shape[1], self.features.shape[1]), self.features.dtype)
        for rows in self.blocks:
            power = self.power[rows]
            add_product(np.multiply(power, factors[rows], out=self.buffer[: len(power)]), self.features[rows], total)
        return total


def penalty_share(point: TaylorPoint, scaled_ridge: float) -> float:
    """Return the penalty's mean own curvature over Gauss-Newton's trace."""
    curvatures, trace = _curvatures(point, scaled_ridge)
    return float(curvatures.mean()) / trace if trace > 0.0 else np.inf


def _curvatures(point: TaylorPoint, scaled_ridge: float) -> tuple[np.ndarray, float]:
    """Return the penalty's own curvature of each neuron (m,), and the trace of J^T diag(l''/n) J."""
    problem = point.problem
    curvature = problem.loss.curvature(point.outputs, problem.targets) / len(problem.targets)
    weight = (problem.order * problem.output_scale) ** 2 * curvature
    trace = np.sum(weight * row_dots(point.power, point.power) * row_dots(problem.features, problem.features))
    return _own_curvature(point, scaled_ridge), float(trace)


def _own_curvature(point: TaylorPoint, scaled_ridge: float) -> np.ndarray:
    """Return the penalty's curvature in directions orthogonal to u_r, (m,): |its slope in u_r| / |u_r|."""
    if point.problem.penalty_power == 2:
        return np.full_like(point.norms, 2.0 * scaled_ridge)
    return 4.0 * _outer(point) * scaled_ridge * point.norms


def _outer(point: TaylorPoint) -> Any:
    """Slope of the penalty in sum_r |u_r|^4, for the powers 4 and 8."""
    return 2.0 * (point.norms @ point.norms) if point.problem.penalty_power == 8 else 1.0
