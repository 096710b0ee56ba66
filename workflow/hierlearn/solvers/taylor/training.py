"""Training of order-k Taylor models (Quad-h for k = 2): a warm-started path of descents over ridges.

The objective is that of chen2020, eq. 2 (penalty power 4), bai2020, section 4 (power 8), or has |W|_F^2 (power 2).
W = 0 is a saddle, for the power 2 a minimum at large ridges: starts must be small, random and not 0.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hierlearn.solvers.taylor.descent import Descent, Rules, lockstep
from hierlearn.solvers.taylor.model import BLOCK_BYTES, TaylorPoint, make_problem

Array = np.ndarray

# What a stack keeps at the most: of the size that `stack_size` bounds the history's twenty vectors, weights, their
# start, step and gradients, and gates with what is made of them.
STACK_BYTES = 30 * BLOCK_BYTES


@dataclass(frozen=True)
class PathFit:
    """Stationary points of a path of ridges, in the order in which the ridges were given.

    weights (R, m, D) in the unit of the model's W and the features' dtype; objective and train_loss (R,);
    gradient_norm (R,), the Frobenius norm in W; iterations (R,); status (R,) strings:
    "ok" (the stopping rule holds), "not_converged" (max_iterations reached), "diverged" (a value not finite; the
    weights are NaN), "collapsed" (the objective is the zero predictor's). flops (R,): those of matrix products.
    trace: per ridge the objective before the first and after every iteration that made a step, or empty.
    """

    weights: Array
    objective: Array
    train_loss: Array
    gradient_norm: Array
    iterations: Array
    status: tuple[str, ...]
    flops: Array
    trace: tuple[Array, ...] = ()


def predict(features: Array, gates: Array, signs: Array, weights: Array, order: int = 2) -> Array:
    """Predict 1/(sqrt(m) k!) sum_r a_r s_ir <w_r, h_i>^k of the order-k Taylor model (chen2020, eq. 1; bai2020).

    features (n, D), gates (n, m), signs (m,), weights (..., m, D) -> (..., n) float64; the products are made in the
    features' dtype. Raises ValueError as `make_problem` does.
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


def stack_size(samples: int, features: int, width: int) -> int:
    """Return how many float32 problems `fit_paths` is best given at a time: those whose gates are in cache together.

    What it keeps of so many is at most STACK_BYTES.
    """
    return max(1, BLOCK_BYTES // (4 * (samples + features) * width))


def fit_path(
    features: Array, gates: Array, signs: Array, targets: Array, ridges: Array, start: Array, **options: Any
) -> PathFit:
    """Fit one problem as `fit_paths` does, with arrays without an axis in front -> `PathFit`."""
    features, gates, targets, start = (np.asarray(array) for array in (features, gates, targets, start))
    return fit_paths(features[None], gates[None], signs, targets[None], ridges, start[None], **options)[0]


def fit_paths(
    features: Array,
    gates: Array,
    signs: Array,
    targets: Array,
    ridges: Array,
    starts: Array,
    *,
    order: int = 2,
    loss: str = "squared",
    penalty_power: int = 4,
    tolerance: float = 2e-3,
    stop: str = "certificate",
    max_iterations: int = 1000,
    memory: int = 10,
    trace: bool = False,
) -> list[PathFit]:
    """Find stationary points of the order-k Taylor objective at every ridge, largest ridge first, warm-started.

    features (S, n, D) float32 or float64 of S problems, gates (S, n, m) = sigma^(k)(<w0_r, h_i>), signs (m,) of -1, +1,
    targets (S, n) (labels -1, +1 for the losses "logistic" and "soft_hinge"), ridges (R,) > 0 in any order, starts
    (S, m, D) in the unit of W. stop: "certificate" ends a ridge at 1/2 |gradient in W| |W| <= tolerance * objective;
    "decrease" also once ten iterations lowered the objective by no more than that (about ten times sooner at small
    ridges, where stiff directions hold the gradient up long after the objective has settled; `certify_and_polish`
    finishes such ends). Returns a list of S `PathFit`; data or steps that are not finite give the status "diverged".
    Raises ValueError for shapes that do not fit, a ridge that is not > 0, or an unknown rule.
    """
    if stop not in ("certificate", "decrease"):
        raise ValueError(f"stop must be certificate or decrease, not {stop!r}")
    problem = make_problem(features, gates, signs, targets, order, loss, penalty_power)
    ridges, starts = np.asarray(ridges, np.float64), np.asarray(starts)
    shape = (len(problem.features), problem.width, problem.features.shape[-1])
    if starts.shape != shape:
        raise ValueError(f"starts must be {shape}, not {starts.shape}")
    if ridges.ndim != 1 or not np.all(ridges > 0.0):
        raise ValueError("ridges must be a vector of numbers > 0")
    unit, largest_first = problem.weight_unit, np.argsort(-ridges, kind="stable")
    weights = np.full((shape[0], len(ridges), *shape[1:]), np.nan, problem.features.dtype)
    ends: list[list[Descent]] = [[] for _ in starts]
    losses = np.full(weights.shape[:2], np.nan)

    def next_ridge(which: int, point: TaylorPoint, end: Descent | None) -> float | None:
        done = ends[which]
        if end is not None:
            place = which, largest_first[len(done)]
            losses[place] = point.train_loss()
            if end.status != "diverged":
                weights[place] = point.weights * unit
            done.append(end)
        if len(done) == len(ridges):
            return None
        if end is not None:
            if end.status in ("diverged", "collapsed"):
                point.weights[...] = starts[which] / unit
            point.refresh()
        return problem.scaled_ridge(ridges[largest_first[len(done)]])

    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        rules = Rules(tolerance, max_iterations, stop)
        lockstep(TaylorPoint(problem, starts / unit), next_ridge, rules, memory=memory)
    fits = []
    for own, lost, done in zip(weights, losses, ends, strict=True):
        given = [done[i] for i in np.argsort(largest_first)]
        fits.append(
            PathFit(
                weights=own,
                objective=np.array([end.objective for end in given]),
                train_loss=lost,
                gradient_norm=np.array([end.gradient_norm for end in given]) / unit,
                iterations=np.array([end.iterations for end in given]),
                status=tuple(end.status for end in given),
                flops=np.array([end.flops + problem.product_flops for end in given]),
                trace=tuple(np.array(end.trace) for end in given) if trace else (),
            )
        )
    return fits
