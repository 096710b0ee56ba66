"""What counting alone says of kernels and of fixed features, on targets that are a function plus a product of signs."""

from math import comb

import numpy as np


def composition_risk_bound(functions, dimension: int, order: int, alpha: float) -> np.ndarray:
    """k alpha^2 max(0, 1 - N / C(d, k)): least risk of N fixed functions per output  (allenzhu2019, Theorems 2 to 4).

    The target is that of the teacher residual_composition, `product`, in its own units, on the hypercube:
    H_j = beta s_{i_j} + alpha s_{i_1} ... s_{i_k}, j = 1 .. k, with k = order >= 2; the risk is summed over outputs and
    averaged over the coordinates, beta is arbitrary. functions: N, the points of a kernel or the dimension D of a
    feature map, any shape -> the same shape, float64. The paper prints alpha^2 / 4 (Theorem 2) for large d.

    Let V be the span of the N functions for one output, L that of the d signs, and W the projection of V onto the
    complement of L, dim W <= N. Then dist(H_j, V) >= alpha dist(s_I, V + L) = alpha dist(s_I, W) as s_I is orthogonal
    to L, and the mean of |P_W s_I|^2 over the C(d, k) orthonormal products s_I is at most dim W / C(d, k).

    Raises ValueError for k < 2 or k > d.
    """
    if not 2 <= order <= dimension:
        raise ValueError(f"order {order}; expected 2 to the dimension {dimension}")
    share = 1.0 - np.asarray(functions, np.float64) / comb(dimension, order)
    return order * alpha**2 * np.maximum(share, 0.0)
