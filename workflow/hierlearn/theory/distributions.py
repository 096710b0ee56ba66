"""What a theory asks of a law of x, measured on points: isotropy, preservation of degree, hypercontractivity.

The properties are those of allenzhu2020, Section 5 (Section D of the conference text). Points and fresh points are
independent samples (n, d) of one law with E|x|^2 = d.
"""

from itertools import combinations_with_replacement
from math import comb

import numpy as np

# Steps of the search for the heaviest polynomial; each raises the ratio, most of it in the first few.
STEPS = 15
# Points that are looked at together there.
PIECE = 4096


def isotropy(points: np.ndarray, fresh: np.ndarray) -> tuple[float, float]:
    """max E <w, x>^2 and max E <w, S_1>^2 over |w| = 1, S_1 = x^2 - E x^2: 1 and 2 for N(0, I).

    w is the worst direction of the points, judged on fresh ones: the largest eigenvalue of n points is too large by a
    factor of up to (1 + sqrt(d / n))^2.
    """
    found = []
    for one, other in ((points, fresh), (points**2, fresh**2)):
        mean = 0.0 if one is points else np.mean(one, axis=0)
        worst = np.linalg.eigh((one - mean).T @ (one - mean) / len(one))[1][:, -1]
        found.append(float(np.mean(((other - mean) @ worst) ** 2)))
    return tuple(found)


def variables(dimension: int, degree: int, monomials: int) -> int:
    """The most coordinates, up to the dimension, that have no more monomials of degree up to `degree` than allowed."""
    return max(v for v in range(1, dimension + 1) if v == 1 or comb(v + degree, degree) <= monomials)


def monomials(points: np.ndarray, degree: int) -> tuple[np.ndarray, np.ndarray]:
    """All monomials of degree 0 .. q in v coordinates, (n, v) -> (n, M), and the degree of each (M,)."""
    powers = [one for q in range(degree + 1) for one in combinations_with_replacement(range(points.shape[1]), q)]
    rows = {one: i for i, one in enumerate(powers)}
    # Monomials as rows: each is written at once.
    values, coordinates = np.empty((len(powers), len(points))), np.ascontiguousarray(points.T)
    for one, i in rows.items():
        values[i] = values[rows[one[:-1]]] * coordinates[one[-1]] if one else 1.0
    return values.T, np.array([len(one) for one in powers])


def top_share(values: np.ndarray, fresh: np.ndarray, orders: np.ndarray) -> tuple[float, float]:
    """min E P^2 / C(P_q), the inverse of c_1(q), from below and from above.

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
    """E f^4 / (E f^2)^2 of combinations f of columns: (n, M), (M, F) -> (F,). masses: of the points, None: equal."""
    squares = (values @ coefficients) ** 2
    weights = np.full(len(values), 1.0 / len(values)) if masses is None else masses
    return (weights @ squares**2) / (weights @ squares) ** 2


def heaviest(values: np.ndarray, starts: np.ndarray, masses: np.ndarray | None = None) -> np.ndarray:
    """Coefficients (M, F) at which E f^4 / (E f^2)^2 cannot be raised, from (M, F) starts.

    With f = sum_i c_i phi_i for orthonormal phi, c <- E f^3 phi raises E f^4 at every step, as E f^4 is convex in c.
    """
    weights = np.full(len(values), 1.0 / len(values)) if masses is None else masses
    gram = (values * weights[:, None]).T @ values
    sizes, axes = np.linalg.eigh(gram)
    kept = sizes > 1e-10 * sizes[-1]
    whitening = axes[:, kept] / np.sqrt(sizes[kept])
    found = starts.T @ np.linalg.pinv(whitening).T
    # In pieces that stay in a core's cache from one product to the next; a constant mass changes no direction.
    pieces = [
        (np.ascontiguousarray((values[rows] @ whitening).T), 1.0 if masses is None else masses[rows])
        for rows in (slice(i, i + PIECE) for i in range(0, len(values), PIECE))
    ]
    for _ in range(STEPS):
        found /= np.linalg.norm(found, axis=1, keepdims=True)
        total = np.zeros_like(found)
        for basis, mass in pieces:
            f = found @ basis
            # np.power is slow for a third power
            cubes = f * f * mass
            cubes *= f
            total += cubes @ basis.T
        found = total
    return whitening @ (found / np.linalg.norm(found, axis=1, keepdims=True)).T


def hypercontractive_bound(degree: int) -> float:
    """9^q >= E f^4 / (E f^2)^2 for polynomials of degree q of normal points: (2p - 1)^{pq} with p = 2."""
    return 9.0**degree
