"""Newton's method for Taylor models near interpolation: a few curved steps instead of hundreds of short straight ones.

At small ridges the objective is a curved valley: steep wherever outputs change, flat along the weights that leave them
as they are. Three things make long steps possible. Directions come from a Krylov space relative to the Gauss-Newton
metric, in which the steep part is the identity; negative curvature counts by its size (Dauphin et al. 2014). The
models' own curvature is weighed by the residuals that are left once the steep part is gone (the multipliers of a
primal-dual method), as those at hand are mostly what the last step spoilt. And a step is a parabola: its second-order
part takes back what the straight one changes in the outputs (a second-order correction, or geodesic acceleration),
with an exact search along it.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from hierlearn.solvers.taylor.descent import search
from hierlearn.solvers.taylor.hessian import GaussNewtonMetric, hessian_operator, penalty_share
from hierlearn.solvers.taylor.lanczos import krylov
from hierlearn.solvers.taylor.line_search import penalty_polynomial
from hierlearn.solvers.taylor.model import TaylorPoint, TaylorProblem, row_dots

# Directions in float32 want the penalty's own curvature above this part of Gauss-Newton's trace; float64 takes any.
_RESOLVED = 1e-8
# Of the metric: below what the penalty has in any study, so that steps near interpolation stay long.
_FLOOR = 1e-10
# Least size of a curvature relative to the metric: what is flatter counts as this.
_LEAST_CURVATURE = 0.03
_MOST_VECTORS = 20
# The Newton system's residual relative to the gradient, in the metric's dual norm.
_RESIDUAL = 0.3


@dataclass(frozen=True)
class NewtonEnd:
    """The end of `newton`: "ok", "not_converged" or "diverged", steps made, and matrix products spent."""

    status: str
    steps: int
    products: int


def newton(
    point: TaylorPoint, single: TaylorProblem, scaled_ridge: float, tolerance: float, max_steps: int
) -> NewtonEnd:
    """Make Newton steps from `point`, which they move and which has at most a few thousand samples.

    single: the point's problem in float32, in which directions are found; the objective, its gradient and the search
    are in the point's dtype. Stops with "ok" at 1/2 |gradient| |U| <= min(tolerance * objective, 0.1 * (objective of 0
    - objective)) as `descend` does.
    """
    problem = point.problem
    gradient, scratch = np.empty_like(point.weights), np.empty_like(point.weights)
    objective, products = point.train_loss() + scaled_ridge * point.penalty(), 0
    for step in range(max_steps + 1):
        point.prepare_gradient()
        norm = float(np.linalg.norm(point.gradient(scaled_ridge, gradient, scratch)))
        products += 1
        if not np.isfinite(norm + objective):
            return NewtonEnd("diverged", step, products)
        limit = min(tolerance * objective, 0.1 * (problem.zero_objective - objective))
        if 0.5 * norm * math.sqrt(point.norms.sum()) <= limit:
            return NewtonEnd("ok", step, products)
        if step == max_steps:
            break
        models = (single, problem) if penalty_share(point, scaled_ridge) >= _RESOLVED else (problem,)
        for model in models:
            try:
                direction, spent, metric = _direction(point, model, scaled_ridge, gradient, norm)
            except np.linalg.LinAlgError:
                continue
            products += 4 * spent + 7
            bend, outputs, penalty = _parabola(point, metric, direction)
            t, value = search(problem, outputs, penalty, scaled_ridge)
            if t > 0.0 and value < objective:
                break
        else:
            break
        point.weights += t * (direction + t * bend)
        point.refresh()
        objective = point.train_loss() + scaled_ridge * point.penalty()
    return NewtonEnd("not_converged", step, products)


def _direction(
    point: TaylorPoint, model: TaylorProblem, scaled_ridge: float, gradient: np.ndarray, norm: float
) -> tuple[np.ndarray, int, GaussNewtonMetric]:
    """Return a Newton direction (m, D) of the gradient, its norm, Hessian products spent, and the metric; all in the
    model's dtype. Raises LinAlgError where rounding leaves nothing of it."""
    metric = GaussNewtonMetric(point, scaled_ridge, floor=_FLOOR, features=model.features, gram=model.gram)
    # Of norm 1, so that nothing underflows in float32.
    descent = (gradient / -norm).astype(model.features.dtype)
    first, moved = metric.solve_with_outputs(descent)
    size = float(np.vdot(descent, first))
    if not 0.0 < size < np.inf:
        raise np.linalg.LinAlgError("found no positive size of the gradient in the metric; expected one")
    curvatures = metric.curvatures.astype(descent.dtype)
    settled = point.outputs + norm * moved
    rest = hessian_operator(point, scaled_ridge, gauss_newton=False, features=model.features, outputs=settled)
    for space in krylov(lambda v: rest(v) - curvatures * v, metric, descent, first, _MOST_VECTORS):
        # Faster at so few rows than what knows of three diagonals.
        values, vectors = np.linalg.eigh(np.diag(space.diagonal) + np.diag(space.beside, -1))
        parts = vectors @ (vectors[0] / np.maximum(np.abs(values), _LEAST_CURVATURE))
        if space.last or space.after * abs(parts[-1]) <= _RESIDUAL:
            break
    found = parts.astype(descent.dtype) @ space.basis
    return norm * np.sqrt(size) * found.reshape(descent.shape).astype(point.weights.dtype), len(parts), metric


def _parabola(
    point: TaylorPoint, metric: GaussNewtonMetric, direction: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """E (m, D), and the coefficients along U + t P + t^2 E of the outputs, (2k+1, n), and of the penalty."""
    problem, order = point.problem, point.problem.order
    # a Z^(k-s) for s = 0 (not used) to k: the factors of what is of degree s in the changes of Z.
    factors: list[Any] = [problem.signed_gates]
    for _ in range(order - 2):
        factors.append(factors[-1] * point.inner)
    factors = [None, point.power, *factors[::-1]][: order + 1]
    straight = problem.features @ direction.T
    second = math.comb(order, 2) * problem.output_scale * np.vecdot(factors[2] * straight, straight)
    bend = metric.undo(second).astype(direction.dtype)
    bent = problem.features @ bend.T
    outputs = np.zeros((2 * order + 1, len(second)))
    outputs[0] = point.outputs
    for degree in range(1, order + 1):
        for bends in range(degree + 1):
            term = factors[degree]
            for change in [straight] * (degree - bends - 1) + [bent] * (bends - (bends == degree)):
                term = term * change
            share = math.comb(order, degree) * math.comb(degree, bends) * problem.output_scale
            outputs[degree + bends] += share * np.vecdot(term, bent if bends == degree else straight)
    norms = np.array(
        [
            point.norms,
            2.0 * row_dots(point.weights, direction),
            row_dots(direction, direction) + 2.0 * row_dots(point.weights, bend),
            2.0 * row_dots(direction, bend),
            row_dots(bend, bend),
        ]
    )
    return bend, outputs, penalty_polynomial(norms, problem.penalty_power)
