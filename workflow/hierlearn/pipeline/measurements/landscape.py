"""Lemma 1 of bai2020 along a training: the landscape inequality of quadratic Taylor models, and its slack."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import scipy
from annotated_types import Ge

from hierlearn.core.parameters import Index, Positive
from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Experiment
from hierlearn.pipeline.measurements._models import Model, models, normal, training
from hierlearn.pipeline.measurements._parameters import Loss, Ridge, Several, listing
from hierlearn.pipeline.measurements._trainings import report_failure
from hierlearn.pipeline.measurements._variables import Variables, describe, split
from hierlearn.solvers.losses import LOSSES
from hierlearn.solvers.taylor.hessian import hessian_operator
from hierlearn.solvers.taylor.model import TaylorPoint, make_problem
from hierlearn.theory.landscape import curvature_slack, leading_reference


@dataclass(frozen=True, kw_only=True)
class Landscape(Experiment):
    """Both sides of Lemma 1 (bai2020) for Quad-h on the input itself, sigma'' = relu, without the ridge.

    The left side is made of exact Hessian products only: the rows of a Hadamard matrix are m sign vectors whose mean of
    any quadratic form is that over all 2^m. The right side is the closed form of the slack; it is the paper's bound
    O(d B_x^4 |W|^2 |W*|^2 / m) before its last two inequalities.
    """

    loss: Loss = "squared"
    widths: Annotated[
        Several[Literal[2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]], "Numbers m of neurons, powers of 2."
    ] = listing(4, 8)
    iterations: Annotated[
        Several[Index], "Iterations of the training after which the inequality is evaluated; 0 is the random start."
    ] = listing(0, 10)
    references: Annotated[
        Several[Literal["explicit", "trained"]],
        "W*: explicit, from the leading eigenvectors of the labels; trained, from another start.",
    ] = listing("explicit", "trained")
    samples: Annotated[int, Ge(2), "Number n of points."] = 50
    ridge: Ridge = 1.0e-3
    start: Annotated[Positive, "Size of <w_r, h> m^{1/4} at the random start."] = 1.0
    MEASURES = {
        "left": "E_S Hessian [W* S, W* S] - <gradient, W> + 2 (L(W) - L(W*))",
        "slack": "s, the right side of Lemma 1",
        "loss_excess": "L(W) - L(W*)",
    }
    COORDINATES = {"width": "widths", "iteration": "iterations", "reference": "references"}

    def measure(self, problem: Problem) -> Variables:
        """MEASURES over (seed, width, iteration, reference); NaN at weights that diverged or collapsed."""
        streams = problem.streams.at("landscape")
        dimension = problem.inputs.dimension
        starts = [normal(streams.at("start", i), max(self.widths), dimension) for i in range(2)]
        shape = (len(problem.seeds), len(self.widths), len(self.iterations), len(self.references))
        values, flops = np.empty((*shape, 3)), np.zeros(len(problem.seeds))
        data = training(problem, streams, self.samples, loss=self.loss)
        for s, i, _, model in models(*data, streams, self.widths):
            width = self.widths[i]
            place, scale = {"seed": problem.seeds[s], "width": width}, self.start * width**-0.25
            paths = [
                self._path(model, scale * start[s, :width], place | {"start": number})
                for number, start in enumerate(starts)
            ]
            known = {"explicit": leading_reference(*model), "trained": paths[1][0][-1]}
            flops[s] += sum(cost for _, cost in paths)
            for j, weights in enumerate(paths[0][0]):
                values[s, i, j] = [self._sides(model, weights, known[name]) for name in self.references]
            # A Hessian product is four matrix products of the features with weights.
            flops[s] += len(self.iterations) * len(self.references) * width * 8.0 * model.gates.size * dimension
        axes = ("seed", "width", "iteration", "reference")
        return describe(self, problem, split(axes, self.MEASURES, values), flops)

    def _path(self, model: Model, weights, place) -> tuple[list[np.ndarray], float]:
        """The weights after each number of iterations, in the order of `iterations`, and operations spent."""
        stops, done, flops, lost = {}, 0, 0.0, False
        ridges, options = [model.unit_ridge(self.ridge)], {"loss": self.loss, "power": 8}
        for stop in sorted(self.iterations):
            if stop > done and not lost:
                path = model.train(ridges, weights, max_iterations=stop - done, **options)
                weights, done, flops = path.weights[0], stop, flops + float(path.flops[0])
                lost = report_failure("landscape", "taylor", place | {"iteration": stop}, path.status[0])
                weights = np.full_like(weights, np.nan) if lost else weights
            stops[stop] = weights
        return [stops[stop] for stop in self.iterations], flops

    def _sides(self, model: Model, weights, reference) -> tuple[float, float, float]:
        """left, slack, L(W) - L(W*)."""
        if not (np.isfinite(weights).all() and np.isfinite(reference).all()):
            return np.nan, np.nan, np.nan
        problem = make_problem(*model, 2, self.loss)
        unit, loss = problem.weight_unit, LOSSES[self.loss]
        point, goal = TaylorPoint(problem, weights / unit), TaylorPoint(problem, reference / unit)
        gradient, scratch = np.empty_like(point.weights), np.empty_like(point.weights)
        point.prepare_gradient()
        radial = float(np.vdot(point.gradient(0.0, gradient, scratch), point.weights))
        hessian, directions = hessian_operator(point, 0.0), goal.weights
        forms = []
        for row in scipy.linalg.hadamard(len(model.signs)):
            along = row[:, None] * directions
            forms.append(float(np.vdot(along, hessian(along))))
        excess = point.train_loss() - goal.train_loss()
        curvature = loss.curvature(point.outputs, model.targets)
        slack = curvature_slack(model.features, model.gates, weights, reference, curvature)
        return float(np.mean(forms)) - radial + 2.0 * excess, slack, excess
