"""The distillation step of Algorithm 1, its regularisers' weights, and the truncated square  (allenzhu2020)."""

from typing import Any

import numpy as np


def distil(left: np.ndarray, right: np.ndarray, smallest: float, most: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Return K_{l<|} (k, a), K_{l,l-1} (k, b), and how many singular values W_{l<|}^T W_{l,l-1} has above `smallest`.

    InitialDistill: K_{l<|}^T = U Sigma^{1/2}, K_{l,l-1} = Sigma^{1/2} V of the k-SVD, k that number, but at least 1 and
    at most `most`. left W_{l<|} (m, a), right W_{l,l-1} (m, b); float64. Where a layer sees nothing but the one before
    it (a = 0), or not even that (b = 0), K is the root of the other part's second moment instead.
    """
    if not left.shape[1] or not right.shape[1]:
        either = left if left.shape[1] else right
        _, values, v = np.linalg.svd(either, full_matrices=False)
        count = int(np.sum(values**2 > smallest))
        rows = values[:, None] * v
        top = rows[: min(max(count, 1), most)]
        return (top, top[:, :0], count) if left.shape[1] else (top[:, :0], top, count)
    u, values, v = np.linalg.svd(left.T @ right, full_matrices=False)
    count = int(np.sum(values > smallest))
    k = min(max(count, 1), most)
    root = np.sqrt(values[:k])[:, None]
    return root * u[:, :k].T, root * v[:k], count


def truncated_square(z: Any, bound: float) -> Any:
    """Return z^2 up to |z| = bound, 13/6 bound^2 from 2 bound on, monotone in |z| and twice differentiable between.

    numpy arrays and torch tensors.
    """
    inside, beyond = _parts(z, bound)
    return inside * inside + bound**2 * beyond * (2 + beyond * (1 + beyond * (1.5 * beyond - 10 / 3)))


def truncated_gradient(z: Any, bound: float) -> Any:
    """Return the derivative of `truncated_square`: 2 z up to |z| = bound, 0 from 2 bound on."""
    inside, beyond = _parts(z, bound)
    return 2 * inside * (1 - beyond) ** 2 * (1 + 3 * beyond)


def _parts(z: Any, bound: float) -> tuple[Any, Any]:
    """z held to [-bound, bound], and how far |z| is on its way from bound to 2 bound, in [0, 1]."""
    return z.clip(-bound, bound), (abs(z) / bound - 1).clip(0, 1)
