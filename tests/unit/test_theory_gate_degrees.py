"""Degrees that gates leave out, against fits of wide models to polynomials of one degree."""

import numpy as np
import pytest

from hierlearn.core.registry import build
from hierlearn.theory.expressivity import taylor_reaches
from hierlearn.theory.gegenbauer import orthonormal, spectrum

CASES = [
    ("relu2", 2, 2, True),
    ("relu2", 2, 3, True),
    ("relu2", 2, 4, False),
    ("relu2", 2, 5, True),
    ("relu3", 2, 2, True),
    ("relu3", 2, 3, True),
    ("relu3", 2, 4, True),
    ("relu3", 2, 5, False),
    ("relu2", 1, 3, True),
    ("relu2", 1, 4, False),
    ("erf", 2, 2, False),
    ("erf", 2, 3, True),
    ("sin", 3, 3, True),
    ("sin", 3, 4, False),
]


@pytest.mark.parametrize(("activation", "order", "degree", "reached"), CASES)
def test_what_a_wide_model_fits_is_what_its_gates_reach(activation, order, degree, reached):
    """Least squares on the span of sigma^(k)(<w, x>) <u, x>^k on the circle, where a degree is a frequency."""
    from hierlearn.theory.activations import derivative

    generator = np.random.default_rng(0)
    angle = np.arange(400) * 2 * np.pi / 400
    x = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    w, u = generator.standard_normal((2, 300, 2))
    span = derivative(activation, order)(x @ w.T) * (x @ u.T) ** order
    target = np.cos(degree * angle)
    fit = span @ np.linalg.lstsq(span, target, rcond=1e-6)[0]
    assert (np.mean((fit - target) ** 2) < 1e-4) == reached
    assert taylor_reaches(activation, order, degree) == reached


@pytest.mark.parametrize(
    ("kernel", "degree", "reached"),
    [
        ({"name": "ntk_raw", "activation": "relu2", "bias": False}, 3, True),
        ({"name": "ntk_raw", "activation": "relu2", "bias": False}, 4, False),
        ({"name": "ntk_raw", "activation": "relu2", "bias": True}, 4, True),
        ({"name": "arcsin"}, 4, False),
        ({"name": "arcsin"}, 3, True),
        ({"name": "rbf"}, 4, True),
    ],
)
def test_a_kernel_without_an_eigenvalue_predicts_zero(kernel, degree, reached):
    generator = np.random.default_rng(1)
    x = generator.standard_normal((400, 3))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    target = orthonormal(degree, 3, x[:, 0])
    built = build("kernels", kernel)
    assert (spectrum(built.profile, 3, [degree]).eigenvalues[0] > 0) == reached
    both = np.concatenate([x, -x])
    gram = built(both)
    dual = np.linalg.solve(gram + 1e-6 * np.eye(len(both)), np.concatenate([target, (-1) ** degree * target]))
    fresh = generator.standard_normal((300, 3))
    fresh /= np.linalg.norm(fresh, axis=1, keepdims=True)
    wanted = orthonormal(degree, 3, fresh[:, 0])
    assert (np.mean((built(fresh, both) @ dual - wanted) ** 2) < 0.1) == reached
