"""The linearised two-layer network with the penalty of the quadratic one: fourth powers of the neurons' norms."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from hierlearn.core.needs import Needs, Sizes
from hierlearn.core.parameters import Count, Even, Positive
from hierlearn.core.protocols import STATUS, Features, Fit, Learner, Monitor, State, TrainingData
from hierlearn.learners._dual import say_dropped
from hierlearn.learners._selection import best_on_validation, error, fit_of_seed, points_by_seed
from hierlearn.learners._symmetric_gates import first_layers, gates_of, linear_outputs
from hierlearn.solvers.ridge import RowFit, fit_rows


@dataclass(frozen=True, kw_only=True)
class TangentRows(Learner):
    """f(x) = m^{-1/2} sum_r a_r sigma'(<w0_r, x>) <w_r, x> with |W|_{2,4}^4 as the penalty  (bai2020, Section 7).

    `taylor` of order 1 has |W|_F^2 in its place; all else is alike, and ridges are those for features with |h|^2 = D,
    as `taylor` has them from order 2. Mean squared error + ridge |W|_{2,4}^4 is convex and minimised to a
    relative size of its gradient (`fit_rows`); several outputs are trained one by one. A ridge that rounding leaves
    singular, or that overflows, is not chosen, which the log says; the status is `singular` where there is no other.
    """

    activation: Annotated[Literal["relu2", "relu3", "erf", "sin", "softplus"], "sigma, as `taylor` has it."] = "relu3"
    width: Annotated[Even, "Number m of neurons, even."] = 64
    tolerance: Annotated[Positive, "Relative error at which a ridge ends."] = 1.0e-2
    steps: Annotated[Count, "Most ridge regressions for a ridge."] = 60
    stream_key: ClassVar[str] = "TangentRows"
    MEASURES = {"row_error": "relative error at the chosen ridge", "row_norm": "|W|_{2,4} there"}

    class Choices:
        ridge: Annotated[Positive, "Ridges for features with |h|^2 = D."]

    def needs(self, sizes: Sizes) -> Needs:
        """Count two n x n matrices, gates, and weights; a Cholesky factor and a weighted product of gates a step."""
        n, width, features = sizes.samples, self.width, sizes.features
        weights = sizes.outputs * width * features
        step = n**3 // 3 + n**2 * width + 4 * n * width * features
        return Needs(
            memory={
                "fit": 3 * n**2 + 3 * n * width + 2 * (n + sizes.validation) * features + 3 * weights,
                "kept": 0,
                "model": weights,
                "predict": 2 * sizes.test * features + 4 * weights,
            },
            work={"fit": 12 * sizes.choices * sizes.outputs * step, "predict": 4 * sizes.test * weights},
        )

    def fit(self, sample: TrainingData, monitor: Monitor, cache: dict[Any, Any]) -> Fit:
        """Fit all seeds; state: w0 (S, m/2, D), weights (S, k, m, D) float32, as `taylor` of order 1 has them."""
        ridges, kind = np.asarray(sample.choices["ridge"], np.float64), sample.data.kind
        parts = zip(first_layers(sample, self.width), points_by_seed(sample), strict=True)
        return Fit.stack(self._fit_seed(own, *points, kind, ridges) for own, points in parts)

    def _fit_seed(
        self,
        w0: np.ndarray,
        h: np.ndarray,
        labels: np.ndarray,
        validation: np.ndarray,
        validation_labels: np.ndarray,
        kind: str,
        ridges: np.ndarray,
    ) -> Fit:
        features, count = h.astype(np.float64), len(labels)
        # The halves of W are each other's negative: twice the gates of one, and twice its penalty.
        gates = gates_of(self.activation, 1, w0, h)[:, : self.width // 2] * (2.0 / np.sqrt(self.width))
        gates = gates.astype(np.float64)
        with np.errstate(over="ignore"):
            absolute = 2.0 * ridges * float(h.shape[1]) ** -2
        paths = [self._path(features, gates, y, absolute) for y in labels.T.astype(np.float64)]
        weights = np.stack(
            [[np.concatenate([one.weights, -one.weights]) for one in path] for path in paths], axis=1
        ).astype(np.float32)
        usable = np.flatnonzero(np.isfinite(weights).all(axis=(1, 2, 3)))
        if len(usable) < len(ridges):
            say_dropped("tangent rows", count, ridges, absolute, usable)
        kept = best_on_validation(self._outputs(w0, weights, validation), validation_labels, kind)
        ends, chosen = [path[kept] for path in paths], weights[kept]
        worst = max(end.error for end in ends)
        steps = sum(one.steps for path in paths for one in path)
        word = "ok" if worst <= self.tolerance else "not_converged"
        word = word if np.isfinite(chosen).all() else "singular"
        return fit_of_seed(
            status=STATUS[word],
            state={"w0": w0, "weights": chosen},
            choices={"ridge": float(ridges[kept])},
            validation_risk=error(self._outputs(w0, chosen, validation), validation_labels, kind),
            train_risk=error(self._outputs(w0, chosen, h), labels, kind),
            measures={
                "row_error": worst,
                "row_norm": float(np.sum([2.0 * np.sum(np.vecdot(e.weights, e.weights) ** 2) for e in ends]) ** 0.25),
            },
            flops=float(steps) * (count**3 / 3.0 + count**2 * self.width),
        )

    def _path(self, features: np.ndarray, gates: np.ndarray, targets: np.ndarray, ridges: np.ndarray) -> list[RowFit]:
        """Return the fits at all ridges, in order, from the largest on, each from the sizes of the last one; NaN where
        rounding leaves a singular matrix, or the ridge overflows."""
        found: dict[float, RowFit] = {}
        sizes = None
        for ridge in sorted(set(ridges.tolist()), reverse=True):
            try:
                found[ridge] = fit_rows(features, gates, targets, ridge, sizes, self.tolerance, self.steps)
            except np.linalg.LinAlgError:
                nothing = np.full((gates.shape[1], features.shape[1]), np.nan)
                found[ridge] = RowFit(nothing, np.nan, np.inf, 0)
                continue
            sizes = np.vecdot(found[ridge].weights, found[ridge].weights)
        return [found[ridge] for ridge in ridges.tolist()]

    def predict(self, state: State, features: Features, role: str, count: int, cache: dict[Any, Any]) -> np.ndarray:
        """Return predictions (S, count, k) float64."""
        parts = zip(state["w0"], state["weights"], features.draw(role, count), strict=True)
        return np.stack([self._outputs(*part) for part in parts])

    def _outputs(self, w0: np.ndarray, weights: np.ndarray, h: np.ndarray) -> np.ndarray:
        """(m/2, D), (..., k, m, D), (n, D) -> (..., n, k) float64."""
        found = linear_outputs(gates_of(self.activation, 1, w0, h), weights, h)
        return np.moveaxis(found, -2, -1).astype(np.float64)
