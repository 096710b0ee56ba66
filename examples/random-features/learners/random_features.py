"""A network with one trained layer: random features, and ridge regression on them."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from hierlearn.core.needs import Needs, Sizes
from hierlearn.core.parameters import Count, Positive
from hierlearn.core.protocols import STATUS, Features, Fit, Learner, Monitor, State, TrainingData
from hierlearn.learners._selection import best_on_validation, error, fit_of_seed, points_by_seed
from hierlearn.solvers.ridge import linear_ridge_path


@dataclass(frozen=True, kw_only=True)
class RandomFeatures(Learner):
    """f(x) = sum_j a_j relu(<w_j, x>) / m^{1/2}, w_j ~ N(0, I) at rest and a trained  (Rahimi and Recht 2007)."""

    width: Annotated[Count, "Number m of neurons."] = 200

    class Choices:
        ridge: Annotated[Positive, "Strength of the penalty on |a|^2."]

    def needs(self, sizes: Sizes) -> Needs:
        """Count hidden layers, a Gram matrix of them and its factors; the two layers of a model."""
        n, m, rows = sizes.samples, self.width, sizes.samples + sizes.validation
        memory = {"fit": 3 * rows * m + 3 * min(n, m) ** 2, "predict": 2 * sizes.test * m}
        memory["model"] = m * (sizes.features + sizes.outputs)
        return Needs(memory=memory, work={"fit": 4 * n * m * min(n, m), "predict": 2 * sizes.test * m})

    def fit(self, sample: TrainingData, monitor: Monitor, cache: dict[Any, Any]) -> Fit:
        """Fit all seeds; state: w (S, D, m), a (S, m, k) float64."""
        ridges, kind = np.asarray(sample.choices["ridge"], np.float64), sample.data.kind
        dimension = sample.features.draw("training", 1).shape[-1]
        layers = sample.streams.at("w").stack(lambda generator: generator.standard_normal((dimension, self.width)))
        fits = []
        for w, (x, y, z, labels) in zip(layers, points_by_seed(sample), strict=True):
            h, g = hidden(x, w), hidden(z, w)
            a = linear_ridge_path(h, y, ridges)
            best = best_on_validation(g @ a, labels, kind)
            risks = {"validation_risk": error(g @ a[best], labels, kind), "train_risk": error(h @ a[best], y, kind)}
            state = {"w": w, "a": a[best]}
            fits.append(
                fit_of_seed(STATUS["ok"], state=state, choices={"ridge": ridges[best]}, flops=2.0 * h.size, **risks)
            )
        return Fit.stack(fits)

    def predict(self, state: State, features: Features, role: str, count: int, cache: dict[Any, Any]) -> np.ndarray:
        """Return predictions (S, count, k) float64."""
        return hidden(features.draw(role, count), state["w"]) @ state["a"]


def hidden(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return relu(<w_j, x>) / m^{1/2}: (..., n, D), (..., D, m) -> (..., n, m) float64."""
    return np.maximum(x.astype(np.float64) @ w, 0) / np.sqrt(w.shape[-1])
