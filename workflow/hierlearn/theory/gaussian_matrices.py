"""The Rademacher complexity of a ball of quadratic Taylor models, by the random matrices that its A_r tend to.

For n much larger than D the matrices A_r = (1/n) sum_i sigma_i g_r(h_i) h_i h_i^T of `rademacher` are Gaussian with the
same covariances. For h = C^{1/2} x, x of unit norm with isotropic even law, and gates that are open on one side of a
hyperplane, A_r = C^{1/2} X_r C^{1/2} where, with v = E x_1^2 x_2^2 / (2 n) and independent standard normal numbers, X_r
has v^{1/2} off the diagonal, and on it v^{1/2} (z + t z_i): z is the same at all places, since |x| = 1, and
t^2 = (E x_1^4 - E x_1^2 x_2^2) / E x_1^2 x_2^2 is 2 on the sphere and 0 on the hypercube. Two gates of independent w0
are open together on a quarter of the points on average, so that half of the variance of all X_r is common to them.
"""

import numpy as np

# E x_1^2 x_2^2 of points of norm 1, in terms of D, and t^2.
PRODUCTS = {"sphere": lambda d: 1.0 / (d * (d + 2.0)), "hypercube": lambda d: 1.0 / d**2}
DIAGONAL = {"sphere": 2.0, "hypercube": 0.0}
# Draws of whole matrices, whose eigenvalues scatter less the larger they are, and of their leading corners alone.
LEAST_DRAWS, ENTRIES = 32, 16384
CORNER, CORNER_DRAWS = 4, 20000


def gaussian_complexities(variances: np.ndarray, widths: list[int], law: str, samples: int = 1) -> np.ndarray:
    """Complexities of the ball |W|_{2,4} <= 1 for models of each width m (even), with the symmetric initialisation.

    variances: the diagonal (D,) of C, the leading ones first, 1 each for isotropic features with |h| = 1. -> (widths,)
    float64, the mean over draws from a generator of its own, so that equal arguments give equal numbers; what the
    leading directions scatter is taken off with many draws of these alone. law: sphere or hypercube; samples: n, of
    which it is the power -1/2. Raises KeyError for another law.
    """
    roots, dimension = np.sqrt(np.asarray(variances, np.float64)), len(variances)
    generator, half, t = np.random.default_rng(0), max(widths) // 2, np.sqrt(DIAGONAL[law])
    scale = np.outer(roots, roots) * np.sqrt(PRODUCTS[law](dimension) / (2.0 * samples))
    corner = min(CORNER, dimension)
    whole, part = [], []
    for _ in range(max(LEAST_DRAWS, ENTRIES // (dimension * half))):
        matrices = _matrices(generator, 1, half, dimension, t)[0] * scale
        whole.append(_suprema(np.linalg.eigvalsh(matrices)[None], widths)[0])
        part.append(_suprema(np.linalg.eigvalsh(matrices[:, :corner, :corner])[None], widths)[0])
    alone = _matrices(generator, CORNER_DRAWS // half, half, corner, t) * scale[:corner, :corner]
    exact = _suprema(np.linalg.eigvalsh(alone), widths).mean(axis=0)
    whole, part = np.array(whole), np.array(part)
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
    """Standard normal numbers (draws, count, *shape) with correlation 1/2 along `count`."""
    common = generator.standard_normal((draws, 1, *shape))
    return (common + generator.standard_normal((draws, count, *shape))) / np.sqrt(2.0)
