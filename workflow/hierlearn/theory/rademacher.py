"""The empirical Rademacher complexity of a ball of quadratic Taylor models, exactly up to the mean over signs.

The class is {f_W : |W|_{2,4} <= B_w}, f_W(x) = 1/(2 sqrt(m)) sum_r a_r sigma''(<w0_r, h>) <w_r, h>^2 (chen2020,
Theorem 1; bai2020, Lemma 5). With A_r = (1/n) sum_i sigma_i sigma''(<w0_r, h_i>) h_i h_i^T,

    (1/n) sum_i sigma_i f_W(x_i) = 1/(2 sqrt(m)) sum_r a_r w_r^T A_r w_r.

At a given |w_r|^2 = t_r the best direction gives t_r lambda_max^+(a_r A_r), and the best t >= 0 with |t|_2 <= B_w^2 is
parallel to these eigenvalues (Cauchy-Schwarz), so that the supremum is (B_w^2 / 2) (mean_r lambda_max^+(a_r
A_r)^2)^{1/2}: the 1/sqrt(m) of the model turns the sum over neurons into their mean, and no other factor is left.
Everything below is for B_w = 1; values grow as B_w^2.

For n much larger than D the A_r are Gaussian with the same covariances. For h = C^{1/2} x, x of unit norm with
isotropic even law, and gates that are open on one side of a hyperplane, A_r = C^{1/2} X_r C^{1/2} where, with
v = E x_1^2 x_2^2 / (2 n) and independent standard normal numbers, X_r has v^{1/2} off the diagonal, and on it
v^{1/2} (z + t z_i): z is the same at all places, since |x| = 1, and t^2 = (E x_1^4 - E x_1^2 x_2^2) / E x_1^2 x_2^2 is
2 on the sphere and 0 on the hypercube. Two gates of independent w0 are open together on a quarter of the points on
average, so that half of the variance of all X_r is common to them.
"""

from math import log, sqrt

import numpy as np

# Minus the mean of the Tracy-Widom law of real symmetric matrices.
EDGE = 1.2065335745820
# E x_1^2 x_2^2 of points of norm 1, in terms of D, and t^2.
PRODUCTS = {"sphere": lambda d: 1.0 / (d * (d + 2.0)), "hypercube": lambda d: 1.0 / d**2}
DIAGONAL = {"sphere": 2.0, "hypercube": 0.0}
# Draws of whole matrices, whose eigenvalues scatter less the larger they are, and of their leading corners alone.
LEAST_DRAWS, ENTRIES = 32, 16384
CORNER, CORNER_DRAWS = 4, 20000


def extreme_eigenvalues(features: np.ndarray, gates: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Return the smallest and largest eigenvalue of every A_r, for every draw of the signs.

    features (n, D), gates (n, m), draws (K, n) of -1 and +1 -> (K, m, 2) float64; the products are made in the
    features' dtype.
    """
    count, width = gates.shape
    result = np.empty((len(draws), width, 2))
    for r in range(width):
        active = np.flatnonzero(gates[:, r])
        seen = features[active]
        weights = gates[active, r].astype(features.dtype) / features.dtype.type(count)
        for k, signs in enumerate(draws):
            moment = (seen * (weights * signs[active])[:, None]).T @ seen
            result[k, r] = np.linalg.eigvalsh(moment.astype(np.float64))[[0, -1]]
    return result


def symmetric_suprema(extremes: np.ndarray, width: int, each: bool = False) -> np.ndarray:
    """Return sup over |W|_{2,4} <= 1 of (1/n) sum_i sigma_i f_W(x_i) per draw, at the symmetric initialisation.

    extremes (K, m/2 or more, 2) of `extreme_eigenvalues` of the first neurons, a = +1, of which the other half of m =
    width neurons are copies with a = -1 -> (K,); their mean over draws is the complexity. each: over the larger ball
    |w_r| <= 1 of every neuron, where it is m^{1/2} / 2 mean_r lambda_max^+.
    """
    half = extremes[:, : width // 2]
    towards = np.maximum(np.concatenate([half[..., 1], -half[..., 0]], axis=1), 0.0)
    if each:
        return 0.5 * np.sqrt(width) * np.mean(towards, axis=-1)
    return 0.5 * np.sqrt(np.mean(np.square(towards), axis=-1))


def isotropic_edge(samples: int, dimension: int) -> float:
    """Return the complexity for x ~ Unif(S^{D-1}) and gates open for half of the points, by random-matrix theory.

    For n >> D the entries of A_r are nearly normal of variance 1/(2 n D (D + 2)) off the diagonal, and the largest
    eigenvalue is (2 sqrt(D) - 1.2065 D^{-1/6}) standard deviations on average: D^{-1/2} with a slow correction.
    """
    deviation = 1.0 / sqrt(2.0 * samples * dimension * (dimension + 2.0))
    return 0.5 * deviation * (2.0 * sqrt(dimension) - EDGE * dimension ** (-1.0 / 6.0))


def operator_norm(features: np.ndarray) -> float:
    """Return |(1/n) sum_i h_i h_i^T|_op of features (n, D); B_h M_{h,op} is the root of its mean over samples."""
    features = features.astype(np.float64)
    return float(np.linalg.eigvalsh(features.T @ features / len(features))[-1])


def matrix_bound(features: np.ndarray, width: int, norm_bound: float) -> float:
    """Return B_h B_w^2 |(1/n) sum h h^T|_op^{1/2} / sqrt(n), chen2020's bound with logarithm and constant, B_w = 1.

    (1/2) E max_r |A_r| <= (1/2) sqrt(2 v log(2 m D)), v = B_h^2 |(1/n) sum h h^T|_op / n, for gates of at most 1
    (matrix Rademacher series, Tropp 2015, Theorem 4.1.1, on the block-diagonal matrix of all A_r). norm_bound: B_h; it
    is a theorem with the maximum of |h_i|, and an estimate with their root mean square.
    """
    count, dimension = features.shape
    variance = norm_bound**2 * operator_norm(features) / count
    return 0.5 * sqrt(2.0 * variance * log(2 * width * dimension))


def gaussian_complexities(variances: np.ndarray, widths: list[int], law: str, samples: int = 1) -> np.ndarray:
    """Estimate complexities of |W|_{2,4} <= 1 for models of each width m (even), symmetric initialisation.

    variances: the diagonal (D,) of C, the leading ones first, 1 each for isotropic features with |h| = 1. -> (widths,)
    float64, the mean over draws from a generator of its own, so that equal arguments give equal numbers; what the
    leading directions scatter is taken off with many draws of these alone. law: sphere or hypercube; samples: n, of
    which it is the power -1/2. Raises KeyError for another law.
    """
    roots, dimension = np.sqrt(np.asarray(variances, np.float64)), len(variances)
    generator, half, t = np.random.default_rng(0), max(widths) // 2, np.sqrt(DIAGONAL[law])
    scale = np.outer(roots, roots) * np.sqrt(PRODUCTS[law](dimension) / (2.0 * samples))
    corner = min(CORNER, dimension)
    wholes, parts = [], []
    for _ in range(max(LEAST_DRAWS, ENTRIES // (dimension * half))):
        matrices = _matrices(generator, 1, half, dimension, t)[0] * scale
        wholes.append(_suprema(np.linalg.eigvalsh(matrices)[None], widths)[0])
        parts.append(_suprema(np.linalg.eigvalsh(matrices[:, :corner, :corner])[None], widths)[0])
    alone = _matrices(generator, CORNER_DRAWS // half, half, corner, t) * scale[:corner, :corner]
    exact = _suprema(np.linalg.eigvalsh(alone), widths).mean(axis=0)
    whole, part = np.array(wholes), np.array(parts)
    off = part - part.mean(axis=0)
    share = np.sum(off * whole, axis=0) / np.sum(off**2, axis=0)
    return whole.mean(axis=0) + share * (exact - part.mean(axis=0))


def _suprema(eigenvalues: np.ndarray, widths: list[int]) -> np.ndarray:
    """Of eigenvalues (draws, m/2, D) of A_r for the widths: a neuron and its copy with the other sign have both ends
    of one spectrum; (draws, widths)."""
    ends = eigenvalues[..., [0, -1]] * [-1.0, 1.0]
    squares = np.sum(np.square(np.maximum(ends, 0.0)), axis=-1) / 2.0
    return np.stack([0.5 * np.sqrt(np.mean(squares[:, : m // 2], axis=1)) for m in widths], axis=1)


def _matrices(generator: np.random.Generator, draws: int, count: int, dimension: int, t: float) -> np.ndarray:
    """X_r / v^{1/2} of the neurons, half of whose variance is common, (draws, count, D, D)."""
    upper = np.triu(_shared(generator, draws, count, dimension, dimension), 1)
    own = t * _shared(generator, draws, count, dimension) + _shared(generator, draws, count, 1)
    return upper + np.swapaxes(upper, -1, -2) + own[..., None] * np.eye(dimension)


def _shared(generator: np.random.Generator, draws: int, count: int, *shape: int) -> np.ndarray:
    """Draw standard normal numbers (draws, count, *shape) with correlation 1/2 along `count`."""
    common = generator.standard_normal((draws, 1, *shape))
    return (common + generator.standard_normal((draws, count, *shape))) / np.sqrt(2.0)
