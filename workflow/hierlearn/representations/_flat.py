"""Points of any shape as vectors."""

import math

import numpy as np


def flat(x: np.ndarray) -> np.ndarray:
    """(S, n, *shape) -> (S, n, d), d the product of the shape."""
    return x.reshape(*x.shape[:2], math.prod(x.shape[2:]))
