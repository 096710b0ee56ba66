"""Sums into matrices that are there already, by BLAS: one pass over them where numpy makes two or three.

`out` has to be contiguous and of the other arrays' dtype, float32 or float64: BLAS would else write to a copy of it.
"""

import numpy as np
from scipy.linalg.blas import get_blas_funcs


def add_product(left: np.ndarray, right: np.ndarray, out: np.ndarray, keep: float = 1.0) -> None:
    """out <- keep * out + left^T right: (n, m), (n, D) -> (m, D)."""
    gemm = get_blas_funcs("gemm", dtype=out.dtype)
    gemm(1.0, right.T, left.T, beta=keep, c=out.T, trans_b=True, overwrite_c=True)


def add_multiple(factor: float, change: np.ndarray, out: np.ndarray) -> None:
    """out <- out + factor * change, contiguous arrays of one shape."""
    get_blas_funcs("axpy", dtype=out.dtype)(change.reshape(-1), out.reshape(-1), a=factor)
