"""Discrete random multipliers of weights that leave only the order-k term of a network's Taylor series, and its size.

bai2020, Section 6.1: (z+, z-) with E z+^j = E z-^j for j < k and E z+^k = E z-^k + 1. The difference of the two laws is
a signed measure that maps a function g to its divided difference g[v_0, ..., v_k] on k + 1 nodes: that is 0 for powers
below k and 1 for g(v) = v^k. Its positive part is the law of z+ and its negative part that of z-.

f(x) = 1/sqrt(m) sum_r a_r sigma(<w0_r + z_r w_r, x>) = sum_j f^(j)(x), where neuron r adds to f^(j) the amount
a_r sigma^(j)(<w0_r, x>) (z_r <w_r, x>)^j / (sqrt(m) j!)  (Sections 3 and 6). Multipliers are independent, so means and
variances over them add up neuron by neuron; nothing is sampled but what is called a draw.
"""

from dataclasses import dataclass
from functools import reduce
from math import comb, factorial

import numpy as np

from hierlearn.theory.activations import Elementwise

# Laws that both halves share: values and probabilities.
ALIKE = {"signs": ([-1.0, 1.0], [0.5, 0.5]), "equal": ([1.0], [1.0])}
# Of the nodes of the others, in steps.
MOVED = {"matched": 0.0, "tight": 0.5}


@dataclass(frozen=True)
class Law:
    """A discrete law: values (q,) and probabilities (q,) float64 that sum to 1."""

    values: np.ndarray
    probabilities: np.ndarray

    def moment(self, power: int) -> float:
        """Return E z^power."""
        return float(np.sum(self.probabilities * self.values**power))

    def variance(self, power: int) -> float:
        """Return Var z^power."""
        return float(np.sum(self.probabilities * np.square(self.values**power - self.moment(power))))

    def positions(self, uniform: np.ndarray) -> np.ndarray:
        """Map uniform numbers on [0, 1) to positions in `values` of the same shape; their values have this law."""
        return np.searchsorted(np.cumsum(self.probabilities)[:-1], uniform, side="right")


def laws(name: str, order: int) -> tuple[Law, Law]:
    """Return (z+, z-) of the neurons with a = +1 and with a = -1.

    matched: equispaced nodes about 0, so that E z+^(k+1) = E z-^(k+1) as well; for k = 2 this is z+ = +-1 and z- = 0.
    tight: the same nodes moved by half a step, so that E z+^(k+1) - E z-^(k+1) = (k + 1)/2 steps: the remainder then
    reaches its bound m^(-1/(2k)). The step makes all probabilities add up to 1: s^k = 2^(k-1) / k!. Whatever k, signs
    are +-1 for both (bai2020, Section 3), which leaves order 2, and equal is 1 for both, which leaves order 1, each if
    the two have directions of their own.
    """
    if name in ALIKE:
        law = Law(*np.array(ALIKE[name]))
        return law, law
    step = (2 ** (order - 1) / factorial(order)) ** (1 / order)
    positions = np.arange(order + 1)
    nodes = step * (positions - order / 2 + MOVED[name])
    # 1 / prod_{i != j} (v_j - v_i) = (-1)^(k-j) C(k, j) / (k! s^k), and k! s^k = 2^(k-1).
    masses = np.array([comb(order, int(j)) for j in positions]) / 2.0 ** (order - 1)
    positive = (order - positions) % 2 == 0
    return Law(nodes[positive], masses[positive]), Law(nodes[~positive], masses[~positive])


class Sums:
    """Sums over neurons at n points, for the Taylor terms of order 1 .. k and what is left beyond order k.

    Means and variances over z: terms (2, k, n) of f^(j), remainder (2, n) of f - sum_{j <= k} f^(j), distance (2, n) of
    f - f^(k). highest, lowest (n,): the remainder's over all outcomes of z; draw_errors (n, draws): f - f^(k) for draws
    of all z. All float64 and without the factor 1/sqrt(m), for variances 1/m, of a network, which `sizes` puts in.
    """

    def __init__(self, order: int, points: int, draws: int) -> None:
        self.terms, self.draw_errors = np.zeros((2, order, points)), np.zeros((points, draws))
        self.remainder, self.distance = np.zeros((2, 2, points))
        self.highest, self.lowest = np.zeros((2, points))

    def add(
        self,
        sigma: Elementwise,
        gates: list[np.ndarray],
        before: np.ndarray,
        movement: np.ndarray,
        sign: float,
        law: Law,
        outcomes: np.ndarray,
    ) -> None:
        """Add neurons of one sign a.

        gates: sigma^(0) .. sigma^(k) at `before` = <w0_r, x> (n, b); movement: <w_r, x>, (n, b) or (n, 1) if it is the
        same for all; outcomes (b, draws): positions of the drawn multipliers in law.values.
        """
        order = len(gates) - 1
        terms, power = [], np.ones_like(movement)
        for j in range(1, order + 1):
            power = power * movement / j
            term = gates[j] * power
            terms.append(term)
            self.terms[0, j - 1] += sign * law.moment(j) * np.sum(term, axis=1)
            self.terms[1, j - 1] += law.variance(j) * np.einsum("nb,nb->n", term, term)
        remainders = [_remainder(sigma, gates[0], before, movement, terms, z) for z in law.values]
        distances = [
            sum((z**j * term for j, term in enumerate(terms[:-1], start=1)), remainder)
            for z, remainder in zip(law.values, remainders, strict=True)
        ]
        for i, distance in enumerate(distances):
            self.draw_errors += sign * (distance @ (outcomes == i).astype(np.float64))
        self.remainder += _moments(law, sign, remainders)
        self.distance += _moments(law, sign, distances)
        highest, lowest = reduce(np.maximum, remainders), reduce(np.minimum, remainders)
        if sign < 0:
            highest, lowest = -lowest, -highest
        self.highest += np.sum(highest, axis=1)
        self.lowest += np.sum(lowest, axis=1)

    def sizes(self, width: int) -> tuple[np.ndarray, dict[str, float]]:
        """Return what the sums of a network of m = width neurons come to: terms (k,), and by name what is left.

        Terms, remainder and distance: root mean squares over points and z; worst_remainder: largest absolute value over
        points and all outcomes of z; one_draw_error: the largest |f - f^(k)| over points, its mean over draws of z.
        """
        terms, remainder, distance = (
            np.sqrt(np.mean(np.square(mean) + variance, axis=-1) / width)
            for mean, variance in (self.terms, self.remainder, self.distance)
        )
        largest = np.maximum(np.abs(self.highest), np.abs(self.lowest))
        return terms, {
            "remainder": float(remainder),
            "distance": float(distance),
            "worst_remainder": float(np.max(largest) / np.sqrt(width)),
            "one_draw_error": float(np.mean(np.max(np.abs(self.draw_errors), axis=0)) / np.sqrt(width)),
        }


def _moments(law: Law, sign: float, outcomes: list[np.ndarray]) -> np.ndarray:
    """Mean and variance over z, summed over neurons of one sign, (2, n), from the values at each z, (n, b)."""
    mean = sum(p * one for p, one in zip(law.probabilities, outcomes, strict=True))
    square = sum(p * np.einsum("nb,nb->n", one, one) for p, one in zip(law.probabilities, outcomes, strict=True))
    return np.stack([sign * np.sum(mean, axis=1), np.maximum(square - np.einsum("nb,nb->n", mean, mean), 0.0)])


def _remainder(
    sigma: Elementwise, at_zero: np.ndarray, before: np.ndarray, movement: np.ndarray, terms: list[np.ndarray], z: float
) -> np.ndarray:
    """sigma(t + z s) - sum_{j <= k} sigma^(j)(t) (z s)^j / j!, (n, b)."""
    if z == 0:
        return np.zeros_like(before)
    left = sigma(before + z * movement)
    left -= at_zero
    for j, term in enumerate(terms, start=1):
        left -= z**j * term
    return left
