"""The polynomial kernel against the monomials that it stands for."""

from itertools import combinations_with_replacement
from math import factorial

import numpy as np
import pytest

from hierlearn.kernels.polynomial import Polynomial
from hierlearn.kernels.polynomial_of_squares import PolynomialOfSquares


@pytest.mark.parametrize(("degree", "scale"), [(1, 1.0), (3, 2.0), (4, 0.5)])
def test_it_is_the_inner_product_of_all_weighed_monomials_up_to_the_degree(degree, scale):
    rng = np.random.default_rng(0)
    x, z = rng.standard_normal((6, 3)), rng.standard_normal((5, 3))
    total = np.zeros((6, 5))
    for order in range(degree + 1):
        for chosen in combinations_with_replacement(range(3), order):
            # The multinomial coefficient of the monomial in (x_1 z_1 + x_2 z_2 + x_3 z_3 + 1)^degree.
            weight = factorial(degree) / factorial(degree - order)
            for i in range(3):
                weight /= factorial(chosen.count(i))
            left, right = (np.prod(points[:, list(chosen)], axis=1) for points in (x, z))
            total += weight * scale**-order * np.outer(left, right)
    np.testing.assert_allclose(Polynomial(degree=degree, scale=scale)(x, z), total, rtol=1e-10, atol=1e-10)


def test_its_profile_is_that_of_unit_vectors():
    x = np.array([[1.0, 0.0], [0.6, 0.8]])
    kernel = Polynomial(degree=5, scale=3.0)
    np.testing.assert_allclose(kernel(x)[0, 1], kernel.profile(0.6))


def test_the_kernel_of_squares_spans_the_monomials_of_a_point_and_its_squares():
    x = np.random.default_rng(5).standard_normal((40, 2))
    h = np.concatenate([x, x**2 - 1], axis=1)
    kernel = PolynomialOfSquares(degree=2, scale=3.0)
    np.testing.assert_allclose(kernel(x), (h @ h.T / 3 + 1) ** 2, rtol=1e-12)
    np.testing.assert_allclose(kernel(x, x[:7]), ((h @ h.T / 3 + 1) ** 2)[:, :7], rtol=1e-12)
    # C(2 d + 2, 2) features, less x_j^2, which is both a square and a product of two coordinates.
    assert np.linalg.matrix_rank(kernel(x), tol=1e-8) == 15 - 2
    with pytest.raises(ValueError, match="no function of the inner product"):
        kernel.profile(np.ones(1))
