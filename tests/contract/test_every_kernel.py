"""What every kernel must do with its default parameters; tests/unit has the formulas and the parameters."""

import numpy as np
import pytest

from hierlearn.core.registry import available, build


@pytest.fixture(params=available("kernels"))
def kernel(request):
    return build("kernels", {"name": request.param})


@pytest.fixture
def x():
    points = np.random.default_rng(3).standard_normal((60, 5))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def test_it_is_symmetric_and_positive_semi_definite(kernel, x):
    gram = kernel(x)
    assert np.array_equal(gram, gram.T)
    values = np.linalg.eigvalsh(gram)
    assert values[0] > -1e-12 * values[-1]


def test_points_with_themselves_and_with_their_copies_agree(kernel, x):
    np.testing.assert_allclose(kernel(x), kernel(x, x.copy()), rtol=1e-9, atol=1e-12)


def test_arguments_can_be_exchanged(kernel, x):
    np.testing.assert_allclose(kernel(x[:20], x[20:]), kernel(x[20:], x[:20]).T, rtol=1e-9, atol=1e-12)


def test_single_precision_is_double_precision_rounded(kernel, x):
    double, single = kernel(x), kernel(x, dtype=np.float32)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, double, rtol=0, atol=3e-6 * np.max(np.diag(double)))
