"""Kernels of wide networks from their definitions, by quadrature in the plane of two points.

No closed form of a moment: E over a Gaussian pair is an integral over radius and direction. The radius gives a factor,
the direction is integrated by Gauss's rule over the arc on which both are positive, where the integrand is smooth.

`KERNELS[name](x, **parameters)` is the Gram matrix of x (n, d), (n, n) float64, of the kernel component of that name
(recursive: not the base exponential), to 1e-13 for points that coincide or lie at angles above 1e-2.
"""

from math import factorial, sqrt

import numpy as np

NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)
FEATURES = {"step": (0, True), "relu": (1, True), "relu2": (2, True), "quadratic": (2, False)}
# Of (x, 1) where a bias keeps the norm of points on the sphere.
SCALE = sqrt(0.5)
ACTIVATIONS = {"relu": (0, 1.0), "relu2": (1, 1.0), "relu3": (2, 0.5)}


def moment(covariance, order, one_sided=True):
    """E[u_+^a v_+^a] (E[u^a v^a] if not one_sided) for every pair of a Gaussian vector; covariance (n, n) -> (n, n)."""
    products = np.multiply.outer(np.diag(covariance), np.diag(covariance))
    angle = np.arctan2(np.sqrt(np.maximum(products - covariance**2, 0.0)), covariance)
    low, high = (angle - np.pi / 2, np.pi / 2) if one_sided else (0.0, 2 * np.pi)
    total = np.zeros_like(angle)
    for node, weight in zip(NODES, WEIGHTS, strict=True):
        direction = (high + low) / 2 + (high - low) / 2 * node
        total += weight * (np.cos(direction) * np.cos(direction - angle)) ** order
    # E r^{2a} of the radius is 2^a a!.
    return total * (high - low) / 2 * products ** (order / 2) * 2.0**order * factorial(order) / (2 * np.pi)


def products(x, bias, scale=SCALE):
    x = np.concatenate([x, np.ones((len(x), 1))], axis=1) * scale if bias else x
    return np.array([[a @ b for b in x] for a in x])


def ntk_raw(x, activation="relu2", bias=True):
    order, factor = ACTIVATIONS[activation]
    seen = products(x, bias)
    return moment(seen, order) * factor**2 * seen


def ntk_neural(x, features="step", activation="relu2", bias=True):
    order, factor = ACTIVATIONS[activation]
    seen = moment(products(x, bias, 1.0), *FEATURES[features])
    return moment(seen, order) * factor**2 * seen


def ntk(x, depth=3, trained="all", bias=True):
    seen = tangent = products(x, bias)
    for _ in range(depth - 1):
        slope, seen = 2 * moment(seen, 0), 2 * moment(seen, 1)
        tangent = seen + tangent * slope
    return {"all": tangent, "hidden": tangent - seen, "last": seen}[trained]


def arccos(x, order=1, bias=False):
    return 2 * moment(products(x, bias), order)


def arcsin(x, bias=False):
    return 4 * moment(products(x, bias), 0) - 1


def recursive(x, base="arccos1", depth=2, bias=False):
    seen = products(x, bias, 1.0)
    for _ in range(depth):
        seen = 4 * moment(seen, 0) - 1 if base == "arcsin" else moment(seen, int(base[-1]))
        norms = np.sqrt(np.diag(seen))
        seen = seen / np.multiply.outer(norms, norms)
        # A diagonal of 1 - 1e-16 would be an angle of 1e-8.
        np.fill_diagonal(seen, 1.0)
    return seen


KERNELS = {kernel.__name__: kernel for kernel in (ntk_raw, ntk_neural, ntk, arccos, arcsin, recursive)}
