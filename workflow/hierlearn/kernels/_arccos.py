"""The arc-cosine family: second moments of one-sided powers of a Gaussian pair."""

import numpy as np

from hierlearn.kernels._tiles import snap


def relu_layer(cosine: np.ndarray) -> np.ndarray:
    """2 E[u_+ v_+] in place of the correlation in [-1, 1], and 2 E[1{u > 0} 1{v > 0}], returned: one arccos for both.

    Both are 1 at 1, to the last bit, and at most 1: the result is a correlation for the next layer.
    """
    slope = np.arccos(cosine)
    np.subtract(np.pi, slope, out=slope)
    slope *= 1.0 / np.pi
    sine = _sine(cosine)
    sine *= 1.0 / np.pi
    cosine *= slope
    cosine += sine
    return slope


def relu_layer_of(
    inner: np.ndarray, tangent: np.ndarray, square: np.ndarray, other: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return a and T A' of a layer of ReLUs, from S, T and the variances of both sides."""
    scale = np.sqrt(square * other)
    cosine = np.divide(inner, scale, out=np.zeros(np.broadcast(inner, scale).shape), where=scale > 0)
    snap(cosine)
    slope = relu_layer(cosine)
    cosine *= scale
    slope *= tangent
    return cosine, slope


def moment(order: int, cosine: np.ndarray, factor: float = 1.0) -> None:
    """factor E[u_+^a v_+^a], a = order in {0, 1, 2}, of standard normal u, v with correlation `cosine`; in place.

    u_+^0 = 1{u > 0}. With the angle t = arccos(cosine), over 2 pi: pi - t | sin t + (pi - t) cos t |
    3 sin t cos t + (pi - t)(1 + 2 cos^2 t)  (Cho, Saul 2009, whose kernel is twice this).
    Variances s^2, s'^2 multiply the result by (s s')^a.
    """
    rest = np.arccos(cosine)
    np.subtract(np.pi, rest, out=rest)
    if order == 0:
        np.copyto(cosine, rest)
    else:
        sine = _sine(cosine)
        if order == 1:
            cosine *= rest
        else:
            sine *= cosine
            sine *= 3.0
            np.square(cosine, out=cosine)
            cosine *= 2.0
            cosine += 1.0
            cosine *= rest
        cosine += sine
    cosine *= 0.5 / np.pi * factor


def _sine(cosine: np.ndarray) -> np.ndarray:
    """sin(arccos(cosine)); 1 - cosine^2 would lose the small angles."""
    sine = 1.0 - cosine
    sine *= 1.0 + cosine
    return np.sqrt(sine, out=sine)
