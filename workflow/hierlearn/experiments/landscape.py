"""Lemma 1 of bai2020 along a training: the landscape inequality of quadratic Taylor models, and its slack."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np
import scipy
from annotated_types import Ge, MinLen

from hierlearn.core.parameters import UNIQUE, Index, Positive
from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Experiment
from hierlearn.experiments._failures import report_failure
from hierlearn.files.netcdf import Variable
from hierlearn.probes._parameters import Loss, Ridge
from hierlearn.solvers.losses import get_loss
from hierlearn.solvers.taylor.hessian import hessian_operator
from hierlearn.solvers.taylor.model import TaylorPoint, make_problem
from hierlearn.solvers.taylor.training import fit_path
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
        list[Literal[2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]], MinLen(1), UNIQUE, "Numbers m of neurons, powers of 2."
    ] = field(default_factory=lambda: [4, 8])
    iterations: Annotated[
        list[Index],
        MinLen(1),
        UNIQUE,
        "Iterations of the training after which the inequality is evaluated; 0 is the random start.",
    ] = field(default_factory=lambda: [0, 10])
    references: Annotated[
        list[Literal["explicit", "trained"]],
        MinLen(1),
        UNIQUE,
        "W*: explicit, from the leading eigenvectors of the labels; trained, from another start.",
    ] = field(default_factory=lambda: ["explicit", "trained"])
    samples: Annotated[int, Ge(2), "Number n of points."] = 50
    ridge: Ridge = 1.0e-3
    start: Annotated[Positive, "Size of <w_r, h> m^{1/4} at the random start."] = 1.0
    MEASURES = {
        "left": "E_S Hessian [W* S, W* S] - <gradient, W> + 2 (L(W) - L(W*))",
        "slack": "s, the right side of Lemma 1",
        "loss_excess": "L(W) - L(W*)",
        "flops": "floating-point operations of matrix products",
    }
    COORDINATES = {"width": "widths", "iteration": "iterations", "reference": "references"}

    def measure(self, problem: Problem) -> dict[str, Variable]:
        """MEASURES over (seed, width, iteration, reference); NaN at weights that diverged or collapsed."""
        streams = problem.streams.at("landscape")
        batch, dimension, widest = problem.draw("training", self.samples), problem.inputs.dimension, max(self.widths)
        w0 = streams.at("w0").stack(lambda g: g.standard_normal((widest // 2, dimension)))
        starts = [streams.at("start", i).stack(lambda g: g.standard_normal((widest, dimension))) for i in range(2)]
        shape = (len(problem.seeds), len(self.widths), len(self.iterations), len(self.references))
        values, flops = np.empty((*shape, 3)), np.zeros(len(problem.seeds))
        for s in range(len(problem.seeds)):
            x, labels = batch.x[s].astype(np.float64), batch.labels[s, :, 0]
            targets = labels if self.loss == "squared" else np.where(labels >= 0, 1.0, -1.0)
            for i, width in enumerate(self.widths):
                gates = np.tile(np.maximum(x @ w0[s, : width // 2].T, 0.0), (1, 2))
                signs = np.repeat([1.0, -1.0], width // 2)
                scale = self.start * width**-0.25
                place = {"seed": problem.seeds[s], "width": width}
                paths = [
                    self._path(x, gates, signs, targets, scale * start[s, :width], place | {"start": number})
                    for number, start in enumerate(starts)
                ]
                known = {"explicit": leading_reference(x, gates, signs, targets), "trained": paths[1][0][-1]}
                flops[s] += sum(spent for _, spent in paths)
                for j, weights in enumerate(paths[0][0]):
                    for k, name in enumerate(self.references):
                        values[s, i, j, k] = self._sides(x, gates, signs, targets, weights, known[name])
                # A Hessian product is four matrix products of the features with weights.
                flops[s] += len(self.iterations) * len(self.references) * width * 8.0 * gates.size * dimension
        dims = ("seed", "width", "iteration", "reference")
        found = {
            name: Variable(dims, values[..., i], {"units": "1", "long_name": self.MEASURES[name]})
            for i, name in enumerate(("left", "slack", "loss_excess"))
        }
        return found | {
            "seed": Variable(("seed",), np.array(problem.seeds)),
            "width": Variable(("width",), np.array(self.widths), {"units": "1", "long_name": "neurons m"}),
            "iteration": Variable(
                ("iteration",), np.array(self.iterations), {"units": "1", "long_name": "iterations of the training"}
            ),
            "reference": Variable(("reference",), np.array(self.references), {"long_name": "reference W*"}),
            "flops": Variable(("seed",), flops, {"units": "1", "long_name": self.MEASURES["flops"]}),
        }

    def _path(self, x, gates, signs, targets, weights, place) -> tuple[list[np.ndarray], float]:
        """The weights after each number of iterations, in the order of `iterations`, and operations spent."""
        visited, done, spent, lost = {}, 0, 0.0, False
        for wanted in sorted(self.iterations):
            if wanted > done and not lost:
                path = fit_path(
                    x,
                    gates,
                    signs,
                    targets,
                    [self.ridge / x.shape[1] ** 4],
                    weights,
                    loss=self.loss,
                    penalty_power=8,
                    stop="decrease",
                    max_iterations=wanted - done,
                )
                weights, done, spent = path.weights[0], wanted, spent + float(path.flops[0])
                lost = report_failure("landscape", "taylor", place | {"iteration": wanted}, path.status[0])
                weights = np.full_like(weights, np.nan) if lost else weights
            visited[wanted] = weights
        return [visited[wanted] for wanted in self.iterations], spent

    def _sides(self, x, gates, signs, targets, weights, reference) -> tuple[float, float, float]:
        """left, slack, L(W) - L(W*)."""
        if not (np.isfinite(weights).all() and np.isfinite(reference).all()):
            return np.nan, np.nan, np.nan
        problem = make_problem(x, gates, signs, targets, 2, self.loss)
        unit, loss = problem.weight_unit, get_loss(self.loss)
        point, goal = TaylorPoint(problem, weights / unit), TaylorPoint(problem, reference / unit)
        gradient, scratch = np.empty_like(point.weights), np.empty_like(point.weights)
        point.prepare_gradient()
        radial = float(np.vdot(point.gradient(0.0, gradient, scratch), point.weights))
        hessian, directions = hessian_operator(point, 0.0), goal.weights
        forms = []
        for row in scipy.linalg.hadamard(len(signs)):
            along = row[:, None] * directions
            forms.append(float(np.vdot(along, hessian(along))))
        excess = point.train_loss() - goal.train_loss()
        slack = curvature_slack(x, gates, weights, reference, loss.curvature(point.outputs, targets))
        return float(np.mean(forms)) - radial + 2.0 * excess, slack, excess
