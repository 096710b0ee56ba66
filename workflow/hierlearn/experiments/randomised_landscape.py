"""How close the landscape of a randomised two-layer network is to that of its quadratic Taylor model (bai2020)."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, MinLen

from hierlearn.core.parameters import UNIQUE, Count
from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Experiment
from hierlearn.experiments._failures import report_failure
from hierlearn.files.netcdf import Variable
from hierlearn.probes._parameters import Loss, MaxIterations, Ridge, Widths
from hierlearn.solvers.losses import get_loss
from hierlearn.solvers.taylor.training import fit_path
from hierlearn.theory.landscape import (
    RandomisedSquaredRisk,
    curvature_slack,
    leading_reference,
    quadratic_expansion,
    quadratic_outputs,
    quartic_norm,
    randomised_expansion,
)


@dataclass(frozen=True, kw_only=True)
class RandomisedLandscape(Experiment):
    """Lemmas 12, 13, 14 and Theorem 2 of bai2020 for sigma = relu^3 / 6 on the input itself.

    L(W) = E_S mean loss(f_{W0 + W S}), S random signs; L^Q(W) is the mean loss of the quadratic Taylor model, whose
    sigma'' is relu. The mean over S is exact for the squared loss and over pairs S, -S of draws for the logistic loss,
    the paper's kind; the mean over S' is exact for both. W* is the explicit reference, which looks along the leading
    eigenvectors of the labels.
    """

    loss: Loss = "squared"
    widths: Widths = field(default_factory=lambda: [4, 8])
    points: Annotated[
        list[Literal["random", "trained", "explicit"]],
        MinLen(1),
        UNIQUE,
        "W: random rows of length m^{-1/4}; trained, quadratic model; explicit, the reference W*.",
    ] = field(default_factory=lambda: ["random", "trained", "explicit"])
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
        "flops": "floating-point operations of matrix products",
    }
    COORDINATES = {"width": "widths", "point": "points"}

    def measure(self, problem: Problem) -> dict[str, Variable]:
        """MEASURES over (seed, width, point); NaN at an end that diverged or collapsed."""
        streams = problem.streams.at("randomised_landscape")
        batch, dimension, widest = problem.draw("training", self.samples), problem.inputs.dimension, max(self.widths)
        w0 = streams.at("w0").stack(lambda g: g.standard_normal((widest // 2, dimension)))
        rows = streams.at("rows").stack(lambda g: g.standard_normal((widest, dimension)))
        draws = streams.at("draws").stack(lambda g: 1.0 - 2.0 * g.integers(0, 2, (widest, self.draws))).swapaxes(1, 2)
        shape = (len(problem.seeds), len(self.widths), len(self.points), len(MEASURED))
        values, flops = np.empty(shape), np.zeros(len(problem.seeds))
        for s in range(len(problem.seeds)):
            x, labels = batch.x[s].astype(np.float64), batch.labels[s, :, 0]
            targets = labels if self.loss == "squared" else np.where(labels >= 0, 1.0, -1.0)
            for i, width in enumerate(self.widths):
                first, signs = np.tile(w0[s, : width // 2], (2, 1)), np.repeat([1.0, -1.0], width // 2)
                here, status, spent = self._points(x, np.maximum(x @ first.T, 0.0), signs, targets, rows[s, :width])
                lost = report_failure(
                    "randomised_landscape", "taylor", {"seed": problem.seeds[s], "width": width}, status
                )
                for j, name in enumerate(self.points):
                    if name == "trained" and lost:
                        values[s, i, j] = np.nan
                        continue
                    values[s, i, j] = self._sides(
                        x, first, signs, targets, here[name], here["explicit"], draws[s, :, :width]
                    )
                flops[s] += spent + 14.0 * len(self.points) * self.samples * width * dimension
        dims = ("seed", "width", "point")
        found = {
            name: Variable(dims, values[..., i], {"units": "1", "long_name": self.MEASURES[name]})
            for i, name in enumerate(MEASURED)
        }
        return found | {
            "seed": Variable(("seed",), np.array(problem.seeds)),
            "width": Variable(("width",), np.array(self.widths), {"units": "1", "long_name": "neurons m"}),
            "point": Variable(("point",), np.array(self.points), {"long_name": "point W"}),
            "flops": Variable(("seed",), flops, {"units": "1", "long_name": self.MEASURES["flops"]}),
        }

    def _points(self, x, gates, signs, targets, rows) -> tuple[dict[str, np.ndarray], str, float]:
        """W by name, what became of the training, and the operations that it took."""
        scale = len(signs) ** -0.25
        known = {
            "random": scale * rows / np.linalg.norm(rows, axis=1, keepdims=True),
            "explicit": leading_reference(x, gates, signs, targets),
        }
        if "trained" not in self.points:
            return known, "ok", 0.0
        path = fit_path(
            x,
            gates,
            signs,
            targets,
            [self.ridge / x.shape[1] ** 4],
            scale * rows,
            loss=self.loss,
            penalty_power=8,
            stop="decrease",
            max_iterations=self.max_iterations,
        )
        return known | {"trained": path.weights[0]}, path.status[0], float(path.flops[0])

    def _sides(self, x, first, signs, targets, weights, reference, draws) -> tuple[float, ...]:
        """MEASURED at W."""
        loss, gates = get_loss(self.loss), np.maximum(x @ first.T, 0.0)
        model = quadratic_expansion(x, gates, signs, weights, reference, targets, loss)
        if self.loss == "squared":
            network = RandomisedSquaredRisk(x, first, signs, targets).expansion(weights, reference)
        else:
            network = randomised_expansion(x, first, signs, weights, reference, targets, loss, draws)
        optimum = float(np.mean(loss.value(quadratic_outputs(x, gates, signs, reference), targets)))
        curvature = loss.curvature(quadratic_outputs(x, gates, signs, weights), targets)
        slack, norms = (
            curvature_slack(x, gates, weights, reference, curvature),
            (quartic_norm(weights), quartic_norm(reference)),
        )
        return (
            abs(network.risk - model.risk),
            abs(network.radial - model.radial),
            abs(network.curvature - model.curvature),
            network.curvature - network.radial + 2.0 * (network.risk - optimum),
            slack,
            slack / np.sqrt(norms[0] * norms[1]),
            norms[0] ** 0.25,
        )


MEASURED = (
    "loss_difference",
    "gradient_difference",
    "hessian_difference",
    "excess",
    "slack",
    "slack_of_unit_norms",
    "norm",
)
