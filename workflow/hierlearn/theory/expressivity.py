"""What Taylor models of the raw input express: degrees, and powers of one direction with weights in closed form.

The weights are those of the quadratic model of relu^3 / 6 in bai2020, Lemmas 9 and 15 and Theorem 7, with alpha = 1,
|beta| = 1, |x| = 1 and w0 ~ N(0, I): the paper shows that they exist; here they are the ones that its norm bound comes
from. Hermite polynomials he_q, orthonormal under N(0, 1), satisfy E[relu(<w0, x>) he_q(<w0, b>)] = s_q <b, x>^q with
s_q = E[relu(g) he_q(g)], so the amplitude a(w0) = he_{p-2}(<w0, b>) / s_{p-2} gives E[relu(<w0, x>) a(w0)] =
<b, x>^{p-2}, and E a^2 = 1 / s_{p-2}^2.
"""

from math import pi

import numpy as np

from hierlearn.theory.activations import derivative, hermite_coefficient
from hierlearn.theory.gegenbauer import hermite

# A grid that holds the normal law to rounding, fine enough for a step; without 0, where a step has no odd value.
GRID = np.linspace(-9.0, 9.0, 18_000)
MASSES = np.exp(-(GRID**2) / 2) / np.sum(np.exp(-(GRID**2) / 2))
# Steps on a grid leave a part of this size in a component that is not there.
SMALL = 1e-3


def expressible(degree: int) -> bool:
    """Return whether p - 2 is 0, 1 or even: the powers <b, x>^p that Lemma 15 speaks of."""
    return degree >= 2 and hermite_coefficient("relu", degree - 2) != 0


def scales(degree: int, projections: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Return c+ and c- of the weights w*_r = c+ b of the neurons with a = +1 and c- b of their copies with a = -1.

    c = 2 m^{-1/4} sqrt(a+) and 2 m^{-1/4} sqrt(a-), a = a+ - a- the amplitude (eq. 22 and Appendix C.4).
    An expressible degree; projections: <w0_r, b>, any shape -> two arrays of that shape, float64 >= 0.
    """
    amplitudes = hermite(degree - 2, projections) / hermite_coefficient("relu", degree - 2)
    return tuple(2.0 * width**-0.25 * np.sqrt(np.maximum(sign * amplitudes, 0.0)) for sign in (1.0, -1.0))


def norm_bound(degree: int, failure: float) -> float:
    """Bound |W*|_{2,4} with probability 1 - failure/2 over w0: (32 pi max(p-2, 1)^3 / failure)^{1/4}.

    Appendix C.4: Markov's inequality for 8 (1/(m/2)) sum_r a(w0_r)^2, where E a^2 <= 2 pi max(p-2, 1)^3.
    """
    return (32 * pi * max(degree - 2, 1) ** 3 / failure) ** 0.25


def best_line(degree: int, along: np.ndarray) -> float:
    """Return c with c <b, x>^3 nearest to <b, x>^p over the points, for odd p >= 5: what such weights can do for it.

    E[relu(<w0, x>) a(<w0, b>)] has of the odd powers of <b, x> the first alone, whatever a. along: <b, x>, (n,).
    """
    return float(np.sum(along ** (degree + 3)) / np.sum(along**6))


def taylor_reaches(activation: str, order: int, degree: int) -> bool:
    """Return whether sums of sigma^(k)(<w, x>) <u, x>^k, k = order, have a component of a degree p in x.

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
