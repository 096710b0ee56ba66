"""Training of order-k Taylor models (Quad-h for k = 2): a warm-started path of L-BFGS runs over ridges.

Problems of one shape and model, those of several seeds, make their iterations together: at small sizes an iteration is
mostly the time that numpy takes to begin an operation.
Every iteration makes two matrix products; the line search is exact (squared loss) or costs n-vectors only. The
objective is that of chen2020, eq. 2 (penalty power 4), bai2020, section 4 (power 8), or has |W|_F^2 (power 2). W = 0 is
a saddle, for the power 2 a minimum at large ridges: starts must be small, random and not 0.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from hierlearn.solvers.taylor.lbfgs import History
from hierlearn.solvers.taylor.line_search import minimise_along_line, minimise_polynomial, squared_loss_polynomial
from hierlearn.solvers.taylor.model import BLOCK_BYTES, TaylorPoint, make_problem

# What a stack keeps at the most: of the size that `stack_size` bounds the history's twenty vectors, weights, their
# start, step and gradients, and gates with what is made of them.
STACK_BYTES = 30 * BLOCK_BYTES
# Iterations after which outputs are computed anew, against rounding, and for which a metric serves.
_REFRESH = 100
_METRIC_LIFE = 8
# Iterations over which the rule `decrease` compares.
_WINDOW = 10
# Iterations after which a gain over the zero predictor below this share of its objective is a collapse.
_COLLAPSE_AFTER = 30
COLLAPSE_GAIN = 1e-6


@dataclass(frozen=True)
class PathFit:
    """Stationary points of a path of ridges, in the order in which the ridges were given.

    weights (R, m, D) in the unit of the model's W and the features' dtype; objective and train_loss (R,);
    gradient_norm (R,), the Frobenius norm in W; iterations (R,); status (R,) strings:
    "ok" (the stopping rule holds), "not_converged" (max_iterations reached), "diverged" (a value not finite; the
    weights are NaN), "collapsed" (the objective is the zero predictor's). flops (R,): those of matrix products.
    trace: per ridge the objective before the first and after every iteration that made a step, or empty.
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
    """The end of one run at one ridge, in scaled units."""

    status: str
    objective: float
    gradient_norm: float
    iterations: int
    flops: int
    trace: list = field(default_factory=list)


def predict(features, gates, signs, weights, order=2):
    """Outputs 1/(sqrt(m) k!) sum_r a_r s_ir <w_r, h_i>^k of the order-k Taylor model (chen2020, eq. 1; bai2020).

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


def search(problem, outputs, penalty, scaled_ridge, guess=1.0):
    """Best t > 0 of the objective along a line or a parabola -> (t, objective there).

    outputs (j + 1, n) and penalty (l + 1,): coefficients by ascending powers of t, of any degrees.

    Squared loss: the global minimiser of a polynomial. Other losses: a local minimiser by safeguarded Newton steps.
    """
    return _searches(problem.at(None), outputs[:, None], penalty[:, None], np.array([scaled_ridge]), [guess])[0]


def _searches(problem, outputs, penalty, scaled_ridge, guesses):
    """`search` of each of a stack: outputs (j + 1, S, n), penalty (l + 1, S), scaled_ridge (S,), guesses (S,)."""
    penalty = scaled_ridge * penalty
    if problem.loss.name == "squared":
        short, polynomials = sorted((penalty, squared_loss_polynomial(outputs, problem.targets)), key=len)
        polynomials[: len(short)] += short
        return [minimise_polynomial(one) for one in polynomials.T.tolist()]
    lines = zip(outputs.swapaxes(0, 1), problem.targets, penalty.T, guesses, strict=True)
    return [minimise_along_line(problem.loss, *one) for one in lines]


@dataclass(frozen=True)
class Rules:
    """When a descent ends: with "ok" at 1/2 |gradient| |U| <= min(tolerance * objective, 0.1 * (objective of 0 -
    objective)): the left side does not depend on the scale of U, and the second term keeps the rule from holding near
    the saddle U = 0, where the left side is at least the gain over 0. With stop "decrease" also as soon as ten
    iterations together lowered the objective by no more than tolerance * objective.
    """

    tolerance: float
    max_iterations: int
    stop: str = "certificate"


class _Run:
    """One problem of a stack at one ridge: what its descent has seen, and whether it has ended."""

    def __init__(self, rules, zero, scaled_ridge, objective):
        self.rules, self.zero, self.scaled_ridge, self.objective = rules, zero, scaled_ridge, objective
        self.values, self.iterations, self.products = [objective], 0, 1
        self.status, self.norm = None, np.nan

    @property
    def collapsed(self):
        """Whether the objective is that of the zero predictor."""
        return self.zero - self.objective <= COLLAPSE_GAIN * self.zero

    def arrive(self, steepness, size):
        """Take |gradient|^2 and |U|^2 at where it is now, and end if a rule says so."""
        rules, values, gain = self.rules, self.values, self.zero - self.objective
        self.norm = math.sqrt(steepness)
        if not math.isfinite(self.norm + self.objective):
            self.status = "diverged"
        elif 0.5 * self.norm * math.sqrt(size) <= min(rules.tolerance * self.objective, 0.1 * gain) or (
            rules.stop == "decrease"
            and not self.collapsed
            and len(values) > _WINDOW
            and values[-1 - _WINDOW] - self.objective <= rules.tolerance * self.objective
        ):
            self.status = "ok"
        elif self.iterations >= _COLLAPSE_AFTER and self.collapsed:
            self.status = "collapsed"
        elif self.iterations == rules.max_iterations:
            self.status = "not_converged"

    def step(self, t, value, fresh):
        """The step to make, 0 if none; fresh: whether the direction is that of the steepest descent."""
        self.products += 1
        self.iterations += 1
        if math.isnan(t):
            self.status = "diverged"
        elif t > 0.0 and value < self.objective:
            self.objective = value
            return t
        # Rounding has spoilt the direction: once more from the steepest descent, then give up.
        elif fresh:
            self.status = "collapsed" if self.collapsed else "not_converged"
        return 0.0

    def move(self, points, place):
        """Take up the step that its point has made, that of a place in the stack."""
        if self.iterations % _REFRESH == 0:
            point = points.at(place)
            point.refresh()
            point.prepare_gradient()
            self.objective = _objective(point, self.scaled_ridge)
            self.products += 1
        self.products += 1
        self.values.append(self.objective)

    def end(self, product_flops):
        flops = self.products * product_flops
        return Descent(self.status, self.objective, self.norm, self.iterations, flops, self.values)


def _objective(point, scaled_ridge):
    return float(point.train_loss() + scaled_ridge * point.penalty())


def descend(point, scaled_ridge, rules, metric=None):
    """L-BFGS from `point`, which it moves, to a stationary point at one ridge -> `Descent`.

    metric: point -> an object whose solve(V) preconditions, made anew every eight iterations.
    """
    found = None

    def next_ridge(_, point, end):
        nonlocal found
        found = end
        return scaled_ridge if end is None else None

    _lockstep(point.at(None), next_ridge, rules, metric)
    return found


def _lockstep(point, next_ridge, rules, metric=None, memory=10):
    """L-BFGS of a stack of problems, whose points it moves, an iteration of all at a time, each along its own ridges.

    next_ridge: (which problem, its point, `Descent` of the last ridge or None) -> the next scaled ridge, for which it
    may set the point, or None at its end. metric: as in `descend`, of a stack of one.
    """
    shape, which, zero = point.weights.shape[1:], list(range(len(point.weights))), point.problem.zero_objective
    gradient, previous, direction = (np.empty((len(which), math.prod(shape)), point.weights.dtype) for _ in range(3))
    history = History(len(which), memory, *gradient.shape[1:], gradient.dtype)
    runs, lift = [None] * len(which), None

    def begin(i):
        """The next ridge of the problem in place i at which it does not end at once."""
        run, at = runs[i], point.at(i)
        while run is None or run.status:
            if run and run.status in ("diverged", "collapsed"):
                history.clear(i)
            scaled_ridge = next_ridge(which[i], at, run and run.end(at.problem.product_flops))
            if scaled_ridge is None:
                runs[i] = None
                return
            run = runs[i] = _Run(rules, float(zero[which[i]]), scaled_ridge, _objective(at, scaled_ridge))
            at.prepare_gradient()
            at.gradient(scaled_ridge, gradient[i].reshape(shape), direction[i].reshape(shape))
            run.arrive(float(np.vecdot(gradient[i], gradient[i])), at.norms.sum())

    for i in which:
        begin(i)
    while left := [i for i, run in enumerate(runs) if run]:
        if len(left) < len(runs):
            which, runs, point = [which[i] for i in left], [runs[i] for i in left], point.at(left)
            gradient, previous, direction = gradient[left], previous[left], direction[left]
            history.keep(left)
        stack = (len(runs), *shape)
        if metric is None:
            lifted = gradient
        elif runs[0].iterations % _METRIC_LIFE == 0:
            lift = metric(point.at(0)).solve
            history.clear(0)
            lifted = lift(gradient.reshape(shape)).reshape(1, -1)
        history.direction(gradient, lifted, direction)
        outputs, penalty = point.line(direction.reshape(stack))
        ridges, pairs = np.array([run.scaled_ridge for run in runs]), history.counts
        # A first step has no scale, unless the metric gives it one.
        guesses = [1.0 if count or metric else 0.0 for count in pairs]
        found = _searches(point.problem, outputs, penalty, ridges, guesses)
        made = [run.step(*one, not count) for run, one, count in zip(runs, found, pairs, strict=True)]
        t, (steps, changes) = np.array(made), history.slot()
        np.multiply(direction, t.astype(direction.dtype)[:, None], out=steps)
        point.move(t, steps.reshape(stack), outputs)
        for i, step in enumerate(made):
            if step:
                runs[i].move(point, i)
        gradient, previous = previous, gradient
        point.gradient(ridges, gradient.reshape(stack), direction.reshape(stack))
        former, lifted = lifted, gradient if lift is None else lift(gradient.reshape(shape)).reshape(1, -1)
        np.subtract(lifted, former, out=changes)
        history.push(previous)
        for i, step in enumerate(made):
            if not step:
                history.clear(i)
        arrived = zip(np.vecdot(gradient, gradient).tolist(), point.norms.sum(axis=-1).tolist(), strict=True)
        for i, at in enumerate(arrived):
            if not runs[i].status:
                runs[i].arrive(*at)
            if runs[i].status:
                begin(i)


def stack_size(samples, features, width):
    """How many problems in float32 `fit_paths` is best given at a time: as many as have their gates in cache together.

    What it keeps of so many is at most STACK_BYTES.
    """
    return max(1, BLOCK_BYTES // (4 * (samples + features) * width))


def fit_path(features, gates, signs, targets, ridges, start, **options):
    """`fit_paths` of one problem, whose arrays have no axis in front -> `PathFit`."""
    features, gates, targets, start = (np.asarray(array) for array in (features, gates, targets, start))
    return fit_paths(features[None], gates[None], signs, targets[None], ridges, start[None], **options)[0]


def fit_paths(
    features,
    gates,
    signs,
    targets,
    ridges,
    starts,
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
    ends, losses = [[] for _ in starts], np.full(weights.shape[:2], np.nan)

    def next_ridge(which, point, end):
        done = ends[which]
        if end is not None:
            place = which, largest_first[len(done)]
            losses[place] = point.train_loss()
            if end.status != "diverged":
                weights[place] = point.weights * unit
            if end.status in ("diverged", "collapsed"):
                point.weights[...] = starts[which] / unit
            point.refresh()
            done.append(end)
        return problem.scaled_ridge(ridges[largest_first[len(done)]]) if len(done) < len(ridges) else None

    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        rules = Rules(tolerance, max_iterations, stop)
        _lockstep(TaylorPoint(problem, starts / unit), next_ridge, rules, memory=memory)
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
