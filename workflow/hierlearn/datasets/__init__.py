"""Data of the papers' targets and laws as arrays, `(X, y)`, the same numbers as the workflow's draw of that seed."""

from typing import Any

import numpy as np

from hierlearn.datasets import _drawing
from hierlearn.datasets._drawing import Defaults, Description, Truth, maker
from hierlearn.inputs._tables import Table, read_table

__all__ = [
    "Table",
    "Truth",
    "make_bit_interaction",
    "make_composed_sines",
    "make_hierarchy",
    "make_parity",
    "make_pictures",
    "make_points",
    "make_problem",
    "make_quadratic_densenet",
    "make_quadratic_toy",
    "make_residual_composition",
    "make_ridge_polynomial",
    "make_shift_products",
    "read_table",
]

make_ridge_polynomial = maker(
    "make_ridge_polynomial",
    "ridge_polynomial",
    Defaults(),
    """
    >>> from hierlearn.datasets import make_ridge_polynomial
    >>> X, y, truth = make_ridge_polynomial(512, n_features=10, degree=4, random_state=0, return_truth=True)
    >>> X.shape, y.shape, truth.parameters["directions"].shape
    ((512, 10), (512,), (1, 10))
    """,
)
make_parity = maker(
    "make_parity",
    "parity",
    Defaults(law="hypercube"),
    """
    >>> from hierlearn.datasets import make_parity
    >>> X, y = make_parity(200, n_features=8, order=2, kind="classes", random_state=0)
    >>> sorted(set(y.tolist()))
    [0, 1]
    """,
)
make_composed_sines = maker(
    "make_composed_sines",
    "composed_sines",
    Defaults(n_features=4),
    """
    >>> from hierlearn.datasets import make_composed_sines
    >>> X, y = make_composed_sines(200, random_state=0)
    >>> X.shape, y.shape
    ((200, 4), (200,))
    """,
)
make_residual_composition = maker(
    "make_residual_composition",
    "residual_composition",
    Defaults(law="hypercube", scale="paper"),
    """
    >>> from hierlearn.datasets import make_residual_composition
    >>> X, y, truth = make_residual_composition(200, n_features=15, alpha=0.3, random_state=0, return_truth=True)
    >>> y.shape, sorted(truth.parts)
    ((200, 4), ['base', 'composite'])
    """,
)
make_quadratic_densenet = maker(
    "make_quadratic_densenet",
    "quadratic_densenet",
    Defaults(law="gaussian"),
    """
    >>> from hierlearn.datasets import make_quadratic_densenet
    >>> X, y, truth = make_quadratic_densenet(300, n_features=12, depth=3, random_state=0, return_truth=True)
    >>> X.shape, len(truth.features)
    ((300, 12), 2)
    """,
)
make_quadratic_toy = maker(
    "make_quadratic_toy",
    "quadratic_toy",
    Defaults(n_features=4, law="gaussian", scale="paper"),
    """
    >>> from hierlearn.datasets import make_quadratic_toy
    >>> X, y = make_quadratic_toy(100, random_state=0)
    >>> X.shape, y.shape
    ((100, 4), (100,))
    """,
)
make_shift_products = maker(
    "make_shift_products",
    "shift_products",
    Defaults(law="hypercube", scale="paper"),
    """
    >>> from hierlearn.datasets import make_shift_products
    >>> X, y = make_shift_products(100, n_features=9, random_state=0)
    >>> y.shape
    (100, 2)
    """,
)
make_hierarchy = maker(
    "make_hierarchy",
    "hierarchy_class",
    Defaults(n_features=16, law="random_hierarchy", scale="paper"),
    """
    >>> from hierlearn.datasets import make_hierarchy
    >>> X, y = make_hierarchy(100, n_features=32, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((100, 32), [0, 1, 2, 3])
    """,
)
make_bit_interaction = maker(
    "make_bit_interaction",
    "bit_interaction",
    Defaults(n_features=32, law="hidden_bits", scale="paper"),
    """
    >>> from hierlearn.datasets import make_bit_interaction
    >>> X, y = make_bit_interaction(100, random_state=0)
    >>> X.shape
    (100, 32)
    """,
)
make_pictures = maker(
    "make_pictures",
    "picture_class",
    Defaults(n_features=64, law="digits", scale="paper"),
    """
    >>> from hierlearn.datasets import make_pictures
    >>> X, y = make_pictures(50, n_features=196, law="shifted_digits", random_state=0)
    >>> X.shape, int(y.min()), int(y.max())
    ((50, 196), 0, 9)
    """,
)


def make_points(
    n_samples: int = 100,
    n_features: int = 10,
    *,
    law: Description = "sphere",
    random_state: Any = None,
) -> np.ndarray:
    """Draw points of a law.

    Parameters
    ----------
    n_samples : int
        Number of points.
    n_features : int
        Number of coordinates of a point.
    law : str or mapping, default="sphere"
        One of `hierlearn.available("inputs")`, or a mapping with its `name` and parameters.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Points, float32. Raises ValueError, one line, for values outside their limits.

    Examples
    --------
    >>> from hierlearn.datasets import make_points
    >>> make_points(5, 3, law={"name": "gaussian_scales", "ratio": 10.0}, random_state=0).shape
    (5, 3)
    """
    return _drawing.points(law, n_samples, n_features, random_state)


def make_problem(
    teacher: Description,
    law: Description,
    n_samples: int = 100,
    n_features: int = 10,
    *,
    noise: float = 0.0,
    scale: str = "unit",
    random_state: Any = None,
    role: str = "training",
    draw: str = "",
    return_truth: bool = False,
) -> tuple[np.ndarray, np.ndarray] | tuple[np.ndarray, np.ndarray, Truth]:
    """Draw points and labels of any target and law, those of a folder of your own among them.

    Parameters
    ----------
    teacher : str or mapping
        One of `hierlearn.available("teachers")`, or a mapping with its `name` and parameters.
    law : str or mapping
        One of `hierlearn.available("inputs")`, or a mapping with its `name` and parameters.
    n_samples, n_features, noise, scale, random_state, role, draw, return_truth
        As in `make_ridge_polynomial`.

    Returns
    -------
    X, y or X, y, truth
        As in `make_ridge_polynomial`. Raises ValueError, one line, for values outside their limits.

    Examples
    --------
    >>> from hierlearn.datasets import make_problem
    >>> X, y = make_problem({"name": "ridge_polynomial", "degree": 3}, "gaussian", 50, 6, random_state=0)
    >>> X.shape, y.shape
    ((50, 6), (50,))
    """
    return _drawing.draw(teacher, law, n_samples, n_features, noise, scale, random_state, role, draw, return_truth)
