"""Ridge regression on what the representation shows and all products of two of its coordinates."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from hierlearn.core.needs import Needs, Sizes
from hierlearn.core.parameters import Positive
from hierlearn.core.protocols import STATUS, Features, Fit, Learner, Monitor, State, TrainingData
from hierlearn.learners._selection import best_on_validation, error, fit_of_seed, points_by_seed
from hierlearn.solvers.ridge import linear_ridge_path


@dataclass(frozen=True, kw_only=True)
class Template(Learner):
    """f(x) = <w, p(x)>, p(x) = (1, x, x x^T), minimising (1/n) sum_i |f(x_i) - y_i|^2 + ridge |w|^2."""

    class Choices:
        # What a study selects on validation points, or sweeps: select: {ridge: [...]}.
        ridge: Annotated[Positive, "Strength of the penalty."]

    def needs(self, sizes: Sizes) -> Needs:
        """Count memory in numbers and work in operations, by which jobs are placed; without it they are guessed."""
        n, monomials = sizes.samples, (sizes.features + 1) ** 2
        return Needs(
            memory={"fit": (n + sizes.validation + 3 * monomials) * monomials, "predict": sizes.test * monomials},
            work={"fit": 4 * n * monomials**2, "predict": 2 * sizes.test * monomials},
        )

    def fit(self, sample: TrainingData, monitor: Monitor, cache: dict[Any, Any]) -> Fit:
        """Fit all seeds; state: weights (S, (D + 1)(D + 2) / 2, k) float64, ridge chosen on validation points."""
        ridges, kind = np.asarray(sample.choices["ridge"], np.float64), sample.data.kind
        fits = []
        # One seed after the other: features (n, D) and labels (n, k), training points and validation points.
        for x, y, z, labels in points_by_seed(sample):
            x, z = monomials(x), monomials(z)
            weights = linear_ridge_path(x, y, ridges)
            place = best_on_validation(z @ weights, labels, kind)
            fits.append(
                fit_of_seed(
                    state={"weights": weights[place]},
                    status=STATUS["ok"],
                    validation_risk=error(z @ weights[place], labels, kind),
                    train_risk=error(x @ weights[place], y, kind),
                    choices={"ridge": ridges[place]},
                    flops=2.0 * x.size * min(x.shape),
                )
            )
        return Fit.stack(fits)

    def predict(self, state: State, features: Features, role: str, count: int, cache: dict[Any, Any]) -> np.ndarray:
        """Return predictions (S, count, k) float64."""
        return monomials(features.draw(role, count)) @ state["weights"]


def monomials(h: np.ndarray) -> np.ndarray:
    """Return products: (..., n, D) -> (..., n, (D + 1)(D + 2) / 2) float64."""
    h = np.concatenate([np.ones((*h.shape[:-1], 1)), h.astype(np.float64)], axis=-1)
    first, second = np.triu_indices(h.shape[-1])
    return h[..., first] * h[..., second]
