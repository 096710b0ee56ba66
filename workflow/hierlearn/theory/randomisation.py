"""Discrete random multipliers of weights that leave only the order-k term of a network's Taylor series.

bai2020, Section 6.1: (z+, z-) with E z+^j = E z-^j for j < k and E z+^k = E z-^k + 1. The difference of the two laws is
a signed measure that maps a function g to its divided difference g[v_0, ..., v_k] on k + 1 nodes: that is 0 for powers
below k and 1 for g(v) = v^k. Its positive part is the law of z+ and its negative part that of z-.
"""

from dataclasses import dataclass
from math import comb, factorial

import numpy as np

NAMES = ("signs", "equal", "tight", "matched")

# Laws that both halves share: values and probabilities.
ALIKE = {"signs": ([-1.0, 1.0], [0.5, 0.5]), "equal": ([1.0], [1.0])}


@dataclass(frozen=True)
class Law:
    """A discrete law: values (q,) and probabilities (q,) float64 that sum to 1."""

    values: np.ndarray
    probabilities: np.ndarray

    def moment(self, power: int) -> float:
        """E z^power."""
        return float(np.sum(self.probabilities * self.values**power))

    def variance(self, power: int) -> float:
        """Var z^power."""
        return float(np.sum(self.probabilities * np.square(self.values**power - self.moment(power))))

    def positions(self, uniform: np.ndarray) -> np.ndarray:
        """Positions in `values` from numbers uniform on [0, 1), of the same shape; their values have this law."""
        return np.searchsorted(np.cumsum(self.probabilities)[:-1], uniform, side="right")


def laws(name: str, order: int) -> tuple[Law, Law]:
    """(z+, z-) of the neurons with a = +1 and with a = -1.

    matched: equispaced nodes about 0, so that E z+^(k+1) = E z-^(k+1) as well; for k = 2 this is z+ = +-1 and z- = 0.
    tight: the same nodes moved by half a step, so that E z+^(k+1) - E z-^(k+1) = (k + 1)/2 steps: the remainder then
    reaches its bound m^(-1/(2k)). The step makes all probabilities add up to 1: s^k = 2^(k-1) / k!. Whatever k, signs
    are +-1 for both (bai2020, Section 3), which leaves order 2, and equal is 1 for both, which leaves order 1, each if
    the two have directions of their own. Raises ValueError for an unknown name and an order below 2.
    """
    if name not in NAMES:
        raise ValueError(f"randomisation {name!r}; expected one of {', '.join(NAMES)}")
    if order < 2:
        raise ValueError(f"order {order}; expected at least 2")
    if name in ALIKE:
        law = Law(*np.array(ALIKE[name]))
        return law, law
    step = (2 ** (order - 1) / factorial(order)) ** (1 / order)
    positions = np.arange(order + 1)
    nodes = step * (positions - order / 2 + (0.5 if name == "tight" else 0.0))
    # 1 / prod_{i != j} (v_j - v_i) = (-1)^(k-j) C(k, j) / (k! s^k), and k! s^k = 2^(k-1).
    masses = np.array([comb(order, int(j)) for j in positions]) / 2.0 ** (order - 1)
    positive = (order - positions) % 2 == 0
    return Law(nodes[positive], masses[positive]), Law(nodes[~positive], masses[~positive])
