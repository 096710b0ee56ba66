"""Stationary points of a randomised two-layer network: descent, and a certificate that scales to wide networks.

Relative to M = G + delta, G = (2/n) J^T J the Gauss-Newton term of the mean output over signs, all that is left of the
Hessian is small: Lanczos resolves its smallest eigenvalue in tens of products.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy

from hierlearn.solvers.taylor.lanczos import smallest_ratio
from hierlearn.theory.landscape import RandomisedSquaredRisk, eighth_power, eighth_power_product

STEPS = 2.0 ** -np.arange(12)


def descend(
    network: RandomisedSquaredRisk, start: np.ndarray, ridge: float, limit: float, max_iterations: int
) -> tuple[np.ndarray, float, float, int]:
    """Descend by L-BFGS on risk + ridge |W|_{2,4}^8: weights (m, D), objective, |gradient|_F, and evaluations.

    Ends at |gradient| |W| / 2 <= limit * objective, away from the saddle W = 0, where the left side is below the gain
    over it; or after max_iterations.
    """
    seen: dict[str, float] = {}
    zero = float(np.mean(network.targets**2))

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights = flat.reshape(start.shape)
        risk, gradient = network.risk_and_gradient(weights)
        value, slope = eighth_power(weights)
        total, gradient = risk + ridge * value, (gradient + ridge * slope).ravel()
        seen["open"] = 0.5 * float(np.linalg.norm(gradient) * np.linalg.norm(weights))
        return total, gradient

    def stop(intermediate_result: Any) -> None:
        found = intermediate_result.fun
        if seen["open"] <= min(limit * found, 0.1 * (zero - found)):
            raise StopIteration

    options = {"maxiter": max_iterations, "maxfun": 2 * max_iterations, "ftol": 0.0, "gtol": 0.0}
    end = scipy.optimize.minimize(objective, start.ravel(), jac=True, method="L-BFGS-B", options=options, callback=stop)
    weights = end.x.reshape(start.shape)
    total, gradient = objective(end.x)
    return weights, float(total), float(np.linalg.norm(gradient)), int(end.nfev)


def escape(network: RandomisedSquaredRisk, weights: np.ndarray, ridge: float, direction: np.ndarray) -> np.ndarray:
    """Return the lowest point along +-direction (m, D), at distances that halve from |W|; W where none is lower."""

    def objective(at: np.ndarray) -> float:
        return network.risk_and_gradient(at)[0] + ridge * eighth_power(at)[0]

    reach = np.linalg.norm(weights) / np.linalg.norm(direction)
    return min((weights + t * reach * direction for t in (0.0, *STEPS, *-STEPS)), key=objective)


def curvature_bound(
    network: RandomisedSquaredRisk, weights: np.ndarray, ridge: float, allowed: float, max_products: int
) -> tuple[float, np.ndarray, int]:
    """Bound the Hessian's smallest eigenvalue at weights (m, D) from below; with the vector and products spent.

    allowed > 0: how negative it may be; the sweep ends once the bound is above -allowed, or curvature below that is
    proven. The bound is a Ritz value less its residual, as in `taylor.certificate`: numerical evidence, not a proof.
    """

    def hessian(vector: np.ndarray) -> np.ndarray:
        return network.hessian_product(weights, vector) + ridge * eighth_power_product(weights, vector)

    metric = MeanOutputMetric(network, weights, hessian)

    start = np.random.default_rng(weights.shape).standard_normal(weights.shape)
    end = smallest_ratio(lambda v: hessian(v) + allowed * v - metric.apply(v), metric, start, max_products)
    lower = end.value - end.residual
    # Hessian + allowed >= lower M, and delta <= M <= bound.
    return float(lower * (metric.delta if lower > 0.0 else metric.bound) - allowed), end.vector, end.products


class MeanOutputMetric:
    """M = (2/n) J^T J + delta, J (n, mD) the slopes of the mean output over signs, solved by Woodbury's identity.

    delta: the size of what the Hessian has beside J^T J, from its image of one random vector.
    """

    def __init__(
        self, network: RandomisedSquaredRisk, weights: np.ndarray, hessian: Callable[[np.ndarray], np.ndarray]
    ) -> None:
        self.features = network.features
        self.slopes = network.mean_slopes(weights) * np.sqrt(2.0 / len(self.features))
        kernel = (self.slopes @ self.slopes.T) * (self.features @ self.features.T)
        probe = np.random.default_rng(1).standard_normal(weights.shape)
        rest = hessian(probe) - self._gauss_newton(probe)
        self.delta = float(np.linalg.norm(rest) / np.linalg.norm(probe))
        self.bound = self.delta + float(np.linalg.eigvalsh(kernel)[-1])
        self.factor = scipy.linalg.cho_factor(kernel + self.delta * np.eye(len(kernel)), lower=True)

    def apply(self, vector: np.ndarray) -> np.ndarray:
        """Return M V, (m, D)."""
        return self._gauss_newton(vector) + self.delta * vector

    def solve(self, vector: np.ndarray) -> np.ndarray:
        """Return M^{-1} V, (m, D)."""
        change = scipy.linalg.cho_solve(self.factor, self._outputs(vector))
        return (vector - self._slopes_sum(change)) / self.delta

    def _outputs(self, vector: np.ndarray) -> np.ndarray:
        return np.vecdot(self.slopes, self.features @ vector.T)

    def _slopes_sum(self, change: np.ndarray) -> np.ndarray:
        return (self.slopes * change[:, None]).T @ self.features

    def _gauss_newton(self, vector: np.ndarray) -> np.ndarray:
        return self._slopes_sum(self._outputs(vector))
