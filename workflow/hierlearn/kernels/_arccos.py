"""The arc-cosine family: second moments of one-sided powers of a Gaussian pair."""

import numpy as np

from hierlearn.kernels._tiles import snap

# E[(u_+^a)^2] of a standard normal u, by order a.
DIAGONAL = (0.5, 0.5, 1.5)
# sigma' as a one-sided power, by activation: its order and the square of its factor.
DERIVATIVES = {"relu": (0, 1.0), "relu2": (1, 1.0), "relu3": (2, 0.25)}


def moments(cosine: np.ndarray) -> np.ndarray:
    """The moment of order 1, in place, and that of order 0, returned: one arccos serves a whole layer of ReLU."""
    snap(cosine)
    rest = np.arccos(cosine)
    np.subtract(np.pi, rest, out=rest)
    sine = 1.0 - cosine
    sine *= 1.0 + cosine
    np.sqrt(sine, out=sine)
    cosine *= rest
    cosine += sine
    cosine *= 0.5 / np.pi
    rest *= 0.5 / np.pi
    return rest


def moment(order: int, cosine: np.ndarray) -> None:
    """E[u_+^a v_+^a], a = order in {0, 1, 2}, of standard normal u, v with correlation `cosine`; in place.

    u_+^0 = 1{u > 0}. With the angle t = arccos(cosine), over 2 pi: pi - t | sin t + (pi - t) cos t |
    3 sin t cos t + (pi - t)(1 + 2 cos^2 t)  (Cho, Saul 2009, whose kernel is twice this).
    Variances s^2, s'^2 multiply the result by (s s')^a.
    """
    snap(cosine)
    rest = np.arccos(cosine)
    np.subtract(np.pi, rest, out=rest)
    if order == 0:
        np.copyto(cosine, rest)
    else:
        sine = 1.0 - cosine
        sine *= 1.0 + cosine
        np.sqrt(sine, out=sine)
        if order == 1:
            cosine *= rest
            cosine += sine
        else:
            sine *= cosine
            sine *= 3.0
            np.square(cosine, out=cosine)
            cosine *= 2.0
            cosine += 1.0
            cosine *= rest
            cosine += sine
    cosine *= 0.5 / np.pi
