"""Training of order-k Taylor models (Quad-h for k = 2): a warm-started path of L-BFGS runs over ridges.

Every iteration makes two matrix products; the line search is exact (squared loss) or costs n-vectors only. The
objective is that of chen2020, eq. 2 (penalty power 4), bai2020, section 4 (power 8), or has |W|_F^2 (power 2). W = 0 is
a saddle, for the power 2 a minimum at large ridges: starts must be small, random and not 0.
"""

from dataclasses import dataclass, field

import numpy as np

from hierlearn.solvers.taylor.lbfgs import History
from hierlearn.solvers.taylor.line_search import minimise_along_line, minimise_polynomial, squared_loss_polynomial
from hierlearn.solvers.taylor.model import TaylorPoint, make_problem

_REFRESH = 100
_METRIC_LIFE = 8
_WINDOW = 10
_COLLAPSE_AFTER = 30
_COLLAPSE_GAIN = 1e-6


@dataclass(frozen=True)
class PathFit:
    """Stationary points of a path of ridges, in the order in which the ridges were given.

    weights (R, m, D) in the unit of the model's W and the features' dtype; objective and train_loss (R,);
    gradient_norm (R,), the Frobenius norm in W; iterations (R,); status (R,) strings:
    "ok" (the stopping rule holds), "not_converged" (max_iterations reached), "diverged" (a value not finite; the
    weights are NaN), "collapsed" (the objective is the zero predictor's). flops (R,): those of matrix products.
    trace: per ridge the objective before the first and after every iteration, or empty.
    """

    weights: np.ndarray
    objective: np.ndarray
    train_loss: np.ndarray
    gradient_norm: np.ndarray
    iterations: np.ndarray
    status: tuple
    flops: np.ndarray
    trace: tuple = ()


@dataclass
class Descent:
    """The end of one run of `descend`, in scaled units."""

    status: str
    objective: float
    gradient_norm: float
    iterations: int
    flops: int
    trace: list = field(default_factory=list)


def predict(features, gates, signs, weights, order=2):
    """Outputs 1/(sqrt(m) k!) sum_r a_r s_ir <w_r, h_i>^k of the order-k Taylor model (chen2020, eq. 1; bai2020).

    features (n, D), gates (n, m), signs (m,), weights (..., m, D) -> (..., n) float64; the products are made in the
    features' dtype. Raises ValueError through `fit_path`'s checks of shapes.
    """
    features = np.asarray(features)
    problem = make_problem(features, gates, signs, np.zeros(len(features)), order)
    weights = np.asarray(weights, features.dtype)
    stack = weights.reshape(-1, *weights.shape[-2:])
    outputs = np.empty((len(stack), len(features)))
    for row, one in zip(outputs, stack, strict=True):
        inner = problem.features @ one.T
        row[:] = np.vecdot(problem.signed_gates, inner**order)
    outputs *= problem.output_scale * np.sqrt(problem.width)
    return outputs.reshape(*weights.shape[:-2], len(features))


def search(problem, outputs, penalty, scaled_ridge, guess=1.0):
    """Best t > 0 of the objective along a line of `TaylorPoint.line`'s coefficients -> (t, objective there).

    Squared loss: the global minimiser of a polynomial. Other losses: a local minimiser by safeguarded Newton steps.
    """
    if problem.loss.name == "squared":
        polynomial = squared_loss_polynomial(outputs, problem.targets)
        whole = np.zeros(max(len(polynomial), len(penalty)))
        whole[: len(polynomial)] = polynomial
        whole[: len(penalty)] += scaled_ridge * penalty
        return minimise_polynomial(whole)
    return minimise_along_line(problem.loss, outputs, problem.targets, scaled_ridge * penalty, guess)


def descend(point, scaled_ridge, history, tolerance, max_iterations, *, stop="certificate", metric=None, trace=False):
    """L-BFGS from `point`, which it moves, to a stationary point at one ridge.

    Stops with "ok" at 1/2 |gradient| |U| <= min(tolerance * objective, 0.1 * (objective of 0 - objective)): the
    left side does not depend on the scale of U, and the second term keeps the rule from holding near the saddle
    U = 0, where the left side is at least the gain over 0. With stop "decrease" also as soon as ten iterations
    together lowered the objective by no more than tolerance * objective. metric: point -> an object whose solve(V)
    preconditions, made anew every eight iterations.
    """
    problem = point.problem
    shape, size = point.weights.shape, point.weights.size
    gradient, previous, direction = (np.empty_like(point.weights) for _ in range(3))
    zero = problem.zero_objective
    objective = point.train_loss() + scaled_ridge * point.penalty()
    values = [objective]
    point.prepare_gradient()
    point.gradient(scaled_ridge, gradient, direction)
    products, iteration, status = 1, 0, "not_converged"
    restarted = history.count == 0
    lifted, lift = gradient, None
    while True:
        norm = float(np.linalg.norm(gradient))
        gain = zero - objective
        if not np.isfinite(norm + objective):
            status = "diverged"
            break
        if 0.5 * norm * np.sqrt(point.norms.sum()) <= min(tolerance * objective, 0.1 * gain):
            status = "ok"
            break
        settled = len(values) > _WINDOW and values[-1 - _WINDOW] - objective <= tolerance * objective
        if stop == "decrease" and settled and gain > _COLLAPSE_GAIN * zero:
            status = "ok"
            break
        if iteration >= _COLLAPSE_AFTER and gain <= _COLLAPSE_GAIN * zero:
            status = "collapsed"
            break
        if iteration == max_iterations:
            break
        if metric is not None and iteration % _METRIC_LIFE == 0:
            lift = metric(point).solve
            history.clear()
            lifted = lift(gradient)
        history.direction(gradient.reshape(size), lifted.reshape(size), direction.reshape(size))
        outputs, penalty = point.line(direction)
        t, value = search(problem, outputs, penalty, scaled_ridge, 1.0 if history.count or lift else 0.0)
        products += 1
        iteration += 1
        if np.isnan(t):
            status = "diverged"
            break
        if t == 0.0 or not value < objective:
            # Rounding has spoilt the direction: once more from the steepest descent, then give up.
            if restarted and history.count == 0:
                status = "collapsed" if gain <= _COLLAPSE_GAIN * zero else status
                break
            history.clear()
            restarted = True
            continue
        step, change = history.slot()
        np.multiply(direction.reshape(size), t, out=step)
        point.move(t, step.reshape(shape), outputs)
        objective = value
        gradient, previous = previous, gradient
        if iteration % _REFRESH == 0:
            point.refresh()
            point.prepare_gradient()
            objective = point.train_loss() + scaled_ridge * point.penalty()
            products += 1
        point.gradient(scaled_ridge, gradient, direction)
        products += 1
        former, lifted = lifted if lift else previous, lift(gradient) if lift else gradient
        np.subtract(lifted.reshape(size), former.reshape(size), out=change)
        history.push(previous.reshape(size))
        values.append(objective)
    return Descent(status, objective, norm, iteration, products * problem.product_flops, values if trace else [])


def fit_path(
    features,
    gates,
    signs,
    targets,
    ridges,
    start,
    *,
    order=2,
    loss="squared",
    penalty_power=4,
    tolerance=2e-3,
    stop="certificate",
    max_iterations=1000,
    memory=10,
    trace=False,
):
    """Stationary points of the order-k Taylor objective for every ridge, largest ridge first, warm-started.

    features (n, D) float32 or float64, gates (n, m) = sigma^(k)(<w0_r, h_i>), signs (m,) of -1, +1, targets (n,)
    (labels -1, +1 for the losses "logistic" and "soft_hinge"), ridges (R,) > 0 in any order, start (m, D) in the
    unit of W. stop: "certificate" ends a ridge at 1/2 |gradient in W| |W| <= tolerance * objective; "decrease" also
    once ten iterations lowered the objective by no more than that (about ten times sooner at small ridges, where
    stiff directions hold the gradient up long after the objective has settled; `certify_and_polish` finishes such
    ends). Returns a `PathFit`; data or steps that are not finite give the status "diverged". Raises ValueError for
    shapes that do not fit, a ridge that is not > 0, or an unknown rule.
    """
    if stop not in ("certificate", "decrease"):
        raise ValueError(f"stop must be certificate or decrease, not {stop!r}")
    problem = make_problem(features, gates, signs, targets, order, loss, penalty_power)
    ridges, start = np.asarray(ridges, np.float64), np.asarray(start)
    shape = (problem.width, problem.features.shape[1])
    if start.shape != shape:
        raise ValueError(f"start must be {shape}, not {start.shape}")
    if ridges.ndim != 1 or not np.all(ridges > 0.0):
        raise ValueError("ridges must be a vector of numbers > 0")
    count, unit = len(ridges), problem.weight_unit
    weights = np.full((count, *shape), np.nan, problem.features.dtype)
    ends, losses = [None] * count, np.full(count, np.nan)
    history = History(memory, start.size, problem.features.dtype)
    point = None
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for index in np.argsort(-ridges, kind="stable"):
            if point is None:
                point = TaylorPoint(problem, start / unit)
                history.clear()
            else:
                point.refresh()
            end = descend(
                point, problem.scaled_ridge(ridges[index]), history, tolerance, max_iterations, stop=stop, trace=trace
            )
            ends[index], losses[index] = end, point.train_loss()
            if end.status != "diverged":
                weights[index] = point.weights * unit
            if end.status in ("diverged", "collapsed"):
                point = None
    return PathFit(
        weights=weights,
        objective=np.array([end.objective for end in ends]),
        train_loss=losses,
        gradient_norm=np.array([end.gradient_norm for end in ends]) / unit,
        iterations=np.array([end.iterations for end in ends]),
        status=tuple(end.status for end in ends),
        flops=np.array([end.flops + problem.product_flops for end in ends]),
        trace=tuple(np.array(end.trace) for end in ends) if trace else (),
    )
