"""Random directions."""

import numpy as np


def orthonormal_columns(generator: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """(rows, columns) with orthonormal columns of uniform law."""
    q, r = np.linalg.qr(generator.standard_normal((rows, columns)))
    return q * np.sign(np.diag(r))
