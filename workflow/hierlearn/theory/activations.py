"""Activations and their derivatives sigma^(0) .. sigma^(5), elementwise and safe far from 0.

A function takes an array of any shape and floating dtype and returns one of the same shape and dtype. The powers of
relu are not analytic: relu^q / q! has q derivatives, the last of them a step that is 1 at 0. The others equal their
Taylor series on some interval about every point.
"""

from collections.abc import Callable
from math import factorial, pi, sqrt

import numpy as np

Activation = Callable[[np.ndarray], np.ndarray]

# As far as the closed forms below are written down.
LARGEST_ORDER = 5
# q of relu^q / q!: chen2020 takes q = 2, bai2020 q = 3.
RELU_POWERS = {"relu2": 2, "relu3": 3}
ANALYTIC = ("erf", "sin", "softplus", "tanh")
NAMES = (*RELU_POWERS, *ANALYTIC)
# exp(-t^2) is 0 there in double precision; beyond, t^2 may overflow.
FAR = 30.0


def largest_order(name: str) -> int:
    """The largest k for which `derivative(name, k)` exists: q for relu^q / q!, the length of the table for the others.

    Raises ValueError for an unknown name.
    """
    if name not in NAMES:
        raise ValueError(f"activation {name!r}; expected one of {', '.join(NAMES)}")
    return RELU_POWERS.get(name, LARGEST_ORDER)


def analytic(name: str) -> bool:
    """Whether sigma equals its Taylor series about every point (bai2020, Section 6). ValueError for an unknown name."""
    largest_order(name)
    return name in ANALYTIC


def derivative(name: str, order: int) -> Activation:
    """sigma^(order); order 0 is sigma itself. Raises ValueError beyond `largest_order` and for an unknown name."""
    if not 0 <= order <= largest_order(name):
        raise ValueError(f"order {order} of {name}; expected 0 to {largest_order(name)}")
    if name in RELU_POWERS:
        return _relu_power(RELU_POWERS[name] - order)
    return {"erf": _erf, "sin": _sin, "softplus": _softplus, "tanh": _tanh}[name](order)


def _relu_power(power: int) -> Activation:
    """relu^q / q!, and the step 1{t >= 0} for q = 0."""
    if power == 0:
        return lambda t: (t >= 0).astype(t.dtype)

    def of(t: np.ndarray) -> np.ndarray:
        base = np.maximum(t, 0)
        value = base / factorial(power)
        # Not base**power: numpy takes far longer for powers above 2.
        for _ in range(power - 1):
            value *= base
        return value

    return of


def _sin(order: int) -> Activation:
    cycle = (np.sin, np.cos, lambda t: -np.sin(t), lambda t: -np.cos(t))
    return cycle[order % 4]


def _erf(order: int) -> Activation:
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


def _softplus(order: int) -> Activation:
    """log(1 + exp(t)); its derivative is the logistic function."""
    if order == 0:
        return lambda t: np.logaddexp(t.dtype.type(0), t)
    return lambda t: _logistic(order - 1, t)


def _tanh(order: int) -> Activation:
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


def _polynomial(coefficients, t: np.ndarray) -> np.ndarray:
    """sum_j c_j t^j by Horner's rule, in the dtype of t."""
    total = np.full_like(t, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        total *= t
        total += t.dtype.type(coefficient)
    return total
