"""Losses of scalar predictions, with the two derivatives that solvers and certificates need.

Scale: `squared` is (f - y)^2, so the zero predictor has the mean square of the targets as its loss and the
second derivative is 2. The classification losses take labels y = -1, +1 and are functions of the margin u = y f.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Pointwise = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Loss:
    """A loss l(f, y) and its first two derivatives in f, element by element: (n,), (n,) -> (n,) float64."""

    name: str
    value: Pointwise
    gradient: Pointwise
    curvature: Pointwise


def _sigmoid(t: np.ndarray) -> np.ndarray:
    return 0.5 * (1.0 + np.tanh(0.5 * t))


def _ramp(f: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.clip(1.5 - y * f, 0.0, 1.0)


def _soft_hinge(f: np.ndarray, y: np.ndarray) -> np.ndarray:
    ramp = _ramp(f, y)
    return ramp**3 * (1.0 - 0.5 * ramp) + np.maximum(0.5 - y * f, 0.0)


SQUARED = Loss(
    "squared",
    lambda f, y: (f - y) ** 2,
    lambda f, y: 2.0 * (f - y),
    lambda f, y: np.full(np.broadcast_shapes(np.shape(f), np.shape(y)), 2.0),
)
LOGISTIC = Loss(
    "logistic",
    lambda f, y: np.logaddexp(0.0, -y * f),
    lambda f, y: -y * _sigmoid(-y * f),
    lambda f, y: _sigmoid(y * f) * _sigmoid(-y * f),
)
# With s = clip(3/2 - u, 0, 1): s^3 - s^4/2 + max(0, 1/2 - u), that is 0 for u >= 3/2 and 1 - u for u <= 1/2,
# twice continuously differentiable between.
SOFT_HINGE = Loss(
    "soft_hinge",
    _soft_hinge,
    lambda f, y: -y * _ramp(f, y) ** 2 * (3.0 - 2.0 * _ramp(f, y)),
    lambda f, y: 6.0 * _ramp(f, y) * (1.0 - _ramp(f, y)),
)

LOSSES = {loss.name: loss for loss in (SQUARED, LOGISTIC, SOFT_HINGE)}
