"""Two-layer ReLU networks that represent a parity: as the paper builds them, and of the least Frobenius norm.

f(x) = m^{-1/2} sum_r s_r relu(<w_r, x>), s_r = -1 or +1 fixed, W (m, d) trained, no bias, x in {-1, 1}^d / sqrt(d)
(allenzhu2019, Figure 1). The target chi is the product of k >= 2 signs. Without a bias it is reachable for even k.

Let N be the least of |u| / |E[chi(z) relu(<u, z> + b)]| over directions u in R^k and biases b, z uniform in {-1, 1}^k.
For every W, with R the risk E(f - chi)^2,

    1 - sqrt(R) <= E[f chi] <= m^{-1/2} sum_r |w_r| / (N sqrt(d)) <= |W|_F / (N sqrt(d)),

the first step as R >= (1 - E[f chi])^2, the second as the d - k other coordinates act on the k as a bias. So
|W|_F >= (1 - sqrt(R)) N sqrt(d) in every dimension and at every width, with or without biases beside W. The average of
one best unit over all flips of signs is a multiple of chi and attains the bound. N = 16 sqrt(6) / 3 = 13.06 for k = 6.
"""

from dataclasses import dataclass
from itertools import product
from math import comb, sqrt

import numpy as np
import scipy

# Up to here all cells are enumerated, 1512 of them, see `norm_factor`.
LARGEST_ORDER = 6
# Rounds of the method of multipliers and steps in each; the error ends within a few percent of the target.
ROUNDS, STEPS = 4, 250


@dataclass(frozen=True)
class TwoLayerRelu:
    """x -> m^{-1/2} sum_r s_r relu(<w_r, x>). signs: (m,) -1 or +1; weights: (m, d)."""

    signs: np.ndarray
    weights: np.ndarray

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """(n, d) -> (n,)."""
        return np.maximum(x @ self.weights.T, 0.0) @ self.signs / np.sqrt(len(self.signs))

    @property
    def norm(self) -> float:
        """|W|_F."""
        return float(np.linalg.norm(self.weights))


def sign_patterns(order: int) -> np.ndarray:
    """Return all points of {-1, 1}^k, (2^k, k) float64."""
    return np.array(list(product((-1.0, 1.0), repeat=order)))


def embed(network: TwoLayerRelu, coordinates: np.ndarray, dimension: int) -> TwoLayerRelu:
    """Embed the network of k inputs in one of `dimension` inputs that looks at k `coordinates` only.

    The same function of the k signs: inputs shrink from 1/sqrt(k) to 1/sqrt(d), so weights and norm grow by sqrt(d/k).
    """
    weights = np.zeros((len(network.signs), dimension))
    weights[:, coordinates] = network.weights * np.sqrt(dimension / network.weights.shape[1])
    return TwoLayerRelu(network.signs, weights)


def repeat_rows(network: TwoLayerRelu, copies: int) -> TwoLayerRelu:
    """Repeat every row `copies` times, divided by sqrt(copies): the same function and norm at a larger width."""
    weights = np.repeat(network.weights, copies, axis=0) / np.sqrt(copies)
    return TwoLayerRelu(np.repeat(network.signs, copies), weights)


def least_norm_units(order: int) -> tuple[np.ndarray, np.ndarray]:
    """Find units of the least sum that are a parity, by linear programming: directions (q, k), coefficients (q,).

    min sum_j |c_j| |u_j| over c, subject to sum_j c_j relu(<u_j, z>) = chi(z) at all 2^k points z, over the directions
    u_j in {-1, 0, 1}^k. At infinite width the sum is the least |W|_F / sqrt(d) of networks with rows along the u_j: of
    m rows a unit gets a share in proportion to |c_j| |u_j|. It is an upper bound of the minimum over all directions,
    and the minimum where it equals `norm_factor`. Raises ValueError if no network without biases is the parity.
    """
    points = sign_patterns(order)
    directions = np.array([u for u in product((-1.0, 0.0, 1.0), repeat=order) if any(u)])
    units = np.maximum(points @ directions.T, 0.0)
    costs = np.tile(np.linalg.norm(directions, axis=1), 2)
    found = scipy.optimize.linprog(costs, A_eq=np.hstack([units, -units]), b_eq=np.prod(points, axis=1), method="highs")
    if found.status != 0:
        raise ValueError(f"order {order}; expected an even number: no sum of ReLUs without biases is this parity")
    coefficients = np.subtract(*np.split(found.x, 2))
    used = np.abs(coefficients) > 1e-9
    return directions[used], coefficients[used]


def realise(directions: np.ndarray, coefficients: np.ndarray, width: int) -> TwoLayerRelu:
    """Return the network of m = `width` rows, sum_j c_j relu(<u_j, z>) on inputs z / sqrt(k), of least norm at m.

    n_j rows along u_j have the squared norm k m c_j^2 |u_j|^2 / n_j, least for n_j in proportion to |c_j| |u_j|, which
    are rounded to integers. Raises ValueError for fewer rows than units.
    """
    sizes = np.abs(coefficients) * np.linalg.norm(directions, axis=1)
    if width < len(sizes):
        raise ValueError(f"width {width}; expected at least {len(sizes)}, one row for each unit")
    counts = np.ones(len(sizes), dtype=int)
    for _ in range(width - len(sizes)):
        # The next row goes where it saves most.
        counts[np.argmax(sizes**2 / (counts * (counts + 1)))] += 1
    rows = directions * (np.abs(coefficients) / counts)[:, None] * np.sqrt(directions.shape[1] * width)
    return TwoLayerRelu(np.repeat(np.sign(coefficients), counts), np.repeat(rows, counts, axis=0))


def norm_factor(order: int) -> float:
    """Return N, the bound from below on |W|_F / sqrt(d) of a network that is the parity of k signs, even k up to 6.

    The best unit lies along (1, ..., 1) without a bias: N = 2^k sqrt(k) / |sum_j (-1)^j C(k, j) (k - 2 j)_+|. That no
    direction and bias does better is known from an enumeration of all cells on which the overlap is linear; raises
    ValueError where it was not made.
    """
    if order % 2 or not 2 <= order <= LARGEST_ORDER:
        raise ValueError(f"order {order}; expected an even number up to {LARGEST_ORDER}")
    return 2.0**order * sqrt(order) / abs(sum((-1) ** j * comb(order, j) * (order - 2 * j) for j in range(order // 2)))


def train(signs: np.ndarray, start: np.ndarray, error: float) -> tuple[TwoLayerRelu, int]:
    """Train a network of k inputs to the parity on all 2^k points; return it and the number of gradients it took.

    signs: (m,); start: (m, k) initial weights for inputs +-1/sqrt(k); error: the mean square error to end at, above 0.
    Minimises |W|_F^2 subject to the error by L-BFGS and the method of multipliers (a weight decay that adapts until the
    error is met), from `start`: a local minimum. A factor on W, by which f scales, takes up what is left of the error.
    """
    order = start.shape[1]
    points = sign_patterns(order)
    target, x = np.prod(points, axis=1), points / np.sqrt(order)
    # The multiplier at the global minimum, where |W|_F^2 = k (1 - sqrt(R))^2 N^2.
    multiplier = order * norm_factor(order) ** 2 * (1 - np.sqrt(error)) / np.sqrt(error)
    stiffness = multiplier / error
    flat, gradients = start.ravel(), 0

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        hidden = x @ flat.reshape(start.shape).T
        residual = np.maximum(hidden, 0.0) @ signs / np.sqrt(len(signs)) - target
        force = max(0.0, multiplier + stiffness * (np.mean(residual**2) - error))
        slope = (residual[:, None] * (hidden > 0) * signs).T @ x * (2 / (len(x) * np.sqrt(len(signs))))
        return flat @ flat + force**2 / (2 * stiffness), 2 * flat + force * slope.ravel()

    for _ in range(ROUNDS):
        options = {"maxiter": STEPS, "maxfun": 4 * STEPS, "ftol": 1e-12, "gtol": 1e-8}
        found = scipy.optimize.minimize(objective, flat, jac=True, method="L-BFGS-B", options=options)
        flat, gradients = found.x, gradients + found.nfev
        network = TwoLayerRelu(signs, flat.reshape(start.shape))
        multiplier = max(0.0, multiplier + stiffness * (np.mean((network(x) - target) ** 2) - error))
    # The least factor on the outputs at which their mean square error is as asked, or the smallest it can be.
    outputs = network(x)
    square, overlap = np.mean(outputs**2), np.mean(outputs * target)
    room = overlap**2 - square * (np.mean(target**2) - error)
    return TwoLayerRelu(signs, network.weights * float((overlap - np.sqrt(max(0.0, room))) / square)), gradients
