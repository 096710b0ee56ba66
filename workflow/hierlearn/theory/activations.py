"""One table of activations: values, derivatives sigma^(0) .. sigma^(5), Gaussian moments and Hermite coefficients.

A function takes an array of any shape and floating dtype and returns one of the same shape and dtype, elementwise and
safe far from 0. relu^q / q! has q derivatives, the last of them a step that is 1 at 0. Moments and coefficients are
those of standard normal arguments. Whoever offers activations by name takes the names from here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import factorial, pi, prod, sqrt

import numpy as np
from numpy.typing import ArrayLike

Elementwise = Callable[[np.ndarray], np.ndarray]

# As far as the closed forms below are written down.
LARGEST_ORDER = 5
# Entries that relu takes at once.
BLOCK = 1 << 16
# exp(-t^2) is 0 there in double precision; beyond, t^2 may overflow.
FAR = 30.0


@dataclass(frozen=True)
class Activation:
    """A row of the table.

    derivatives: k -> sigma^(k), k = 0 .. largest_order; analytic: whether sigma equals its Taylor series about every
    point (bai2020, Section 6); power: the q of relu^q / q! and of t^q, None for what is no power.
    """

    derivatives: Callable[[int], Elementwise]
    largest_order: int = LARGEST_ORDER
    analytic: bool = True
    power: int | None = None


def relu(t: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Return max(t, 0) of contiguous arrays, NaN where t is; written to out, which may be t itself."""
    t = np.asarray(t, order="C")
    out = np.empty_like(t) if out is None else out
    # Beside a number, numpy takes the maximum entry by entry; beside an array of zeros it is three times as fast.
    given, taken, zeros = t.reshape(-1), out.reshape(-1), _zeros(t.dtype)
    for start in range(0, t.size, BLOCK):
        block = slice(start, min(start + BLOCK, t.size))
        np.maximum(given[block], zeros[: block.stop - start], out=taken[block])
    return out


@cache
def _zeros(dtype: np.dtype) -> np.ndarray:
    return np.zeros(BLOCK, dtype)


def derivative(name: str, order: int) -> Elementwise:
    """Return sigma^(order), sigma itself for 0. Raises ValueError beyond `largest_order`."""
    row = ACTIVATIONS[name]
    if not 0 <= order <= row.largest_order:
        raise ValueError(f"order {order} of {name}; expected 0 to {row.largest_order}")
    return row.derivatives(order)


def monic(name: str) -> Elementwise:
    """Return a power without its factor: relu^q or t^q, the step for q = 0."""
    return _one_sided(POWERS[name], 1) if name in ONE_SIDED else derivative(name, 0)


def one_sided(name: str, order: int = 0) -> tuple[int, float]:
    """Return (a, c) with sigma^(order)(t) = c t_+^a, t_+^0 the step: order and factor of an arc-cosine kernel."""
    power = ONE_SIDED[name] - order
    return power, 1.0 / factorial(power)


def monic_moment(name: str) -> float:
    """Return E phi(g)^2 of a power phi without its factor: (2 q - 1)!!, half of it for one side."""
    return one_sided_moment(2 * POWERS[name]) * (1.0 if name in ONE_SIDED else 2.0)


def one_sided_moment(power: int) -> float:
    """Return E g_+^n: (n - 1)!! over 2 for even n, over sqrt(2 pi) for odd n."""
    return prod(range(power - 1, 0, -2)) / (sqrt(2 * pi) if power % 2 else 2.0)


def hermite_coefficient(name: str, degree: int) -> float:
    """Return E[sigma(g) he_q(g)] of relu^a / a!, q = degree, he_q the orthonormal Hermite polynomial under N(0, 1).

    E[sigma He_q] = E[sigma^(q)] up to q = a; beyond, the a + 1 derivatives that sigma takes leave He_{q-a-1}(0) over
    sqrt(2 pi).
    """
    power = ONE_SIDED[name]
    if degree <= power:
        return one_sided_moment(power - degree) / factorial(power - degree) / sqrt(factorial(degree))
    left = degree - power - 1
    if left % 2:
        return 0.0
    sign = -1.0 if left % 4 else 1.0
    return sign * prod(range(left - 1, 0, -2)) / sqrt(2 * pi * factorial(degree))


def _relu_power(power: int) -> Callable[[int], Elementwise]:
    """Return the derivatives of relu^q / q!."""
    return lambda order: _one_sided(power - order, factorial(power - order))


def _one_sided(power: int, divisor: int) -> Elementwise:
    """relu^q / divisor, and the step 1{t >= 0} for q = 0."""
    if power == 0:
        return lambda t: (t >= 0).astype(t.dtype)

    def of(t: np.ndarray) -> np.ndarray:
        base = relu(t)
        value = base / divisor
        # Not base**power: numpy takes far longer for powers above 2.
        for _ in range(power - 1):
            value *= base
        return value

    return of


def _square(order: int) -> Elementwise:
    """t^2, which is no factor times a power of relu and has all derivatives."""
    derivatives: tuple[Elementwise, ...] = (np.square, lambda t: 2 * t, lambda t: np.full_like(t, 2))
    return derivatives[order] if order < len(derivatives) else np.zeros_like


def _erf(order: int) -> Elementwise:
    """(-1)^(k-1) H_(k-1)(t) erf'(t), H the physicists' Hermite polynomial, erf'(t) = 2 exp(-t^2) / sqrt(pi)."""
    if order == 0:
        # Imported here: whoever uses another activation does not wait for scipy.
        from scipy.special import erf

        return erf
    coefficients = (-1) ** (order - 1) * np.polynomial.hermite.herm2poly([0.0] * (order - 1) + [1.0]) * 2 / sqrt(pi)

    def of(t: np.ndarray) -> np.ndarray:
        near = np.clip(t, -FAR, FAR)
        return _polynomial(coefficients, near) * np.exp(-near * near)

    return of


def _softplus(order: int) -> Elementwise:
    """log(1 + exp(t)); its derivative is the logistic function."""
    if order == 0:
        return lambda t: np.logaddexp(t.dtype.type(0), t)
    return lambda t: _logistic(order - 1, t)


def _tanh(order: int) -> Elementwise:
    """tanh(t) = 2 s(2t) - 1 with the logistic function s, so tanh^(k)(t) = 2^(k+1) s^(k)(2t)."""
    if order == 0:
        return np.tanh
    return lambda t: 2 ** (order + 1) * _logistic(order, 2 * t)


def _logistic(order: int, t: np.ndarray) -> np.ndarray:
    """s^(k) of s(t) = 1/(1 + exp(-t)): polynomials in p = s(1 - s), times c = 1 - 2s where k is even, k >= 1.

    From s' = p, p' = p c, c' = -2p and c^2 = 1 - 4p. Written in exp(-|t|), which loses no digits at either end.
    """
    small = np.exp(-np.abs(t))
    if order == 0:
        return np.where(t >= 0, 1, small) / (1 + small)
    p = small / np.square(1 + small)
    inner = {1: (1.0,), 2: (1.0,), 3: (1.0, -6.0), 4: (1.0, -12.0), 5: (1.0, -30.0, 120.0)}[order]
    values = p * _polynomial(inner, p)
    return values if order % 2 else -np.tanh(t / 2) * values


def _polynomial(coefficients: ArrayLike, t: np.ndarray) -> np.ndarray:
    """sum_j c_j t^j, in the dtype of t."""
    return np.polynomial.polynomial.polyval(t, np.asarray(coefficients, t.dtype))


ACTIVATIONS = {
    # relu^q / q!: chen2020 takes q = 2, bai2020 q = 3.
    **{name: Activation(_relu_power(q), q, False, q) for q, name in enumerate(("step", "relu", "relu2", "relu3"))},
    "quadratic": Activation(_square, power=2),
    "erf": Activation(_erf),
    "sin": Activation(lambda order: (np.sin, np.cos, lambda t: -np.sin(t), lambda t: -np.cos(t))[order % 4]),
    "softplus": Activation(_softplus),
    "tanh": Activation(_tanh),
    # exp(t) - 1.
    "exponential": Activation(lambda order: np.exp if order else np.expm1),
}
# q of relu^q / q! and of t^q, and of the former alone.
POWERS = {name: row.power for name, row in ACTIVATIONS.items() if row.power is not None}
ONE_SIDED = {name: power for name, power in POWERS.items() if not ACTIVATIONS[name].analytic}
# Analytic ones that learners take as gates: their series have terms beyond every order (bai2020, Section 6).
ANALYTIC_GATES = ("erf", "sin", "softplus")
