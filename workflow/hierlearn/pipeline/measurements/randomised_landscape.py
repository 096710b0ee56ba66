"""How close the landscape of a randomised two-layer network is to that of its quadratic Taylor model (bai2020)."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge

from hierlearn.core.parameters import Count
from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Experiment
from hierlearn.pipeline.measurements._models import Model, models, normal, training
from hierlearn.pipeline.measurements._parameters import Loss, MaxIterations, Ridge, Several, Widths, listing
from hierlearn.pipeline.measurements._trainings import report_failure
from hierlearn.pipeline.measurements._variables import Variables, describe, split
from hierlearn.solvers.losses import LOSSES
from hierlearn.theory import landscape


@dataclass(frozen=True, kw_only=True)
class RandomisedLandscape(Experiment):
    """Lemmas 12, 13, 14 and Theorem 2 of bai2020 for sigma = relu^3 / 6 on the input itself.

    L(W) = E_S mean loss(f_{W0 + W S}), S random signs; L^Q(W) is the mean loss of the quadratic Taylor model, whose
    sigma'' is relu. The mean over S is exact for the squared loss and over pairs S, -S of draws for the logistic loss,
    the paper's kind; the mean over S' is exact for both. W* is the explicit reference, which looks along the leading
    eigenvectors of the labels.
    """

    loss: Loss = "squared"
    widths: Widths = listing(4, 8)
    points: Annotated[
        Several[Literal["random", "trained", "explicit"]],
        "W: random rows of length m^{-1/4}; trained, quadratic model; explicit, the reference W*.",
    ] = listing("random", "trained", "explicit")
    samples: Annotated[int, Ge(2), "Number n of points."] = 50
    draws: Annotated[
        Count, "Pairs S, -S of sign vectors for the logistic loss; the squared loss has a closed form."
    ] = 16
    ridge: Ridge = 1.0e-3
    max_iterations: MaxIterations = 200
    MEASURES = {
        "loss_difference": "|L(W) - L^Q(W)|",
        "gradient_difference": "|<grad L(W) - grad L^Q(W), W>|",
        "hessian_difference": "|E_S' (Hessian L - Hessian L^Q)[W* S', W* S']|",
        "excess": "E_S' Hessian L [W* S', W* S'] - <grad L(W), W> + 2 (L(W) - L^Q(W*)), at most the error of Theorem 2",
        "slack": "s of Lemma 1",
        "slack_of_unit_norms": "s over |W|^2 |W*|^2",
        "norm": "|W|_{2,4}",
        "slack_equal_signs": "s along W* without S', W with the signs for which <w_r, w*_r> >= 0",
        "loss_difference_equal_signs": "loss_difference of the network without S, these signs of W in its place",
        "gradient_difference_equal_signs": "gradient_difference of the same",
        "hessian_difference_equal_signs": "hessian_difference of the same, along W* without S'",
        "excess_equal_signs": "excess of the same, along W* without S'",
    }
    COORDINATES = {"width": "widths", "point": "points"}

    def measure(self, problem: Problem) -> Variables:
        """MEASURES over (seed, width, point); NaN at an end that diverged or collapsed."""
        streams = problem.streams.at("randomised_landscape")
        dimension, widest = problem.inputs.dimension, max(self.widths)
        rows = normal(streams.at("rows"), widest, dimension)
        draws = streams.at("draws").stack(lambda g: 1.0 - 2.0 * g.integers(0, 2, (widest, self.draws))).swapaxes(1, 2)
        shape = (len(problem.seeds), len(self.widths), len(self.points), len(self.MEASURES))
        values, flops = np.full(shape, np.nan), np.zeros(len(problem.seeds))
        data = training(problem, streams, self.samples, loss=self.loss)
        for s, i, w0, model in models(*data, streams, self.widths):
            width = self.widths[i]
            here, status, cost = self._points(model, rows[s, :width])
            lost = report_failure("randomised_landscape", "taylor", {"seed": problem.seeds[s], "width": width}, status)
            for j, name in enumerate(self.points):
                if name != "trained" or not lost:
                    sides = self._sides(model, w0, here[name], here["explicit"], draws[s, :, :width])
                    values[s, i, j] = [sides[measure] for measure in self.MEASURES]
            flops[s] += cost + 14.0 * len(self.points) * self.samples * width * dimension
        return describe(self, problem, split(("seed", "width", "point"), self.MEASURES, values), flops)

    def _points(self, model: Model, rows) -> tuple[dict[str, np.ndarray], str, float]:
        """W by name, what became of the training, and the operations that it took."""
        scale = len(rows) ** -0.25
        known = {
            "random": scale * rows / np.linalg.norm(rows, axis=1, keepdims=True),
            "explicit": landscape.leading_reference(*model),
        }
        if "trained" not in self.points:
            return known, "ok", 0.0
        options = {"loss": self.loss, "power": 8, "max_iterations": self.max_iterations}
        path = model.train([model.unit_ridge(self.ridge)], scale * rows, **options)
        return known | {"trained": path.weights[0]}, path.status[0], float(path.flops[0])

    def _sides(self, model: Model, w0, weights, reference, draws) -> dict[str, float]:
        """All measures but flops at W."""
        loss, network = LOSSES[self.loss], (model.features, np.tile(w0, (2, 1)), model.signs)
        one = landscape.quadratic_expansion(*model, loss, weights, reference)
        if self.loss == "squared":
            other = landscape.RandomisedSquaredRisk(*network, model.targets).expansion(weights, reference)
        else:
            other = landscape.randomised_expansion(*network, weights, reference, model.targets, loss, draws)
        optimum = float(np.mean(loss.value(model.outputs(reference), model.targets)))
        curvature = loss.curvature(model.outputs(weights), model.targets)
        slack = landscape.curvature_slack(model.features, model.gates, weights, reference, curvature)
        norm = landscape.quartic_norm(weights)
        aligned = weights * np.where(np.sum(weights * reference, axis=1, keepdims=True) >= 0, 1.0, -1.0)
        plain = landscape.equal_sign_expansion(*network, aligned, reference, model.targets, loss)
        common = landscape.equal_sign_slack(model.features, model.gates, model.signs, aligned, reference, curvature)
        return {
            "loss_difference": abs(other.risk - one.risk),
            "gradient_difference": abs(other.radial - one.radial),
            "hessian_difference": abs(other.curvature - one.curvature),
            "excess": other.curvature - other.radial + 2.0 * (other.risk - optimum),
            "slack": slack,
            "slack_of_unit_norms": slack / np.sqrt(norm * landscape.quartic_norm(reference)),
            "norm": norm**0.25,
            "slack_equal_signs": common,
            "loss_difference_equal_signs": abs(plain.risk - one.risk),
            "gradient_difference_equal_signs": abs(plain.radial - one.radial),
            "hessian_difference_equal_signs": abs(plain.curvature - (one.curvature - slack + common)),
            "excess_equal_signs": plain.curvature - plain.radial + 2.0 * (plain.risk - optimum),
        }
