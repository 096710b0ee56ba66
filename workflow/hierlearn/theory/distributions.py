"""What a theory asks of a law of x, measured on points or exact for independent coordinates.

Isotropy, preservation of degree and hypercontractivity: allenzhu2020, Section 5 (Section D of the conference text).
Points and fresh points are independent samples (n, d) of one law with E|x|^2 = d.
"""

from functools import cache
from itertools import combinations_with_replacement
from math import comb, sqrt

import numpy as np

# Steps of the search for the heaviest polynomial; each raises the ratio, most of it in the first few.
STEPS = 15
# Points that are looked at together there.
PIECE = 4096
# Laws of x with independent equal coordinates of mean 0 and variance 1.
PRODUCT_LAWS = ("gaussian", "uniform", "skewed")


def isotropy(points: np.ndarray, fresh: np.ndarray) -> tuple[float, float]:
    """Return max E <w, x>^2 and max E <w, S_1>^2 over |w| = 1, S_1 = x^2 - E x^2: 1 and 2 for N(0, I).

    w is the worst direction of the points, judged on fresh ones: the largest eigenvalue of n points is too large by a
    factor of up to (1 + sqrt(d / n))^2.
    """

    def largest(points: np.ndarray, fresh: np.ndarray, mean: np.ndarray | float) -> float:
        worst = np.linalg.eigh((points - mean).T @ (points - mean) / len(points))[1][:, -1]
        return float(np.mean(((fresh - mean) @ worst) ** 2))

    return largest(points, fresh, 0.0), largest(points**2, fresh**2, np.mean(points**2, axis=0))


def variables(dimension: int, degree: int, monomials: int) -> int:
    """Return the most coordinates, up to the dimension, with no more monomials up to `degree` than allowed."""
    return max(v for v in range(1, dimension + 1) if v == 1 or comb(v + degree, degree) <= monomials)


def monomials(points: np.ndarray, degree: int) -> tuple[np.ndarray, np.ndarray]:
    """Return all monomials of degree 0 .. q in v coordinates, (n, v) -> (n, M), and the degree of each (M,)."""
    powers = [one for q in range(degree + 1) for one in combinations_with_replacement(range(points.shape[1]), q)]
    rows = {one: i for i, one in enumerate(powers)}
    # Monomials as rows: each is written at once.
    values, coordinates = np.empty((len(powers), len(points))), np.ascontiguousarray(points.T)
    for one, i in rows.items():
        values[i] = values[rows[one[:-1]]] * coordinates[one[-1]] if one else 1.0
    return values.T, np.array([len(power) for power in powers])


def top_share(values: np.ndarray, fresh: np.ndarray, orders: np.ndarray) -> tuple[float, float]:
    """Return min E P^2 / C(P_q), the inverse of c_1(q), from below and from above.

    P is a combination of the monomials `values` (n, M), P_q its part of the highest degree, C the sum of squared
    coefficients. The least over a sample is in the mean below that of the law; that of the same P on fresh points is
    above it. 0 where some polynomial of degree q is one of lower degree on all points, as |x|^2 on a sphere.
    """
    top = orders == orders[-1]
    gram = values.T @ values / len(values)
    # Scaled columns: the squares of monomials differ by orders of magnitude.
    scale = 1.0 / np.sqrt(np.diag(gram))
    lower = np.linalg.pinv(gram[~top][:, ~top] * np.outer(scale[~top], scale[~top]), hermitian=True, rcond=1e-10)
    lower = lower * np.outer(scale[~top], scale[~top])
    regression = lower @ gram[~top][:, top]
    rest = gram[top][:, top] - gram[top][:, ~top] @ regression
    shares, directions = np.linalg.eigh(rest)
    worst = np.zeros(len(orders))
    worst[top] = directions[:, 0]
    worst[~top] = -regression @ directions[:, 0]
    return max(float(shares[0]), 0.0), float(np.mean((fresh @ worst) ** 2))


def moment_ratios(values: np.ndarray, coefficients: np.ndarray, masses: np.ndarray | None = None) -> np.ndarray:
    """Return E f^4 / (E f^2)^2 of combinations f of columns: (n, M), (M, F) -> (F,). masses: (n,), None: equal."""
    squares = (values @ coefficients) ** 2
    weights = np.full(len(values), 1.0 / len(values)) if masses is None else masses
    return (weights @ squares**2) / (weights @ squares) ** 2


def heaviest(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return coefficients (M, F) at which E f^4 / (E f^2)^2 cannot be raised, from (M, F) starts.

    With f = sum_i c_i phi_i for orthonormal phi, c <- E f^3 phi raises E f^4 at every step, as E f^4 is convex in c.
    """
    gram = (values * (1.0 / len(values))).T @ values
    sizes, axes = np.linalg.eigh(gram)
    kept = sizes > 1e-10 * sizes[-1]
    whitening = axes[:, kept] / np.sqrt(sizes[kept])
    found = starts.T @ np.linalg.pinv(whitening).T
    # In pieces that stay in a core's cache from one product to the next.
    pieces = [np.ascontiguousarray((values[i : i + PIECE] @ whitening).T) for i in range(0, len(values), PIECE)]
    for _ in range(STEPS):
        found /= np.linalg.norm(found, axis=1, keepdims=True)
        total = np.zeros_like(found)
        for basis in pieces:
            f = found @ basis
            # np.power is slow for a third power
            cubes = f * f
            cubes *= f
            total += cubes @ basis.T
        found = total
    return whitening @ (found / np.linalg.norm(found, axis=1, keepdims=True)).T


def hypercontractive_bound(degree: int) -> float:
    """Bound E f^4 / (E f^2)^2 of polynomials of degree q of normal points by 9^q: (2p - 1)^{pq} with p = 2."""
    return 9.0**degree


@cache
def rule(law: str, degree: int, power: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and masses (n,) of one coordinate, exact for the means of polynomials up to a degree.

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
    """Return E p_n^2 of the monic orthogonal polynomials of one coordinate, n = 0 .. degree: n! for the normal law."""
    nodes, masses = rule(law, 2 * degree + 1, power)
    values, norms = [np.ones_like(nodes)], [1.0]
    for n in range(1, degree + 1):
        shift = np.sum(masses * nodes * values[-1] ** 2) / norms[-1]
        following = (nodes - shift) * values[-1] - (norms[-1] / norms[-2] * values[-2] if n > 1 else 0.0)
        values.append(following)
        norms.append(np.sum(masses * following**2))
    return np.array(norms)


def least_top_share(law: str, degree: int, dimension: int, power: int = 1) -> float:
    """Return min E P^2 / C(P_q) over polynomials P of degree q in d coordinates, P_q their part of degree exactly q.

    C is the sum of squared coefficients. Orthogonal polynomials of independent coordinates are products, P_q is all
    that their top parts see, and so the least is that of a single product: min of h_{a_1} h_{a_2} ... over
    a_1 + a_2 + ... = q.
    """
    norms = monic_norms(law, degree, power)
    best = [1.0] + [np.inf] * degree
    for _ in range(min(dimension, degree)):
        best = [min(best[n - a] * norms[a] for a in range(n + 1)) for n in range(degree + 1)]
    return float(best[degree])


def quadratic_feature_moments(
    linear: np.ndarray, square: np.ndarray, nodes: np.ndarray, masses: np.ndarray
) -> tuple[np.ndarray, float]:
    """Return the covariance (k, k) of S = W_0 x + W_1 (x^2 - 1) and E (sum_i S_i^2)^2, exact.

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


def grid(law: str, variables: int, degree: int, power: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return points (n, variables) and masses (n,), exact for polynomials of this degree in each coordinate."""
    nodes, masses = rule(law, degree, power)
    points = np.stack(np.meshgrid(*[nodes] * variables, indexing="ij"), axis=-1).reshape(-1, variables)
    products = np.prod(np.stack(np.meshgrid(*[masses] * variables, indexing="ij"), axis=-1), axis=-1)
    return points, products.ravel()
