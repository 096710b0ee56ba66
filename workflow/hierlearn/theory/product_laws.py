"""Exact means of polynomials of independent coordinates: Gauss rules, and the features of a quadratic layer."""

from functools import cache
from math import sqrt

import numpy as np

# Laws of x with independent equal coordinates of mean 0 and variance 1.
PRODUCT_LAWS = ("gaussian", "uniform", "skewed")


@cache
def rule(law: str, degree: int, power: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and masses (n,) of one coordinate, exact for the means of polynomials up to a degree.

    power: of the law `skewed`. Raises ValueError for a law whose coordinates depend on each other.
    """
    if law == "gaussian":
        nodes, masses = np.polynomial.hermite_e.hermegauss(degree // 2 + 1)
    elif law == "uniform":
        nodes, masses = np.polynomial.legendre.leggauss(degree // 2 + 1)
        nodes = sqrt(3) * nodes
    elif law == "skewed":
        nodes, masses = np.polynomial.legendre.leggauss(degree * power // 2 + 1)
        mean = 1 / (power + 1)
        nodes = (((1 + nodes) / 2) ** power - mean) / sqrt(1 / (2 * power + 1) - mean**2)
    else:
        raise ValueError(f"input law {law!r}; expected one of {', '.join(PRODUCT_LAWS)}")
    return nodes, masses / np.sum(masses)


def monic_norms(law: str, degree: int, power: int = 1) -> np.ndarray:
    """E p_n^2 of the monic orthogonal polynomials of one coordinate, n = 0 .. degree: n! for the normal law."""
    nodes, masses = rule(law, 2 * degree + 1, power)
    values, norms = [np.ones_like(nodes)], [1.0]
    for n in range(1, degree + 1):
        shift = np.sum(masses * nodes * values[-1] ** 2) / norms[-1]
        following = (nodes - shift) * values[-1] - (norms[-1] / norms[-2] * values[-2] if n > 1 else 0.0)
        values.append(following)
        norms.append(np.sum(masses * following**2))
    return np.array(norms)


def least_top_share(law: str, degree: int, dimension: int, power: int = 1) -> float:
    """min E P^2 / C(P_q) over polynomials P of degree q in d coordinates, P_q their part of degree exactly q.

    C is the sum of squared coefficients. Orthogonal polynomials of independent coordinates are products, P_q is all
    that their top parts see, and so the least is that of a single product: min of h_{a_1} h_{a_2} ... over
    a_1 + a_2 + ... = q.
    """
    norms = monic_norms(law, degree, power)
    best = [1.0] + [np.inf] * degree
    for _ in range(min(dimension, degree)):
        best = [min(best[n - a] * norms[a] for a in range(n + 1)) for n in range(degree + 1)]
    return float(best[degree])


def quadratic_feature_moments(linear: np.ndarray, square: np.ndarray, nodes: np.ndarray, masses: np.ndarray):
    """Covariance (k, k) of S = W_0 x + W_1 (x^2 - 1) and E (sum_i S_i^2)^2, exact.

    linear, square: W_0 and W_1 (k, d); nodes, masses: a rule of the coordinates, exact to degree 8. S is a sum over
    independent coordinates, whose second and fourth cumulants add.
    """
    values = linear[..., None] * nodes + square[..., None] * (nodes**2 - 1.0)
    second = np.einsum("icq,kcq,q->cik", values, values, masses, optimize=True)
    fourth = np.einsum("icq,kcq,q->cik", values**2, values**2, masses, optimize=True)
    variances = np.einsum("cii->ci", second)
    cumulant = np.sum(fourth - variances[:, :, None] * variances[:, None, :] - 2.0 * second**2, axis=0)
    covariance = np.sum(second, axis=0)
    diagonal = np.diag(covariance)
    return covariance, float(np.sum(cumulant + np.outer(diagonal, diagonal) + 2.0 * covariance**2))


def grid(law: str, variables: int, degree: int, power: int = 1):
    """Points (n, variables) and masses (n,) that integrate polynomials of this degree in each coordinate exactly."""
    nodes, masses = rule(law, degree, power)
    points = np.stack(np.meshgrid(*[nodes] * variables, indexing="ij"), axis=-1).reshape(-1, variables)
    products = np.prod(np.stack(np.meshgrid(*[masses] * variables, indexing="ij"), axis=-1), axis=-1)
    return points, products.ravel()
