"""Two-layer networks at randomised weights: outputs averaged over the randomisation, losses and their gradients.

f_{W0 + WZ}(x) = m^{-1/2} sum_r a_r sigma(<w0_r, h> + z_r <w_r, h>): the first half of the neurons has a = +1 and z+,
the second a = -1 and z-, and both share w0. Every neuron has a direction w_r of its own for k = 2, where z+ and z- are
signs; for k > 2 the two neurons of a pair share theirs (bai2020, Sections 3 and 6.1). Matrices keep their dtype, sums
over samples are float64.
"""

from dataclasses import dataclass

import numpy as np

from hierlearn.solvers.losses import Loss
from hierlearn.theory.activations import Elementwise, derivative
from hierlearn.theory.randomisation import Law, laws


@dataclass(frozen=True)
class RandomisedNetwork:
    """What is fixed of a network: width m, order k, sigma, sigma', and the laws of (z+, z-)."""

    width: int
    order: int
    sigma: Elementwise
    derivative: Elementwise
    laws: tuple[Law, Law]

    @property
    def directions(self) -> int:
        """Number of weight vectors."""
        return self.width if self.order == 2 else self.width // 2

    @property
    def unit(self) -> float:
        """m^{-1/(2k)}: weights W are this times scaled weights U, which stay of one order over widths."""
        return self.width ** (-0.5 / self.order)

    def halves(self, shift: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(..., directions) for the neurons with a = +1 and for those with a = -1, (..., m/2) each."""
        if self.order > 2:
            return shift, shift
        return shift[..., : self.width // 2], shift[..., self.width // 2 :]

    def join(self, positive: np.ndarray, negative: np.ndarray) -> np.ndarray:
        """The adjoint of `halves`."""
        return np.concatenate([positive, negative], axis=-1) if self.order == 2 else positive + negative

    def multipliers(self, generator: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
        """(z+, z-) of `count` points, (count, m/2) each float32, all independent."""
        shape = count, self.width // 2
        draws = (generator.choice(law.values.astype(np.float32), shape, p=law.probabilities) for law in self.laws)
        return next(draws), next(draws)


def network(width: int, order: int, activation: str, random: bool = True) -> RandomisedNetwork:
    """Signs for order 2, matched moments above; multipliers that are all 1 where they are not random."""
    one = Law(np.ones(1), np.ones(1))
    pair = laws("signs" if order == 2 else "matched", order) if random else (one, one)
    return RandomisedNetwork(width, order, derivative(activation, 0), derivative(activation, 1), pair)


def mean_outputs(net: RandomisedNetwork, inner: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """E_z f (..., n) float64 from <w0_r, h_i> (n, m/2) and <w_r, h_i> (..., n, directions)."""
    positive, negative = (
        sum(
            probability * np.sum(net.sigma(inner + part.dtype.type(value) * part), axis=-1, dtype=np.float64)
            for value, probability in zip(law.values, law.probabilities, strict=True)
        )
        for law, part in zip(net.laws, net.halves(shift), strict=True)
    )
    return (positive - negative) / np.sqrt(net.width)


def exact_squared_loss(
    net: RandomisedNetwork, inner: np.ndarray, shift: np.ndarray, labels: np.ndarray
) -> tuple[float, np.ndarray]:
    """(1/n) sum_i E_z (f_i - y_i)^2 and its gradient in `shift`, (n, directions).

    E_z (f - y)^2 = (E_z f - y)^2 + (1/m) sum_r Var_z sigma(<w0_r, h> + z_r <w_r, h>), as the z_r are independent.
    """
    positive, negative = (
        _moments(net, law, inner, part) for law, part in zip(net.laws, net.halves(shift), strict=True)
    )
    count, root = len(labels), np.sqrt(net.width)
    residual = (np.sum(positive[0], -1, dtype=np.float64) - np.sum(negative[0], -1, dtype=np.float64)) / root - labels
    loss = float(np.mean(residual**2)) + (positive[2] + negative[2]) / (net.width * count)
    factor = (2.0 / (count * root) * residual).astype(shift.dtype)[:, None]
    scale = shift.dtype.type(2.0 / (count * net.width))
    gradients = factor * positive[1] + scale * positive[3], scale * negative[3] - factor * negative[1]
    return loss, net.join(*gradients)


def sample_loss(
    net: RandomisedNetwork, loss: Loss, inner: np.ndarray, shift: np.ndarray, labels: np.ndarray, multipliers
) -> tuple[float, np.ndarray]:
    """(1/n) sum_i loss(f_i, y_i) and its gradient in `shift`, (n, directions), at one draw of the multipliers.

    multipliers: (z+, z-), of shapes that broadcast to (n, m/2). Draws of their own for every point have the same mean
    as one draw for all, and far less noise.
    """
    factors = [z.astype(shift.dtype, copy=False) for z in multipliers]
    positive, negative = (inner + z * part for z, part in zip(factors, net.halves(shift), strict=True))
    root = np.sqrt(net.width)
    outputs = (
        np.sum(net.sigma(positive), -1, dtype=np.float64) - np.sum(net.sigma(negative), -1, dtype=np.float64)
    ) / root
    back = (loss.gradient(outputs, labels) / (len(labels) * root)).astype(shift.dtype)[:, None]
    gradient = net.join(back * factors[0] * net.derivative(positive), -back * factors[1] * net.derivative(negative))
    return float(np.mean(loss.value(outputs, labels))), gradient


def _moments(net: RandomisedNetwork, law: Law, inner: np.ndarray, shift: np.ndarray):
    """Over z, for one half of the neurons: E sigma (n, m/2) and its gradient in `shift`, the sum of the variances, and
    half its gradient, E (sigma - E sigma) z sigma'."""
    terms = []
    for value, probability in zip(law.values.astype(shift.dtype), law.probabilities.astype(shift.dtype), strict=True):
        shifted = inner + value * shift
        terms.append((probability, net.sigma(shifted), value * net.derivative(shifted)))
    mean = sum(p * values for p, values, _ in terms)
    mean_gradient = sum(p * gradients for p, _, gradients in terms)
    variance, variance_gradient = 0.0, 0.0
    for p, values, gradients in terms:
        # From deviations: differences of mean squares lose their digits at the small start.
        values -= mean
        variance += float(p) * float(np.vdot(values, values))
        values *= p
        values *= gradients
        variance_gradient = variance_gradient + values
    return mean, mean_gradient, variance, variance_gradient
