"""What BLAS does in one pass where numpy makes two or three: sums into matrices that are there, and triangles.

`out` has to be contiguous and of the other arrays' dtype, float32 or float64: BLAS would else write to a copy of it.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np


def add_product(left: np.ndarray, right: np.ndarray, out: np.ndarray) -> None:
    """Add in place, out <- out + left^T right: (n, m), (n, D) -> (m, D)."""
    _routine("gemm", out.dtype)(1.0, right.T, left.T, beta=1.0, c=out.T, trans_b=True, overwrite_c=True)


def add_multiple(factor: float, change: np.ndarray, out: np.ndarray) -> None:
    """Add in place, out <- out + factor * change, contiguous arrays of one shape."""
    _routine("axpy", out.dtype)(change.reshape(-1), out.reshape(-1), a=factor)


def add_combination(factors: np.ndarray, rows: np.ndarray, out: np.ndarray) -> None:
    """Add in place, out <- out + factors rows: (k,), contiguous (k, size) -> (size,)."""
    _routine("gemv", out.dtype)(1.0, rows.T, factors, beta=1.0, y=out, overwrite_y=True)


def outer_products(matrix: np.ndarray) -> np.ndarray:
    """Return the lower triangle of matrix matrix^T in Fortran's order, zeros above: (n, k) -> (n, n).

    Numpy's product makes it too and then copies it into the upper one, which takes longer at small k.
    """
    return _routine("syrk", matrix.dtype)(1.0, matrix.T, trans=True, lower=True)


@cache
def _routine(name: str, dtype: np.dtype) -> Callable[..., Any]:
    # Imported here: whoever makes no such sum does not wait for scipy.
    from scipy.linalg.blas import get_blas_funcs

    return get_blas_funcs(name, dtype=dtype)
