"""How much it costs to learn a smooth function of one variable: complexities of its Taylor series at 0.

Of phi(z) = sum_i c_i z^i (allenzhu2019, Section 4), with a large constant C*, 10^4 in the paper:

    C_eps(phi) = sum_i ((C*)^i + (sqrt(log(1/eps) / i) C*)^i) |c_i|,     C_s(phi) = C* sum_i (i + 1) |c_i|.

The first is beyond double precision for e^z already, so that logarithms are computed throughout. A series is the array
of log |c_i|, i = 0, 1, ..., -inf where c_i = 0.
"""

from math import ceil, e, log, pi

import numpy as np

CONSTANT = 1.0e4
ENTIRE = ("sin", "cos", "exponential")
FUNCTIONS = (*ENTIRE, "tanh")
# log of the part of a sum that terms left out may make up: below rounding.
NEGLIGIBLE = -40.0


def polynomial(coefficients) -> np.ndarray:
    """The series of sum_i c_i z^i. coefficients (K + 1,), the constant first -> (K + 1,) float64."""
    with np.errstate(divide="ignore"):
        return np.log(np.abs(np.asarray(coefficients, np.float64)))


def series(function: str, degree: int, scale: float = 1.0) -> np.ndarray:
    """The series of phi(cz) up to `degree`: (degree + 1,) float64, relative error of |c_i| about i rounding errors.

    function: sin, cos, exponential (e^z - 1) or tanh; scale: c. Raises ValueError for another function and for c <= 0.
    """
    if function not in FUNCTIONS:
        raise ValueError(f"function {function!r}; expected one of {', '.join(FUNCTIONS)}")
    if scale <= 0:
        raise ValueError(f"scale {scale}; expected above 0")
    # Imported here: scipy.special is needed for these two functions only.
    from scipy.special import gammaln, zeta

    i = np.arange(degree + 1, dtype=np.float64)
    if function == "tanh":
        # |c_i| = 2 (2 / pi)^(i+1) sum over odd j of j^-(i+1), from the Bernoulli numbers.
        odd_sum = (1.0 - 2.0 ** -(i + 1)) * zeta(np.maximum(i, 1.0) + 1)
        logs = log(2.0) + (i + 1) * log(2.0 / pi) + np.log(odd_sum)
    else:
        logs = -gammaln(i + 1)
    present = {"sin": i % 2 == 1, "tanh": i % 2 == 1, "cos": i % 2 == 0, "exponential": i > 0}[function]
    return np.where(present, logs + i * log(scale), -np.inf)


def sufficient_degree(function: str, epsilon: float, scale: float = 1.0, constant: float = CONSTANT) -> int:
    """The degree at which the series of phi(cz) is cut.

    An entire function: beyond it, terms no longer change its complexities. tanh, whose series diverges at z = pi/2c,
    and with it C_eps at any C* > pi/2c: the least at which the rest of the series on [-1, 1] is at most epsilon
    (Example 4.1: of order log(1/eps)). Raises ValueError for epsilon outside (0, 1), and for tanh with c >= pi/2, whose
    series does not converge on [-1, 1].
    """
    if not 0 < epsilon < 1:
        raise ValueError(f"epsilon {epsilon}; expected between 0 and 1")
    if function in ENTIRE:
        # Terms are at most 2 q^i / i! < 2 (e q / i)^i; from i = e^2 q on each is below 1/e of the one before.
        q = scale * max(constant, 1.0) * max(1.0, np.sqrt(log(1.0 / epsilon)))
        return ceil(e**2 * q - NEGLIGIBLE) + 1
    series(function, 0, scale)
    ratio = 2.0 * scale / pi
    if ratio >= 1:
        raise ValueError(f"tanh with scale {scale}; expected below pi/2 = {pi / 2:.4f}")
    # |c_i| <= (pi^2/4) (2/pi) ratio^i for odd i, so that this many terms hold the rest down to rounding.
    bound = ceil((log(epsilon) + log(1.0 - ratio) + NEGLIGIBLE) / log(ratio))
    terms = np.exp(series("tanh", bound, scale))
    rest = np.append(np.cumsum(terms[:0:-1])[::-1], 0.0)
    return int(np.argmax(rest <= epsilon))


def log_sample_complexity(logs: np.ndarray, epsilon: float, constant: float = CONSTANT) -> float:
    """log C_eps of a series (K + 1,); the term i = 0 is 2 |c_0|. Raises ValueError for epsilon outside (0, 1)."""
    if not 0 < epsilon < 1:
        raise ValueError(f"epsilon {epsilon}; expected between 0 and 1")
    i = np.arange(len(logs), dtype=np.float64)
    first = i * log(constant)
    second = first + 0.5 * i * (log(log(1.0 / epsilon)) - np.log(np.maximum(i, 1.0)))
    return float(np.logaddexp.reduce(np.logaddexp(first, second) + logs))


def log_smooth_complexity(logs: np.ndarray, constant: float = CONSTANT) -> float:
    """log C_s of a series (K + 1,)."""
    i = np.arange(len(logs), dtype=np.float64)
    return log(constant) + float(np.logaddexp.reduce(np.log1p(i) + logs))


def log_complexities(
    function: str, epsilon: float, scale: float = 1.0, constant: float = CONSTANT
) -> tuple[float, float]:
    """(log C_eps, log C_s) of phi(cz), phi one of FUNCTIONS, c = scale; the series is cut at `sufficient_degree`."""
    logs = series(function, sufficient_degree(function, epsilon, scale, constant), scale)
    return log_sample_complexity(logs, epsilon, constant), log_smooth_complexity(logs, constant)
