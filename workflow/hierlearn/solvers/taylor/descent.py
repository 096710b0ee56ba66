"""L-BFGS on a stack of Taylor models in lockstep: directions, exact line searches, and the rules that end each descent.

Problems of one shape and model, those of several seeds, make their iterations together: at small sizes an iteration is
mostly the time that numpy takes to begin an operation. Every iteration makes two matrix products; the line search is
exact (squared loss) or costs n-vectors only.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from hierlearn.solvers.taylor.lanczos import Metric, Operator
from hierlearn.solvers.taylor.lbfgs import History
from hierlearn.solvers.taylor.line_search import minimise_along_line, minimise_polynomial, squared_loss_polynomial
from hierlearn.solvers.taylor.model import TaylorPoint, TaylorProblem

# Iterations after which outputs are computed anew, against rounding, and for which a metric serves.
_REFRESH = 100
_METRIC_LIFE = 8
# Iterations over which the rule `decrease` compares.
_WINDOW = 10
# Iterations after which a gain over the zero predictor below this share of its objective is a collapse.
_COLLAPSE_AFTER = 30
COLLAPSE_GAIN = 1e-6


@dataclass
class Descent:
    """The end of one run at one ridge, in scaled units."""

    status: str
    objective: float
    gradient_norm: float
    iterations: int
    flops: int
    trace: list[float] = field(default_factory=list)


# Of a problem by its place, its point, and the end of its last ridge: the next scaled ridge, None at the end.
NextRidge = Callable[[int, TaylorPoint, Descent | None], float | None]


def search(
    problem: TaylorProblem, outputs: np.ndarray, penalty: np.ndarray, scaled_ridge: float, guess: float = 1.0
) -> tuple[float, float]:
    """Find the best t > 0 of the objective along a line or a parabola -> (t, objective there).

    outputs (j + 1, n) and penalty (l + 1,): coefficients by ascending powers of t, of any degrees.

    Squared loss: the global minimiser of a polynomial. Other losses: a local minimiser by safeguarded Newton steps.
    """
    return _searches(problem.at(None), outputs[:, None], penalty[:, None], np.array([scaled_ridge]), [guess])[0]


def _searches(
    problem: TaylorProblem, outputs: np.ndarray, penalty: np.ndarray, scaled_ridge: np.ndarray, guesses: Sequence[float]
) -> list[tuple[float, float]]:
    """`search` of each of a stack: outputs (j + 1, S, n), penalty (l + 1, S), scaled_ridge (S,), guesses (S,)."""
    penalty = scaled_ridge * penalty
    if problem.loss.name == "squared":
        short, polynomials = sorted((penalty, squared_loss_polynomial(outputs, problem.targets)), key=len)
        polynomials[: len(short)] += short
        return [minimise_polynomial(one) for one in polynomials.T.tolist()]
    lines = zip(outputs.swapaxes(0, 1), problem.targets, penalty.T, guesses, strict=True)
    return [minimise_along_line(problem.loss, *line) for line in lines]


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

    def __init__(self, rules: Rules, zero: float, scaled_ridge: float, objective: float) -> None:
        self.rules, self.zero, self.scaled_ridge, self.objective = rules, zero, scaled_ridge, objective
        self.values, self.iterations, self.products = [objective], 0, 1
        self.status, self.norm = "", np.nan

    @property
    def collapsed(self) -> bool:
        """Whether the objective is that of the zero predictor."""
        return self.zero - self.objective <= COLLAPSE_GAIN * self.zero

    def arrive(self, steepness: float, size: float) -> None:
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

    def step(self, t: float, value: float, fresh: bool) -> float:
        """Return the step to make, 0 if none; fresh: whether the direction is that of the steepest descent."""
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

    def move(self, points: TaylorPoint, place: int) -> None:
        """Take up the step that its point has made, that of a place in the stack."""
        if self.iterations % _REFRESH == 0:
            point = points.at(place)
            point.refresh()
            point.prepare_gradient()
            self.objective = _objective(point, self.scaled_ridge)
            self.products += 1
        self.products += 1
        self.values.append(self.objective)

    def end(self, product_flops: int) -> Descent:
        flops = self.products * product_flops
        return Descent(self.status, self.objective, self.norm, self.iterations, flops, self.values)


def _objective(point: TaylorPoint, scaled_ridge: float) -> float:
    return float(point.train_loss() + scaled_ridge * point.penalty())


def descend(
    point: TaylorPoint, scaled_ridge: float, rules: Rules, metric: Callable[[TaylorPoint], Metric] | None = None
) -> Descent:
    """Descend by L-BFGS from `point`, which it moves, to a stationary point at one ridge -> `Descent`.

    metric: point -> an object whose solve(V) preconditions, made anew every eight iterations.
    """
    ends: list[Descent] = []

    def next_ridge(_: int, point: TaylorPoint, end: Descent | None) -> float | None:
        ends.extend([] if end is None else [end])
        return scaled_ridge if end is None else None

    lockstep(point.at(None), next_ridge, rules, metric)
    return ends[-1]


def lockstep(
    point: TaylorPoint,
    next_ridge: NextRidge,
    rules: Rules,
    metric: Callable[[TaylorPoint], Metric] | None = None,
    memory: int = 10,
) -> None:
    """Descend by L-BFGS in a stack of problems, whose points it moves, an iteration of all at once, each on its ridges.

    next_ridge: (which problem, its point, `Descent` of the last ridge or None) -> the next scaled ridge, for which it
    may set the point, or None at its end. metric: as in `descend`, of a stack of one.
    """
    shape, which, zero = point.weights.shape[1:], list(range(len(point.weights))), point.problem.zero_objective
    gradient, previous, direction = (np.empty((len(which), math.prod(shape)), point.weights.dtype) for _ in range(3))
    history = History(len(which), memory, gradient.shape[1], gradient.dtype)
    runs: list[_Run | None] = [None] * len(which)
    lift: Operator | None = None

    def begin(i: int) -> None:
        """Return the next ridge of the problem in place i at which it does not end at once."""
        run, at = runs[i], point.at(i)
        while run is None or run.status:
            if run and run.status in ("diverged", "collapsed"):
                history.clear(i)
            scaled_ridge = next_ridge(which[i], at, None if run is None else run.end(at.problem.product_flops))
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
        going = [run for run in runs if run]
        stack = (len(going), *shape)
        if metric is None:
            lifted = gradient
        elif going[0].iterations % _METRIC_LIFE == 0:
            lift = metric(point.at(0)).solve
            history.clear(0)
            lifted = lift(gradient.reshape(shape)).reshape(1, -1)
        history.direction(gradient, lifted, direction)
        outputs, penalty = point.line(direction.reshape(stack))
        ridges, pairs = np.array([run.scaled_ridge for run in going]), history.counts
        # A first step has no scale, unless the metric gives it one.
        guesses = [1.0 if count or metric else 0.0 for count in pairs]
        found = _searches(point.problem, outputs, penalty, ridges, guesses)
        made = [run.step(*one, not count) for run, one, count in zip(going, found, pairs, strict=True)]
        t, (steps, changes) = np.array(made), history.slot()
        np.multiply(direction, t.astype(direction.dtype)[:, None], out=steps)
        point.move(t, steps.reshape(stack), outputs)
        for i, step in enumerate(made):
            if step:
                going[i].move(point, i)
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
            if not going[i].status:
                going[i].arrive(*at)
            if going[i].status:
                begin(i)
