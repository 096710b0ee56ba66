"""Linear regression over a feature map."""

import warnings
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from hierlearn.core.needs import Needs, Sizes
from hierlearn.core.parameters import Count, Positive
from hierlearn.core.protocols import STATUS, Features, Fit, Learner, Monitor, State, TrainingData
from hierlearn.learners._selection import best_on_validation, error, fit_of_seed, points_by_seed
from hierlearn.solvers.ridge import linear_ridge_path


@dataclass(frozen=True, kw_only=True)
class Linear(Learner):
    """f_j(x) = <w_j, h(x)>, minimising (1/n) sum_i |f(x_i) - y_i|^2 + R(w)  (allenzhu2019, Section 3.2).

    R(w) = ridge * mean |h|^2 * sum_j |w_j|_2^2, solved by a factorisation, or ridge * sum_j s_j |w_j|_1, solved by
    coordinate descent from strong to weak, with s_j = max_d |(2/n) sum_i h_id y_ij|, from which on w_j = 0.
    There is no intercept: a feature that is constant serves as one. float64.
    """

    penalty: Annotated[
        Literal["ridge", "lasso"], "R(w): ridge is the sum of squares of the weights, lasso that of their sizes."
    ] = "ridge"
    tolerance: Annotated[Positive, "Lasso: largest duality gap, in units of the mean square of the labels."] = 1.0e-6
    max_iterations: Annotated[Count, "Lasso: most sweeps over the coordinates per strength."] = 20000
    stream_key: ClassVar[str] = "Linear"

    class Choices:
        ridge: Annotated[
            Positive, "Strength, in units of the mean of |h|^2 (ridge) or of the least that gives w = 0 (lasso)."
        ]

    def needs(self, sizes: Sizes) -> Needs:
        """Count the points and their second moment."""
        n, features = sizes.samples, sizes.features
        passes = {"ridge": 20 * features, "lasso": 0.1 * sizes.choices * self.max_iterations * sizes.outputs}
        return Needs(
            memory={
                "fit": (4 * n + 2 * sizes.validation + 3 * features) * features,
                "model": features * sizes.outputs,
                "predict": sizes.test * features,
            },
            work={"fit": passes[self.penalty] * n * features, "predict": 2 * sizes.test * features * sizes.outputs},
        )

    def fit(self, sample: TrainingData, monitor: Monitor, cache: dict[Any, Any]) -> Fit:
        """Fit all seeds; state: weights (S, D, k) float64. A lasso of open duality gap has the status not_converged."""
        ridges, kind = np.asarray(sample.choices["ridge"], np.float64), sample.data.kind
        path = self._ridge if self.penalty == "ridge" else self._lasso
        fits = []
        for x, y, z, labels in points_by_seed(sample):
            x, z = x.astype(np.float64), z.astype(np.float64)
            weights, converged, flops = path(x, y, ridges)
            place = best_on_validation(z @ weights, labels, kind)
            fits.append(
                fit_of_seed(
                    state={"weights": weights[place]},
                    status=STATUS["ok" if converged[place] else "not_converged"],
                    validation_risk=error(z @ weights[place], labels, kind),
                    train_risk=error(x @ weights[place], y, kind),
                    choices={"ridge": ridges[place]},
                    flops=flops + 2.0 * weights.size * len(z),
                )
            )
        return Fit.stack(fits)

    def predict(self, state: State, features: Features, role: str, count: int, cache: dict[Any, Any]) -> np.ndarray:
        """Return predictions (S, count, k) float64."""
        return features.draw(role, count).astype(np.float64) @ state["weights"]

    def _ridge(self, h: np.ndarray, y: np.ndarray, ridges: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """(n, D), (n, k), (R,) -> weights (R, D, k), whether each is a minimiser (R,), flops."""
        with np.errstate(over="ignore"):
            absolute = ridges * np.mean(np.sum(h**2, axis=1))
        flops = 2.0 * h.size * min(h.shape)
        return linear_ridge_path(h, y, absolute), np.ones(len(ridges), bool), flops

    def _lasso(self, h: np.ndarray, y: np.ndarray, ridges: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Do the same by coordinate descent, each output on a path of its own; warm-started from strong to weak."""
        # Imported here: only a lasso needs it, and it takes a second.
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import lasso_path

        weights = np.zeros((len(ridges), h.shape[1], y.shape[1]))
        converged, flops = np.ones(len(ridges), bool), 0.0
        order = np.argsort(-ridges)
        for j, labels in enumerate(y.T):
            # The library's objective is half of ours.
            largest = np.max(np.abs(h.T @ labels)) / len(labels)
            if largest == 0:
                continue
            options = {"tol": self.tolerance, "max_iter": self.max_iterations, "return_n_iter": True}
            with warnings.catch_warnings():
                # What did not converge is said by its status.
                warnings.simplefilter("ignore", ConvergenceWarning)
                _, path, gaps, sweeps = lasso_path(h, labels, alphas=ridges[order] * largest, **options)
            weights[order, :, j] = path.T
            converged[order] &= gaps <= self.tolerance * np.mean(labels**2)
            flops += 4.0 * h.size * float(np.sum(sweeps))
        return weights, converged, flops
