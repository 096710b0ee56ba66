"""The landscape of quadratic Taylor models and of randomised two-layer networks (bai2020, Sections 3 and 4).

Notation: f^Q_W(x) = 1/(2 sqrt(m)) sum_r a_r sigma''(<w0_r, h>) <w_r, h>^2 and f_W(x) = 1/sqrt(m) sum_r a_r
sigma(<w0_r + w_r, h>) with the symmetric initialisation, so that f_0 = 0; L^Q and L are mean losses of f^Q_W and of
f_{W S}, S a diagonal of random signs, over which L takes the mean. W* S' is the direction that Lemma 1 looks along,
again with random signs. Arrays: features (n, D), gates (n, m) = sigma'', signs a (m,), weights (m, D), targets (n,);
all results float64. A loss has `value`, `gradient` and `curvature`, l and its first two derivatives in f, as functions
of (f, y).
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

Array = np.ndarray

# c of L(W) + ridge |W|^p <= L(W*) + c ridge |W*|^p + ... at every stationary point, by the power p of |W|_{2,4}.
# Along W* S' the penalty P(t) = t^4 or t^8 bends by at most 12 u w or 56 u^3 w on average, u = |W|^2, w = |W*|^2, and
# <grad P, W> = p P: what is left, (12 u w - 2 u^2) / 2 or (56 u^3 w - 6 u^4) / 2, is largest at u = 3 w or 7 w.
PENALTY_CONSTANTS = {4: 9.0, 8: 2401.0}


Pointwise = Callable[[Array, Array], Array]


class Loss(Protocol):
    """l and its first two derivatives in f, as functions of (f, y)."""

    @property
    def value(self) -> Pointwise:
        """l."""

    @property
    def gradient(self) -> Pointwise:
        """l'."""

    @property
    def curvature(self) -> Pointwise:
        """l''."""


class Expansion(NamedTuple):
    """One point of a loss landscape, seen along itself and along a reference.

    risk: the mean loss; radial: <gradient, W>; curvature: E_S' of the Hessian's quadratic form at W* S'.
    """

    risk: float
    radial: float
    curvature: float


def curvature_slack(features: Array, gates: Array, weights: Array, reference: Array, curvature: Array) -> float:
    """Return s = E[l'' (1/m) sum_r sigma''(<w0_r, h>)^2 <w_r, h>^2 <w*_r, h>^2], the right side of Lemma 1.

    It is the mean over S' of the Gauss-Newton term: f^Q_{W + t W* S'} has the slope 1/sqrt(m) sum_r a_r S'_r sigma''
    <w_r, h> <w*_r, h> at t = 0, with factor 1, since the 1/2 of f^Q cancels the 2 of the square. All else in Lemma 1 is
    convexity: its two sides differ by twice the Bregman divergence of the loss from f^Q_W to f^Q_{W*}.
    curvature: l'' (n,) at W, 2 for (f - y)^2.
    """
    return float(np.mean(curvature * _squared_slopes(features, gates, weights, reference)))


def quadratic_outputs(features: Array, gates: Array, signs: Array, weights: Array) -> Array:
    """Return f^Q_W at the points, (n,)."""
    return (gates * (features @ weights.T) ** 2) @ signs / (2.0 * np.sqrt(len(signs)))


def quadratic_expansion(
    features: Array, gates: Array, signs: Array, targets: Array, loss: Loss, weights: Array, reference: Array
) -> Expansion:
    """Expand L^Q at W along W and W*: <grad, W> = 2 E[l' f^Q_W], curvature s + 2 E[l' f^Q_{W*}] (bai2020, B.1)."""
    outputs, towards = (quadratic_outputs(features, gates, signs, one) for one in (weights, reference))
    squares = _squared_slopes(features, gates, weights, reference)
    return _expansion(loss, targets, outputs, 2.0 * outputs, squares, 2.0 * towards)


def randomised_expansion(
    features: Array,
    first: Array,
    signs: Array,
    weights: Array,
    reference: Array,
    targets: Array,
    loss: Loss,
    draws: Array,
) -> Expansion:
    """Expand L at W along W and W*, sigma = relu^3 / 6, mean over given draws of S; the mean over S' is exact.

    first: w0 (m, D); draws (K, m) of -1 and +1. Every draw is used with its opposite, which removes what is odd in S.
    """
    start, moved, towards = (features @ part.T for part in (first, weights, reference))
    scaled, square = signs / np.sqrt(len(signs)), towards**2
    parts = []
    for draw in np.concatenate([draws, -draws]):
        inner = np.maximum(start + draw * moved, 0.0)
        radial = (inner**2 * moved) @ (scaled * draw) / 2.0
        squares = np.mean(inner**4 * square, axis=1) / 4.0
        parts.append(_expansion(loss, targets, inner**3 @ scaled / 6.0, radial, squares, (inner * square) @ scaled))
    return Expansion(*(float(part) for part in np.mean(parts, axis=0)))


def equal_sign_slack(
    features: Array, gates: Array, signs: Array, weights: Array, reference: Array, curvature: Array
) -> float:
    """Return `curvature_slack` along W* itself, without S': no mean over signs, so that the neurons' slopes add up."""
    slopes = (gates * (features @ weights.T) * (features @ reference.T)) @ signs / np.sqrt(len(signs))
    return float(np.mean(curvature * slopes**2))


def equal_sign_expansion(
    features: Array, first: Array, signs: Array, weights: Array, reference: Array, targets: Array, loss: Loss
) -> Expansion:
    """Expand the loss of f_W itself, all of S equal, at W along W and along W* without S', for sigma = relu^3 / 6."""
    start, moved, towards = (features @ part.T for part in (first, weights, reference))
    inner, scaled = np.maximum(start + moved, 0.0), signs / np.sqrt(len(signs))
    along, radial = ((inner**2 * part) @ scaled / 2.0 for part in (towards, moved))
    return _expansion(loss, targets, inner**3 @ scaled / 6.0, radial, along**2, (inner * towards**2) @ scaled)


def _expansion(loss: Loss, targets: Array, outputs: Array, radial: Array, squares: Array, bends: Array) -> Expansion:
    """From outputs (n,), their slopes along W, and squared slopes and second derivatives along the reference."""
    gradient, curvature = loss.gradient(outputs, targets), loss.curvature(outputs, targets)
    return Expansion(
        risk=float(np.mean(loss.value(outputs, targets))),
        radial=float(np.mean(gradient * radial)),
        curvature=float(np.mean(curvature * squares) + np.mean(gradient * bends)),
    )


def _squared_slopes(features: Array, gates: Array, weights: Array, reference: Array) -> Array:
    """Return the mean over S' of the squared slope of f^Q at W along W* S', (n,)."""
    return np.mean((gates * (features @ weights.T) * (features @ reference.T)) ** 2, axis=1)


class RandomisedSquaredRisk:
    """L for squared loss (f - y)^2 and sigma = relu^3 / 6, with the mean over S in closed form.

    The neurons of f_{W S} are independent under S, so E_S (f - y)^2 = (E f - y)^2 + Var f, a sum over neurons each.
    """

    def __init__(self, features: Array, first: Array, signs: Array, targets: Array) -> None:
        self.features, self.targets = features, targets
        self.start = features @ first.T
        self.scaled = signs / np.sqrt(len(signs))

    def risk_and_gradient(self, weights: Array) -> tuple[float, Array]:
        """Return L(W) and its gradient (m, D)."""
        up, down, error, spread = self._moments(weights)
        risk = float(np.mean(error**2 + np.mean(spread**2, axis=1)))
        pull = error[:, None] * self.scaled * (up**2 - down**2) / 2.0
        pull += spread * (up**2 + down**2) / (2.0 * len(self.scaled))
        return risk, pull.T @ self.features / len(self.features)

    def hessian_product(self, weights: Array, vector: Array) -> Array:
        """Return the Hessian of L at W times a vector (m, D), of its shape."""
        up, down, error, spread = self._moments(weights)
        moved = self.features @ vector.T
        change = ((up**2 - down**2) * moved) @ self.scaled / 4.0
        pull = change[:, None] * self.scaled * (up**2 - down**2) / 2.0
        pull += error[:, None] * self.scaled * (up + down) * moved
        pull += ((up**2 + down**2) ** 2 / 4.0 + 2.0 * spread * (up - down)) * moved / (2.0 * len(self.scaled))
        return pull.T @ self.features / len(self.features)

    def mean_slopes(self, weights: Array) -> Array:
        """Return the slope of E f at every point in <w_r, h>, (n, m): that in w_r is this times h."""
        up, down, _, _ = self._moments(weights)
        return self.scaled * (up**2 - down**2) / 4.0

    def expansion(self, weights: Array, reference: Array) -> Expansion:
        """Expand L at W along W and W*, as `randomised_expansion` does, with all draws."""
        risk, gradient = self.risk_and_gradient(weights)
        up, down, error, spread = self._moments(weights)
        square = (self.features @ reference.T) ** 2
        curvature = np.mean((up**4 + down**4) * square, axis=1) / 8.0
        # sigma and sigma'' of a neuron depend on the same sign: their covariance stays.
        curvature += np.mean(spread * (up - down) * square, axis=1) / 2.0
        along = error * (((up + down) * square) @ self.scaled) / 2.0
        return Expansion(risk, float(np.vdot(gradient, weights)), 2.0 * float(np.mean(curvature + along)))

    def _moments(self, weights: Array) -> tuple[Array, Array, Array, Array]:
        """Both values (<w0 +- w, h>)_+ of every neuron (n, m), E f - y (n,), and sqrt(m) times the standard deviation
        of every neuron's part of f, signed (n, m)."""
        movement = self.features @ weights.T
        up, down = np.maximum(self.start + movement, 0.0), np.maximum(self.start - movement, 0.0)
        cube_up, cube_down = up**3 / 12.0, down**3 / 12.0
        return up, down, (cube_up + cube_down) @ self.scaled - self.targets, cube_up - cube_down


def leading_reference(features: Array, gates: Array, signs: Array, targets: Array) -> Array:
    """Return an explicit W* (m, D) in the manner of bai2020, Lemma 15, for targets of degree 2 in the features.

    All neurons of sign +1 look along the top eigenvector of (1/n) sum_i y_i h_i h_i^T, those of sign -1 along its
    bottom one (e_1 + e_2 and e_1 - e_2 for a 2-XOR), with one common length, the least-squares fit of y. Raises
    ValueError where the fit points the wrong way, so that no length helps.
    """
    _, vectors = np.linalg.eigh((features * targets[:, None]).T @ features / len(targets))
    reference = np.where(signs[:, None] > 0, vectors[:, -1], vectors[:, 0])
    outputs = quadratic_outputs(features, gates, signs, reference)
    square = float(outputs @ targets / (outputs @ outputs))
    if not square > 0.0:
        raise ValueError("leading_reference: the fit of the targets has a negative square length")
    return reference * np.sqrt(square)


def penalty_terms(weights: Array, reference: Array, power: int) -> Expansion:
    """Expand |W|_{2,4}^p at W along W and W*, p = 4 or 8: value, <grad, W> = p |W|^p, E_S' of its Hessian at W* S'."""
    norms, sizes = np.sum(weights**2, axis=1), np.sum(reference**2, axis=1)
    cross = np.sum(weights * reference, axis=1)
    total = float(norms @ norms)
    curvature = 4.0 * float(norms @ sizes) + 8.0 * float(cross @ cross)
    if power == 8:
        curvature = 2.0 * total * curvature + 32.0 * float(np.sum((norms * cross) ** 2))
        total = total**2
    return Expansion(total, power * total, curvature)


def eighth_power(weights: Array) -> tuple[float, Array]:
    """Return |W|_{2,4}^8 and its gradient (m, D)."""
    norms = np.sum(weights**2, axis=1, keepdims=True)
    total = float(np.sum(norms**2))
    return total**2, 8.0 * total * norms * weights


def eighth_power_product(weights: Array, vector: Array) -> Array:
    """Return the Hessian of |W|_{2,4}^8 at W times a vector (m, D), of its shape."""
    norms = np.sum(weights**2, axis=1, keepdims=True)
    along = np.sum(weights * vector, axis=1, keepdims=True)
    total = float(np.sum(norms**2))
    whole = 32.0 * float(np.sum(norms * along)) * norms * weights
    return whole + 8.0 * total * norms * vector + 16.0 * total * along * weights


def objective_bounds(
    open_loss: float, weights: Array, reference: Array, ridge: float, power: int
) -> tuple[float, float]:
    """Bound L(W) + ridge |W|^p at a stationary point W: the theorems' bound, and the one that it relaxes.

    open_loss: L(W*) + s / 2 and whatever else Lemma 1 is allowed. With P = ridge |W|^p, stationarity turns the lemma
    into 2 (L(W) - L(W*)) <= s + E Hessian P - <grad P, W>, which is the sharp bound; the theorems replace what the
    penalty adds by its maximum over W, c ridge |W*|^p.
    """
    at, there = penalty_terms(weights, reference, power), quartic_norm(reference) ** (power // 4)
    relaxed = open_loss + PENALTY_CONSTANTS[power] * ridge * there
    return relaxed, open_loss + ridge * (0.5 * (at.curvature - at.radial) + at.risk)


def quartic_norm(weights: Array) -> float:
    """Return |W|_{2,4}^4 = sum_r |w_r|^4."""
    return float(np.sum(np.sum(np.square(weights), axis=1) ** 2))
