"""Second moments of step features over their input law, exactly, and how small their smallest eigenvalue may get.

A unit is g_i(x) = 1{<v_i, x> + b_i >= 0} and Sigma = E[g(x) g(x)^T] (chen2020, Section 4.1). Two units see x only
in the plane of their rows, where a uniform point of the sphere and a normal one both have a rotationally symmetric
law: an entry of Sigma is the mass of a wedge with a shifted corner, an integral over one angle.
"""

from collections.abc import Callable
from math import pi

import numpy as np

from hierlearn.theory.activations import hermite_coefficient

# Gauss-Legendre nodes of the angle: entries are exact to 1e-8 (1e-6 at d = 3, where the integrand ends in a root).
NODES = 24
# A normal point lies further out with a probability below 1e-17.
FARTHEST = 9.0
# Beyond it 1 / cosh s is lost in rounding.
LONGEST = 38.0


def approximation_error(order: int) -> float:
    """Return E_k, min over q of degree <= k of E(1{z >= 0} - q(z))^2, z ~ N(0, 1)  (chen2020, Section 4.2).

    1/2 less the squared Hermite coefficients up to degree k: c_0 = 1/2, c_j = He_{j-1}(0) / sqrt(2 pi j!). They vanish
    at even j > 0, so E_2 = E_1.
    """
    return 0.5 - sum(hermite_coefficient("step", j) ** 2 for j in range(order + 1))


def second_moment(rows: np.ndarray) -> np.ndarray:
    """Return Sigma without biases: 1/2 - angle(v_i, v_j) / (2 pi), the order-0 arc-cosine matrix of the rows.

    rows (D, d) -> (D, D) float64, exactly symmetric; the same for every rotationally symmetric law of x.
    """
    cosine = _cosines(rows)
    moment = 0.5 - np.arccos(cosine) / (2.0 * pi)
    np.fill_diagonal(moment, 0.5)
    return moment


def second_moment_with_biases(rows: np.ndarray, biases: np.ndarray, law: str) -> np.ndarray:
    """Return Sigma_ij = P(<v_i, x> + b_i >= 0 and <v_j, x> + b_j >= 0) of the paper's biased step features.

    rows (D, d), biases (D,), law "sphere" (x ~ Unif(S^{d-1})) or "gaussian" (x ~ N(0, I)) -> (D, D) float64, exactly
    symmetric. With s_i = -b_i / |v_i| this is Owen's formula for a bivariate normal law, which needs no more of the
    law than its rotational symmetry and the tail P(R > r) of the radius in the plane. Raises ValueError for another
    law and for d < 3, where the radius has no density inside the disc.
    """
    tail, below, radius = _plane(law, rows.shape[1])
    shift = biases / np.linalg.norm(rows, axis=1)
    mass = below(shift)
    cosine = _cosines(rows)
    sine = np.sqrt((1.0 - cosine) * (1.0 + cosine))
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = (shift[None, :] - cosine * shift[:, None]) / (shift[:, None] * sine)
    # A unit without bias that meets another one without: the corner is at the origin.
    slope = np.where(np.isnan(slope), (1.0 - cosine) / np.where(sine > 0.0, sine, 1.0), slope)
    wedges = _wedges(np.abs(shift), slope, tail, radius)
    signs = np.where(shift < 0.0, -1.0, 1.0)
    moment = 0.5 * (mass[:, None] + mass[None, :]) - (wedges + wedges.T) - 0.5 * (signs[:, None] != signs[None, :])
    np.fill_diagonal(moment, mass)
    return np.clip(moment, 0.0, 1.0)


def _cosines(rows: np.ndarray) -> np.ndarray:
    unit = rows.astype(np.float64) / np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    cosine = unit @ unit.T
    return np.clip((cosine + cosine.T) / 2.0, -1.0, 1.0)


def _plane(
    law: str, dimension: int
) -> tuple[Callable[[np.ndarray], np.ndarray], Callable[[np.ndarray], np.ndarray], float]:
    """In a plane through the origin: squared radius -> P(R^2 > it), t -> P(<e, x> <= t) for |e| = 1, largest radius."""
    # Imported here: the spectral half of the module, without biases, needs no scipy.
    from scipy.special import betainc, ndtr

    if law == "gaussian":
        return (lambda square: np.exp(-0.5 * square)), ndtr, FARTHEST
    if law != "sphere":
        raise ValueError(f"law {law!r}; expected sphere or gaussian")
    if dimension < 3:
        raise ValueError(f"dimension {dimension}; expected at least 3")
    power = (dimension - 2) / 2.0

    def tail(square: np.ndarray) -> np.ndarray:
        return np.maximum(1.0 - square, 0.0) ** power

    def below(t: np.ndarray) -> np.ndarray:
        central = betainc(0.5, (dimension - 1) / 2.0, np.minimum(t * t, 1.0))
        return 0.5 + 0.5 * np.sign(t) * central

    return tail, below, 1.0


def _wedges(
    distance: np.ndarray, slope: np.ndarray, tail: Callable[[np.ndarray], np.ndarray], radius: float
) -> np.ndarray:
    """Owen's T: the mass of {X > h, 0 < Y < a X}, (1 / 2 pi) int_0^{arctan a} P(R > h / cos t) dt.

    distance h (D,) >= 0 by row, slope a (D, D) -> (D, D), odd in a. In s with cosh s = 1 / cos t the integrand varies
    on a scale of 1 at every h; it ends where h cosh s reaches the largest radius.
    """
    with np.errstate(divide="ignore"):
        farthest = np.arccosh(np.maximum(radius / distance, 1.0))
    reach = np.minimum(np.arcsinh(np.abs(slope)), np.minimum(farthest, LONGEST)[:, None])
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    total = np.zeros_like(reach)
    for node, weight in zip(0.5 * (nodes + 1.0), 0.5 * weights, strict=True):
        stretch = np.cosh(node * reach)
        total += weight * tail(np.square(distance[:, None] * stretch)) / stretch
    return np.sign(slope) * total * reach / (2.0 * pi)
