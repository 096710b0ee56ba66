"""Exact line searches for objectives that are polynomial along a line, float64.

Along U + t P an order-k Taylor model's prediction is a polynomial of degree k in t, and its penalty one of degree
2, 4 or 8; so the squared-loss objective is a polynomial whose coefficients n-vectors and m-vectors suffice to find.
"""

import math
from collections.abc import Sequence

import numpy as np
import scipy

from hierlearn.solvers.losses import Loss

Coefficients = Sequence[float] | np.ndarray


def squared_loss_polynomial(outputs: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the coefficients of t -> mean_i (sum_j outputs[j, i] t^j - y_i)^2, ascending.

    outputs: (k+1, ..., n), targets: (..., n), both float64 -> (2k+1, ...).
    """
    residuals = outputs.copy()
    residuals[0] -= targets
    return sum_of_squares_polynomial(residuals) / targets.shape[-1]


def sum_of_squares_polynomial(parts: np.ndarray) -> np.ndarray:
    """Expand t -> sum_i (sum_j parts[j, ..., i] t^j)^2, ascending: (k+1, ..., n) float64 -> (2k+1, ...)."""
    # Inner products one by one: BLAS takes several times longer over a product with so few rows.
    return _along_antidiagonals(np.vecdot(parts[:, None], parts))


def _along_antidiagonals(products: np.ndarray) -> np.ndarray:
    """Sum products[i, j] with the same i + j: (k, k, ...) -> (2k-1, ...)."""
    count = len(products)
    sums = np.zeros((2 * count - 1, *products.shape[2:]))
    for j in range(count):
        sums[j : j + count] += products[j]
    return sums


def penalty_polynomial(norms: np.ndarray, power: int) -> np.ndarray:
    """Expand t -> (sum_r |u_r + t p_r|^4)^(power/4), or sum_r |u_r + t p_r|^2: coefficients, ascending, float64.

    norms: (q + 1, ..., m), |u_r(t)|^2 by powers of t: of a line |u_r|^2, 2 <u_r, p_r> and |p_r|^2, so that q = 2; of a
    parabola q = 4. power: 2, 4 (chen2020, eq. 2) or 8 (bai2020). Returns (q power / 2 + 1, ...).
    """
    if power == 2:
        return norms.sum(axis=-1)
    quartic = sum_of_squares_polynomial(norms)
    return quartic if power == 4 else _along_antidiagonals(quartic[:, None] * quartic)


def _cubic_roots(a0: float, a1: float, a2: float, a3: float) -> list[float]:
    """Real parts of roots of a0 + a1 t + a2 t^2 + a3 t^3 that can be real, in closed form, a3 != 0."""
    b, c, d = a2 / a3, a1 / a3, a0 / a3
    shift = b / 3.0
    p, q = c - b * shift, d + shift * (2.0 * shift * shift - c)
    discriminant = 0.25 * q * q + p * p * p / 27.0
    if discriminant >= 0.0:
        # Adding numbers of one sign avoids the cancellation of Cardano's difference.
        outer = -math.copysign(math.cbrt(0.5 * abs(q) + math.sqrt(discriminant)), q)
        roots = [outer - p / (3.0 * outer) if outer else 0.0]
        roots.append(-0.5 * roots[0])
    else:
        radius = 2.0 * math.sqrt(-p / 3.0)
        angle = math.acos(max(-1.0, min(1.0, 3.0 * q / (p * radius)))) / 3.0
        roots = [radius * math.cos(angle - 2.0 * math.pi * j / 3.0) for j in range(3)]
    return [root - shift for root in roots]


def _real_parts_of_roots(coefficients: list[float]) -> list[float]:
    """Real parts of the roots of a polynomial by ascending coefficients, one of each conjugate pair.

    Eigenvalues of the companion matrix as in numpy.roots, without what that spends on checks. Raises LinAlgError where
    they cannot be found.
    """
    degree = len(coefficients) - 1
    if degree < 1:
        return []
    first = [-c / coefficients[-1] for c in coefficients[-2::-1]]
    if not all(map(math.isfinite, first)):
        raise np.linalg.LinAlgError("found coefficients that overflow when divided by the last; expected finite ones")
    companion = np.zeros((degree, degree))
    companion[0] = first
    companion.reshape(-1)[degree :: degree + 1] = 1.0
    real, imaginary, _, _, failed = scipy.linalg.lapack.dgeev(companion, compute_vl=0, compute_vr=0)
    if failed:
        raise np.linalg.LinAlgError("found no eigenvalues of a companion matrix; expected all of them to converge")
    return real[imaginary >= 0.0].tolist()


def minimise_polynomial(coefficients: Coefficients, both_sides: bool = False) -> tuple[float, float]:
    """Find the global minimiser over t > 0 (or over all t) of a polynomial bounded below.

    coefficients: ascending, float64. Returns (t, value); (0, value at 0) if no t has a lower value, and
    (nan, nan) for coefficients that are not finite.
    """
    values = [float(c) for c in coefficients]
    if not all(map(math.isfinite, values)):
        return math.nan, math.nan
    while len(values) > 1 and values[-1] == 0.0:
        values.pop()
    slope = [j * c for j, c in enumerate(values)][1:]
    roots = _cubic_roots(*slope) if len(slope) == 4 else _real_parts_of_roots(slope)
    curvature = [j * c for j, c in enumerate(slope)][1:]
    best, lowest = 0.0, values[0]
    for root in roots:
        # Polishing changes no sign.
        if root <= 0.0 and not both_sides:
            continue
        for _ in range(2):
            second = _horner(curvature, root)
            polished = root - _horner(slope, root) / second if second > 0.0 else root
            if abs(polished - root) <= 0.1 * abs(root):
                root = polished
        if (value := _horner(values, root)) < lowest:
            best, lowest = root, value
    return best, lowest


def _horner(coefficients: Coefficients, t: float) -> float:
    total = 0.0
    for c in reversed(coefficients):
        total = total * t + c
    return total


def minimise_along_line(
    loss: Loss,
    outputs: np.ndarray,
    targets: np.ndarray,
    penalty: np.ndarray,
    guess: float = 1.0,
    slope_ratio: float = 0.02,
    max_evaluations: int = 40,
) -> tuple[float, float]:
    """Find a local minimiser over t > 0 of mean_i loss(f_i(t), y_i) + penalty(t), by safeguarded Newton steps.

    outputs: (k+1, n) coefficients of f_i(t), targets: (n,), penalty: ascending coefficients, all float64. Stops at
    a lower point whose slope is at most slope_ratio of the slope at 0 (in size). Returns (t, value); t = 0 if the
    function does not fall at 0 or no lower point was found, nan where values are not finite.
    """
    derivative = np.polynomial.polynomial.polyder
    d_outputs, dd_outputs = derivative(outputs, axis=0), derivative(outputs, 2, axis=0)
    d_penalty, dd_penalty = derivative(penalty), derivative(penalty, 2)

    def evaluate(t: float) -> tuple[float, float, float]:
        powers = t ** np.arange(len(outputs))
        f = powers @ outputs
        df, ddf = powers[: len(d_outputs)] @ d_outputs, powers[: len(dd_outputs)] @ dd_outputs
        gradient, curvature = loss.gradient(f, targets), loss.curvature(f, targets)
        return (
            float(np.mean(loss.value(f, targets))) + _horner(penalty, t),
            float(gradient @ df) / f.size + _horner(d_penalty, t),
            float(curvature @ (df * df) + gradient @ ddf) / f.size + _horner(dd_penalty, t),
        )

    start, first_slope, first_bend = evaluate(0.0)
    if not math.isfinite(start + first_slope):
        return math.nan, math.nan
    if first_slope >= 0.0:
        return 0.0, start
    low, high = 0.0, math.inf
    t = guess if guess > 0.0 else (-first_slope / first_bend if first_bend > 0.0 else 1.0)
    best, lowest = 0.0, start
    for _ in range(max_evaluations):
        value, slope, curvature = evaluate(t)
        if not math.isfinite(value + slope):
            high, t = t, 0.5 * (low + t)
            continue
        if value < lowest:
            best, lowest = t, value
        if value <= start and abs(slope) <= slope_ratio * abs(first_slope):
            return t, value
        if slope > 0.0 or value > start:
            high = t
        else:
            low = t
        newton = t - slope / curvature if curvature > 0.0 else math.inf
        if math.isinf(high):
            t = min(max(newton, 1.5 * t), 10.0 * t)
        else:
            t = newton if low + 0.05 * (high - low) < newton < high - 0.05 * (high - low) else 0.5 * (low + high)
    return best, lowest
