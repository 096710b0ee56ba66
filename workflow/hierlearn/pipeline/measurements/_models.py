"""Quadratic Taylor models as the experiments share them: drawn, trained from a start, and judged where that ends."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

import numpy as np

from hierlearn.core.parameters import Positive
from hierlearn.core.problem import Problem
from hierlearn.core.streams import Streams
from hierlearn.pipeline.measurements._parameters import Several
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
StartKinds = Annotated[
    Several[Literal["small", "large", "saddle", "exchanged", "rotated"]],
    "small: random, of size `start`; large: a hundred times that; saddle: a millionth, beside W = 0; exchanged: the "
    "explicit W* whose neurons of either sign look where those of the other should; rotated: W* in random directions.",
]
ReferencePenalty = Annotated[
    Positive | None,
    "What c ridge |W*|^p is to be at the explicit W*, from which the ridge of every seed and width follows; null: "
    "`ridge` itself.",
]
SIZES = {"small": 1.0, "large": 100.0, "saddle": 1e-6}


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


def training(problem: Problem, streams: Streams, samples: int, representation=None, unlabelled=0, loss="squared"):
    """Features (S, n, D) float64 and targets (S, n) of training points: x itself where there is no representation.

    The logistic loss takes the signs of the labels.
    """
    batch = problem.draw("training", samples)
    h, labels = batch.x, batch.labels[..., 0]
    if representation is not None:
        state = representation.fit(problem.unlabelled(unlabelled), streams.at("representation"))
        h = representation.apply(state, h)
    return h.astype(np.float64), labels if loss == "squared" else np.where(labels >= 0, 1.0, -1.0)


def models(
    features: np.ndarray, targets: np.ndarray, streams: Streams, widths: list[int], activation: str = "relu3"
) -> Iterator[tuple[int, int, np.ndarray, Model]]:
    """(position of the seed, of the width, w0 (m/2, D), model) for features (S, n, D) and targets (S, n).

    The first neurons of a wider model are those of a narrower one.
    """
    w0 = normal(streams.at("w0"), max(widths) // 2, features.shape[-1])
    for s, i in np.ndindex(len(features), len(widths)):
        first = w0[s, : widths[i] // 2]
        yield s, i, first, symmetric_model(features[s], first, targets[s], activation)


def normal(streams: Streams, *shape: int) -> np.ndarray:
    """Standard normal numbers of every seed, (S, *shape)."""
    return streams.stack(lambda generator: generator.standard_normal(shape))


def start_of(kind: str, rows: np.ndarray, explicit: np.ndarray, size: float) -> np.ndarray:
    """The weights (m, D) that a training starts from, with |<w_r, h>| about size m^{-1/4} where they are random.

    rows: standard normal numbers (m, D); explicit: W* with the neurons of one sign alike, the second half of them -1.
    The adversarial starts have the norm of W* and a tenth of a small start on top, which breaks their symmetry.
    """
    random = size * len(rows) ** -0.25 * rows
    if kind in SIZES:
        return SIZES[kind] * random
    if kind == "exchanged":
        return np.roll(explicit, len(explicit) // 2, axis=0) + 0.1 * random
    rotation, _ = np.linalg.qr(rows[: rows.shape[1]]) if len(rows) >= rows.shape[1] else np.linalg.qr(rows.T @ rows)
    return explicit @ rotation + 0.1 * random


def ridge_of(penalty: float, reference: np.ndarray, power: int) -> float:
    """The ridge at which c ridge |W*|_{2,4}^power is `penalty`."""
    return penalty / (PENALTY_CONSTANTS[power] * quartic_norm(reference) ** (power // 4))


def penalised_reference(model: Model, explicit, ridge: float, power: int, max_iterations: int) -> np.ndarray:
    """W* of a bound as small as descent from the explicit W* makes it, but for s; that itself where it fails."""
    path = model.train([PENALTY_CONSTANTS[power] * ridge], explicit, power=power, max_iterations=max_iterations)
    return path.weights[0] if path.status[0] in ("ok", "not_converged") else explicit


def excess(objective: np.ndarray, *references: np.ndarray) -> np.ndarray:
    """Objectives of ends less the least one known, NaN where an end failed.

    objective (S, W, ...) of the ends at every seed and width, references (S, W, ...) L(W*) + ridge |W*|^p.
    """
    known = np.concatenate([one.reshape(*one.shape[:2], -1) for one in (objective, *references)], axis=2)
    least = np.where(np.isfinite(known), known, np.inf).min(axis=2)
    return objective - least.reshape(*least.shape, *[1] * (objective.ndim - 2))


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
