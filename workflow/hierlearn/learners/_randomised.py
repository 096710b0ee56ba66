"""Two-layer networks at randomised weights: outputs averaged over the randomisation, losses and their gradients.

f_{W0 + WZ}(x) = m^{-1/2} sum_r a_r sigma(<w0_r, h> + z_r <w_r, h>): the first half of the neurons has a = +1 and z+,
the second a = -1 and z-, and both share w0. Every neuron has a direction w_r of its own for k = 2, where z+ and z- are
signs; for k > 2 the two neurons of a pair share theirs (bai2020, Sections 3 and 6.1). Matrices keep their dtype, sums
over samples are float64.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import factorial
from typing import Any

import numpy as np

from hierlearn.solvers.losses import Loss
from hierlearn.theory.activations import ONE_SIDED, Elementwise, derivative, one_sided, relu
from hierlearn.theory.randomisation import Law, laws

# Neurons of several points at a time: some ten such arrays of them fit into a level-2 cache.
BLOCK = 3 << 13


@dataclass(frozen=True)
class RandomisedNetwork:
    """What is fixed of a network: width m, order k, sigma, sigma', the laws of (z+, z-), and the q of relu^q / q!."""

    width: int
    order: int
    sigma: Elementwise
    derivative: Elementwise
    laws: tuple[Law, Law]
    power: int | None = None

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
        """Return the adjoint of `halves`."""
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
    power = one_sided(activation)[0] if activation in ONE_SIDED else None
    return RandomisedNetwork(width, order, derivative(activation, 0), derivative(activation, 1), pair, power)


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
    if net.order == 2:
        return _loss_of_pairs(net, inner, shift, labels)
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


def _loss_of_pairs(
    net: RandomisedNetwork, inner: np.ndarray, shift: np.ndarray, labels: np.ndarray
) -> tuple[float, np.ndarray]:
    """`exact_squared_loss` where both halves have one law, of the values +1 and -1 or of +1 alone."""
    rows, total = max(1, BLOCK // net.width), 0.0
    gradient = np.empty((len(labels), 2, net.width // 2), shift.dtype)
    # Block by block, so that what a step makes of one is in cache for the next step.
    for start in range(0, len(labels), rows):
        block = slice(start, start + rows)
        moved = shift[block].reshape(gradient[block].shape)
        total += _block_of_pairs(net, inner[block, None], moved, labels[block], len(labels), gradient[block])
    return total / len(labels), gradient.reshape(shift.shape)


def _block_of_pairs(
    net: RandomisedNetwork, inner: np.ndarray, shift: np.ndarray, labels: np.ndarray, count: int, gradient: np.ndarray
) -> float:
    """Return the summed loss of some of `count` points, its gradient written out: inner (n, 1, m/2), shift (n, 2, m/2).

    With s+-, g+- for sigma and sigma' at inner +- shift: mean (s+ + s-) / 2, deviation +-(s+ - s-) / 2.
    """
    share, variance = 1.0 / len(net.laws[0].values), 0.0
    means, slopes = _value_and_slope(net, inner + shift)
    if share < 1.0:
        values, others = _value_and_slope(net, inner - shift)
        np.subtract(means, values, out=gradient)
        means += values
        variance = 0.25 * _sum_of_squares(gradient)
        # scale * deviation * (g+ + g-) / 2: half of the deviation is left to multiply by.
        gradient *= shift.dtype.type(0.5 / (count * net.width))
        gradient *= np.add(slopes, others, out=values)
        slopes -= others
    # Neurons of opposite signs first: what they share cancels before anything is rounded.
    difference = means[:, 0] - means[:, 1]
    residual = share / np.sqrt(net.width) * np.sum(difference, -1, dtype=np.float64) - labels
    factor = (2.0 * share / (count * np.sqrt(net.width)) * residual).astype(shift.dtype)
    slopes *= np.stack([factor, -factor], axis=1)[:, :, None]
    if share < 1.0:
        gradient += slopes
    else:
        gradient[...] = slopes
    return float(residual @ residual) + variance / net.width


def _sum_of_squares(values: np.ndarray) -> float:
    """Over neurons, the last axis, in the values' own dtype; over all else float64."""
    return float(np.sum(np.vecdot(values, values), dtype=np.float64))


def _value_and_slope(net: RandomisedNetwork, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """sigma and sigma' at t, which may be overwritten; powers of relu share their base."""
    if net.power is None or net.power < 2:
        return net.sigma(t), net.derivative(t)
    base = relu(t, out=t)
    slope = base * base.dtype.type(1.0 / factorial(net.power - 1))
    for _ in range(net.power - 2):
        slope *= base
    base *= slope
    base *= base.dtype.type(1.0 / net.power)
    return base, slope


def sample_loss(
    net: RandomisedNetwork,
    loss: Loss,
    inner: np.ndarray,
    shift: np.ndarray,
    labels: np.ndarray,
    multipliers: Sequence[np.ndarray],
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


def _moments(net: RandomisedNetwork, law: Law, inner: np.ndarray, shift: np.ndarray) -> tuple[Any, Any, float, Any]:
    """Over z, for one half of the neurons: E sigma (n, m/2) and its gradient in `shift`, the sum of the variances, and
    half its gradient, E (sigma - E sigma) z sigma'."""
    terms = []
    for value, probability in zip(law.values.astype(shift.dtype), law.probabilities.astype(shift.dtype), strict=True):
        shifted = inner + value * shift
        terms.append((probability, net.sigma(shifted), value * net.derivative(shifted)))
    mean = sum(p * values for p, values, _ in terms)
    mean_gradient = sum(p * gradients for p, _, gradients in terms)
    variance = 0.0
    variance_gradient: Any = 0.0
    for p, values, gradients in terms:
        # From deviations: differences of mean squares lose their digits at the small start.
        values -= mean
        variance += float(p) * _sum_of_squares(values)
        values *= p
        values *= gradients
        variance_gradient = variance_gradient + values
    return mean, mean_gradient, variance, variance_gradient
