"""Second-order stationarity of trained Taylor models, certified in float64 and in units of the objective.

The certificate error at weights W is 1/2 (eps_g |W|_F + eps_H |W|_F^2) with eps_g the gradient's Frobenius norm and
-eps_H a lower bound of the Hessian's smallest eigenvalue (0 if that is positive). What Theorem 1(1) of chen2020 leaves
open against a reference W* has |W*|_F^2 in the second term; who knows W* computes it from the same two numbers.

Gradient and Hessian are exact to float64 rounding, and the vector behind `smallest_curvature` is a witness. The bound
`curvature_bound` is the smallest Ritz value less its residual norm, after at least 24 products and with the residual at
most half of what separates the value from failure. Some eigenvalue provably lies within the residual; that it is the
smallest one is not proven (the probabilistic bounds for a random start need some hundred products), so a certificate is
numerical evidence, not a proof. Sweeps run in float32 where that can resolve enough, float64 measures what they found,
and where it does not decide likewise the sweep goes on in float64. It stops once the bound suffices for the limit or
curvature below what that allows is proven: the `error` of weights that fail so may exceed the smallest possible one by
orders of magnitude, and says no more than that they fail.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.polynomial import polynomial

from hierlearn.solvers.taylor.descent import COLLAPSE_GAIN, Rules, descend
from hierlearn.solvers.taylor.hessian import GaussNewtonMetric, hessian_operator
from hierlearn.solvers.taylor.lanczos import Operator, SmallestRatio, is_sign_sure, smallest_ratio
from hierlearn.solvers.taylor.line_search import minimise_polynomial, squared_loss_polynomial
from hierlearn.solvers.taylor.model import TaylorPoint, TaylorProblem, make_problem
from hierlearn.solvers.taylor.newton import newton

Array = np.ndarray

_LARGEST_METRIC = 8000
_MOST_PRODUCTS = 150
# Sweeps in float32 want weights of many times more numbers than products, so that they never exhaust the space, and a
# floor under the mean of the metric's Delta, in units of Gauss-Newton's trace, that is above their rounding.
_LEAST_SIZE = 8
_FLOOR = 1e-6
# Iterations of L-BFGS before Newton's method, steps of that, and iterations in place of it where there is no metric.
_MOST_ROUGH = 32
_MOST_STEPS = 100
_MOST_PLAIN = 300


@dataclass(frozen=True)
class Certificate:
    """How far weights W are from second-order stationarity; all in the unit of W, float64.

    smallest_curvature: the lowest Rayleigh quotient of the Hessian found, an upper bound of its smallest eigenvalue;
    curvature_bound: the lower bound; relative_error: error / objective; stationary: that is at most the limit and W is
    not the zero predictor; products: Hessian-vector products spent.
    """

    gradient_norm: float
    smallest_curvature: float
    curvature_bound: float
    objective: float
    error: float
    relative_error: float
    stationary: bool
    products: int


@dataclass(frozen=True)
class Polished:
    """Weights (m, D) float64 after polishing.

    steps: iterations of L-BFGS and steps of Newton's method; escapes: directions of negative curvature that were left;
    products of features with weights, but for those of escapes and of single gradients.
    """

    weights: Array
    certificate: Certificate
    steps: int
    escapes: int
    products: int


def certify_and_polish(
    features: Array,
    gates: Array,
    signs: Array,
    targets: Array,
    ridge: float,
    weights: Array,
    *,
    limit: float = 0.01,
    max_rounds: int = 4,
    **model: Any,
) -> Polished:
    """Certify weights (m, D) and repair what fails, in float64 -> `Polished`; arguments as in `fit_path`.

    model: order, loss and penalty_power; limit: largest error relative to the objective for which
    `stationary` is true. Equal inputs give equal certificates.

    L-BFGS in the Gauss-Newton metric, which is enough at large ridges, and then Newton's method bring the gradient term
    to a fifth of the limit; a direction of negative curvature is left along an exact line search, which lowers the
    objective, and Newton's method goes on from there. Ends when the certificate holds, cannot be decided, or after
    max_rounds of that; with max_rounds 0 the weights are only certified, by about 600 matrix products at most and one
    Cholesky factorisation. Weights that are not finite come back unchanged. Beyond 8000 samples there is no metric, and
    plain L-BFGS is all.
    """
    problem = make_problem(np.asarray(features, np.float64), gates, signs, targets, **model)
    point = TaylorPoint(problem, np.asarray(weights, np.float64) / problem.weight_unit)
    scaled_ridge, escapes, steps, products = problem.scaled_ridge(ridge), 0, 0, 0
    single, tolerance = problem.astype(np.float32), 0.2 * limit
    # The gradient first: a curvature sweep at a steep point would have to be made again.
    for attempt in range(max_rounds + 1):
        # Also after the last escape, which leaves a steep point behind.
        if max_rounds:
            point, made, spent = _settled(point, single, scaled_ridge, tolerance, attempt == 0)
            steps, products = steps + made, products + spent
        certificate, vector = _certify(point, single, scaled_ridge, limit)
        products += 4 * certificate.products
        gradient_error = 0.5 * certificate.gradient_norm * problem.weight_unit * np.sqrt(point.norms.sum())
        steep = gradient_error > 0.5 * limit * certificate.objective
        hopeless = not np.isfinite(certificate.error) or not (steep or vector is not None)
        if certificate.stationary or hopeless or attempt == max_rounds:
            break
        if vector is not None:
            escapes += escape(point, scaled_ridge, vector)
    return Polished(point.weights * problem.weight_unit, certificate, steps, escapes, products)


def _settled(
    point: TaylorPoint, single: TaylorProblem, scaled_ridge: float, tolerance: float, rough: bool
) -> tuple[TaylorPoint, int, int]:
    """Return the point, which may be another, after its gradient was brought down, with steps and products taken.

    rough: L-BFGS in float32 comes first.
    """
    steps = products = 0
    if len(point.outputs) > _LARGEST_METRIC:
        steps = descend(point, scaled_ridge, Rules(tolerance, _MOST_PLAIN)).iterations
        point.refresh()
        return point, steps, 2 * steps
    # Without steps it only says whether the gradient is small enough already.
    if rough and newton(point, single, scaled_ridge, tolerance, 0).status == "not_converged":
        # The floor damps; less of it sends straight steps out of the curved valley of near-interpolating weights.
        def metric(at: TaylorPoint) -> GaussNewtonMetric:
            return GaussNewtonMetric(at, scaled_ridge, floor=_FLOOR, features=single.features, gram=single.gram)

        low = TaylorPoint(single, point.weights)
        steps = descend(low, scaled_ridge, Rules(tolerance, _MOST_ROUGH), metric).iterations
        # Two products an iteration, and two of the metric.
        products = 4 * steps
        point = TaylorPoint(point.problem, low.weights) if np.isfinite(low.weights).all() else point
    end = newton(point, single, scaled_ridge, tolerance, _MOST_STEPS)
    return point, steps + end.steps, products + end.products


def escape(point: TaylorPoint, scaled_ridge: float, direction: Array) -> bool:
    """Move `point` along +-direction (m, D) to a lower objective; returns whether there was one.

    Squared loss: the global minimiser over the whole line. Other losses: the lowest of a geometric grid on both sides.
    """
    problem = point.problem
    outputs, penalty = point.line(direction)
    if problem.loss.name == "squared":
        losses = squared_loss_polynomial(outputs, problem.targets)
        t, _ = minimise_polynomial(polynomial.polyadd(losses, scaled_ridge * penalty), both_sides=True)
    else:
        reach = np.sqrt(point.norms.sum() / np.sum(direction**2)) * 2.0 ** -np.arange(-2.0, 14.0)
        grid = np.concatenate([[0.0], reach, -reach])
        on_grid = [np.mean(problem.loss.value(t ** np.arange(len(outputs)) @ outputs, problem.targets)) for t in grid]
        t = grid[np.argmin(on_grid + scaled_ridge * polynomial.polyval(grid, penalty))]
    if t == 0.0 or np.isnan(t):
        return False
    point.move(t, t * direction, outputs)
    point.refresh()
    return True


def _certify(
    point: TaylorPoint, single: TaylorProblem, scaled_ridge: float, limit: float
) -> tuple[Certificate, Array | None]:
    """Return the certificate, and a direction of proven negative curvature beyond the limit or None."""
    problem, unit = point.problem, point.problem.weight_unit
    objective = point.train_loss() + scaled_ridge * point.penalty()
    size = float(point.norms.sum())
    gradient, scratch = np.empty_like(point.weights), np.empty_like(point.weights)
    point.prepare_gradient()
    norm = float(np.linalg.norm(point.gradient(scaled_ridge, gradient, scratch)))
    if not np.isfinite(norm + objective) or size == 0.0:
        error = np.nan if size else 0.0
        return Certificate(norm / unit, np.nan, np.nan, objective, error, error, False, 0), None
    gradient_error = 0.5 * norm * np.sqrt(size)
    # What is left of the limit is the curvature that may pass. Where the gradient alone fails, nothing hangs on it.
    left = 1.0 - gradient_error / (limit * objective)
    allowed = (max(left, 0.1) if left > 0.0 else 1.0) * limit * objective * 2.0 / size
    end, quotient, metric = _smallest_curvature(point, single, scaled_ridge, allowed)
    lower = end.value - end.residual
    # Hessian + allowed >= lower M, and delta <= M <= bound.
    bound = min(lower * (metric.delta if lower > 0.0 else metric.bound) - allowed, quotient)
    error = gradient_error + 0.5 * max(0.0, -bound) * size
    collapsed = problem.zero_objective - objective <= COLLAPSE_GAIN * problem.zero_objective
    stationary = error <= limit * objective * (1.0 + 1e-12) and not collapsed
    certificate = Certificate(
        gradient_norm=norm / unit,
        smallest_curvature=quotient / unit**2,
        curvature_bound=float(bound / unit**2),
        objective=objective,
        error=float(error),
        relative_error=float(error / objective),
        stationary=bool(stationary),
        products=end.products,
    )
    return certificate, end.vector if end.value < 0.0 else None


def _smallest_curvature(
    point: TaylorPoint, single: TaylorProblem, scaled_ridge: float, allowed: float
) -> tuple[SmallestRatio, float, GaussNewtonMetric]:
    """Return the smallest ratio of Hessian + allowed to a metric M, its vector's Rayleigh quotient, and M.

    float32 finds the vector where it can, float64 measures it.
    """
    problem, spent = point.problem, 0
    whole = len(problem.targets) <= _LARGEST_METRIC
    # The same start for equal inputs.
    start = np.random.default_rng(point.weights.shape).standard_normal(point.weights.shape)
    hessian = hessian_operator(point, scaled_ridge)

    def swept(metric: GaussNewtonMetric, features: Array, first: Array) -> SmallestRatio:
        # Relative to M, Gauss-Newton's part of the Hessian cancels and leaves no rounding behind.
        rest = hessian_operator(point, scaled_ridge, gauss_newton=not whole, features=features)
        shift = (allowed - metric.curvatures).astype(features.dtype)
        first = np.asarray(first, features.dtype)
        return smallest_ratio(lambda v: rest(v) + shift * v, metric, first, _MOST_PRODUCTS, spent)

    if whole and point.weights.size >= _LEAST_SIZE * _MOST_PRODUCTS:
        metric = GaussNewtonMetric(point, scaled_ridge, floor=_FLOOR, features=single.features, gram=single.gram)
        end = swept(metric, single.features, start)
        measured, quotient, image = _measured(point, scaled_ridge, allowed, metric, hessian, end)
        sure = is_sign_sure(measured.value, measured.residual, end.products)
        if end.products == _MOST_PRODUCTS or (sure and (measured.value < 0.0) == (end.value < 0.0)):
            return measured, quotient, metric
        # From there, what rounding has left over takes a few products in float64.
        # Of M only Delta, whose floor differs, is another in float64.
        spent, start = end.products, image - metric.curvatures * measured.vector
    metric = GaussNewtonMetric(point, scaled_ridge, whole=whole)
    if spent:
        start = start + metric.curvatures * measured.vector
    end = swept(metric, problem.features, start)
    quotient = float(np.vdot(end.vector, hessian(end.vector)))
    return replace(end, products=spent + end.products + 1), quotient, metric


def _measured(
    point: TaylorPoint,
    scaled_ridge: float,
    allowed: float,
    metric: GaussNewtonMetric,
    hessian: Operator,
    end: SmallestRatio,
) -> tuple[SmallestRatio, float, Array]:
    """Ratio and residual by products in float64 of a vector found in float32, its Rayleigh quotient, and M times it."""
    rest = hessian_operator(point, scaled_ridge, gauss_newton=False)

    def relative(vector: Array) -> tuple[Array, Array]:
        image = hessian(vector)
        return image, image - rest(vector) + metric.curvatures * vector

    vector = end.vector.astype(np.float64)
    vector /= np.linalg.norm(vector)
    image, other = relative(vector)
    weight, quotient = float(np.vdot(vector, other)), float(np.vdot(vector, image))
    value = (quotient + allowed) / weight
    rest_of_it = image + allowed * vector - value * other
    # M^{-1} in float32 is good to a few digits; one step of refinement makes the norm exact enough.
    solved = metric.solve(rest_of_it)
    solved += metric.solve(rest_of_it - relative(solved)[1])
    residual = np.sqrt(max(float(np.vdot(rest_of_it, solved)), 0.0) / weight)
    return SmallestRatio(value, residual, vector, end.products + 2), quotient, other
