"""Degrees that a model of the raw input cannot represent, whatever its width, for want of a component of its gates."""

import numpy as np

from hierlearn.theory.activations import derivative
from hierlearn.theory.gegenbauer import hermite, spectrum

# A grid that holds the normal law to rounding, fine enough for a step; without 0, where a step has no odd value.
GRID = np.linspace(-9.0, 9.0, 18_000)
MASSES = np.exp(-(GRID**2) / 2) / np.sum(np.exp(-(GRID**2) / 2))
# Steps on a grid leave a part of this size in a component that is not there.
SMALL = 1e-3


def taylor_reaches(activation: str, order: int, degree: int) -> bool:
    """Whether sums of sigma^(k)(<w, x>) <u, x>^k, k = order, have a component of a degree p in x.

    <u, x>^k moves a degree by at most k, in steps of two: sigma^(k) must have a Hermite coefficient at some j >= p - k
    with the parity of p - k.
    """
    gate = derivative(activation, order)(GRID)
    least = max(degree - order, 0)
    part = (gate + (-1) ** (degree - order) * gate[::-1]) / 2
    for j in range(least):
        term = hermite(j, GRID)
        part = part - np.sum(MASSES * part * term) * term
    return bool(np.sum(MASSES * part**2) > SMALL**2 * np.sum(MASSES * gate**2))


def kernel_reaches(profile, dimension: int, degree: int) -> bool:
    """Whether a dot-product kernel with this profile has an eigenvalue at a degree on the sphere in d dimensions."""
    return bool(spectrum(profile, dimension, [degree]).eigenvalues[0] > 0)
