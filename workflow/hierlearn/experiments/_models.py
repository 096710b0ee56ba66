"""Quadratic Taylor models as the experiments share them: drawn, trained, and judged where the training ends."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hierlearn.core.problem import Problem
from hierlearn.core.streams import Streams
from hierlearn.solvers.taylor.training import PathFit, fit_path
from hierlearn.theory.activations import derivative
from hierlearn.theory.landscape import (
    PENALTY_CONSTANTS,
    curvature_slack,
    objective_bounds,
    quadratic_outputs,
    quartic_norm,
)

# A training that lowers the objective of the zero predictor by no more than this part of it has not left it.
COLLAPSE_GAIN = 1e-6


class Model(NamedTuple):
    """Quad-h at n points: features (n, D), gates (n, m) = sigma''(<w0_r, h>), signs a (m,), targets (n,)."""

    features: np.ndarray
    gates: np.ndarray
    signs: np.ndarray
    targets: np.ndarray

    def train(self, ridges: list[float], start: np.ndarray, loss="squared", power=8, max_iterations=500) -> PathFit:
        """Stationary points at ridges of |W|_{2,4}^power, from W = start (m, D)."""
        options = {"loss": loss, "penalty_power": power, "stop": "decrease", "max_iterations": max_iterations}
        return fit_path(*self, ridges, start, **options)

    def outputs(self, weights: np.ndarray) -> np.ndarray:
        """f^Q_W at the points, (n,)."""
        return quadratic_outputs(self.features, self.gates, self.signs, weights)

    def unit_ridge(self, ridge: float) -> float:
        """A ridge of |W|_{2,4}^8 for |h|^2 = D at |h|^2 = 1: it means the same at every number of features."""
        return ridge / self.features.shape[1] ** 4


def symmetric_model(features, w0, targets, activation: str) -> Model:
    """The model with the symmetric initialisation (bai2020, eq. 3): w0 (m/2, D) once with a = +1, once with a = -1."""
    gates = derivative(activation, 2)(np.tile(features @ w0.T, (1, 2)))
    return Model(features, gates, np.repeat([1.0, -1.0], len(w0)), targets)


def models(
    problem: Problem, streams: Streams, samples: int, widths: list[int], loss: str = "squared"
) -> Iterator[tuple[int, int, np.ndarray, Model]]:
    """(position of the seed, of the width, w0 (m/2, d), model) of sigma = relu^3 / 6 on the input itself.

    The first neurons of a wider model are those of a narrower one; the logistic loss takes the signs of the labels.
    """
    batch = problem.draw("training", samples)
    w0 = normal(streams.at("w0"), max(widths) // 2, problem.inputs.dimension)
    for s in range(len(problem.seeds)):
        x, labels = batch.x[s].astype(np.float64), batch.labels[s, :, 0]
        targets = labels if loss == "squared" else np.where(labels >= 0, 1.0, -1.0)
        for i, width in enumerate(widths):
            first = w0[s, : width // 2]
            yield s, i, first, symmetric_model(x, first, targets, "relu3")


def normal(streams: Streams, *shape: int) -> np.ndarray:
    """Standard normal numbers of every seed, (S, *shape)."""
    return streams.stack(lambda generator: generator.standard_normal(shape))


@dataclass(frozen=True)
class End:
    """An end of a training: weights (m, D), objective, |gradient|_F, and a lower bound on the Hessian's spectrum.

    NaN where the training diverged.
    """

    weights: np.ndarray
    objective: float
    gradient_norm: float
    curvature: float

    def error(self, reference) -> float:
        """(|gradient| |W|_F + (-curvature)^+ |W*|_F^2) / 2: what stationarity leaves open of the landscape theorems."""
        steepness = self.gradient_norm * np.linalg.norm(self.weights)
        return float((steepness + max(0.0, -self.curvature) * np.sum(reference**2)) / 2.0)

    def status(self, targets, limit: float) -> str:
        """ok, diverged, collapsed, or not_certified where the error against W itself is over its limit."""
        zero = float(np.mean(targets**2))
        if not np.isfinite(self.objective):
            return "diverged"
        if zero - self.objective <= COLLAPSE_GAIN * zero:
            return "collapsed"
        return "ok" if self.error(self.weights) / self.objective <= limit else "not_certified"

    def compare(
        self, model: Model, reference, ridge: float, power: int, limit: float, coupling: float = 0.0
    ) -> dict[str, float]:
        """Both bounds on the objective from L(W*), the squared loss at a reference W*, and what they are made of.

        ridge: of |W|_{2,4}^power; coupling: what the bounds are allowed beside the slack of Lemma 1 and the error. NaN
        at an end that failed or whose error against W* is over the limit, but for such an error of an end that did not
        diverge or collapse.
        """
        loss = float(np.mean((model.outputs(reference) - model.targets) ** 2))
        curvature = np.full(len(model.targets), 2.0)
        slack = curvature_slack(model.features, model.gates, self.weights, reference, curvature)
        error = self.error(reference)
        open_loss = loss + slack / 2.0 + coupling + error
        bound, sharp_bound = objective_bounds(open_loss, self.weights, reference, ridge, power)
        penalty = ridge * quartic_norm(reference) ** (power // 4)
        found = {
            "reference_loss": loss,
            "bound": bound,
            "sharp_bound": sharp_bound,
            "zero_bound": loss + PENALTY_CONSTANTS[power] * penalty,
            "reference_objective": loss + penalty,
            "slack": slack,
            "coupling": coupling,
            "norm_ratio": (quartic_norm(self.weights) / quartic_norm(reference)) ** 0.25,
            "certificate_error": error / self.objective,
        }
        over, status = found["certificate_error"] > limit, self.status(model.targets, limit)
        if status == "ok" and not over:
            return found
        kept = {"certificate_error"} if over and status in ("ok", "not_certified") else {}
        return {name: value if name in kept else np.nan for name, value in found.items()}
