"""Counted dimensions against enumeration and against the published slopes."""

from itertools import combinations_with_replacement, product
from math import log

import numpy as np
import pytest

from hierlearn.theory.dimensions import harmonics, neurons_of_harmonics, polynomials
from hierlearn.theory.hypercube import products


def _rank_on_sphere(dimension, degree):
    """Rank of all monomials of degree <= k at many random points of the sphere."""
    x = np.random.default_rng(0).standard_normal((400, dimension))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    lifted = np.concatenate([x, np.ones((len(x), 1))], axis=1)
    chosen = combinations_with_replacement(range(dimension + 1), degree)
    return np.linalg.matrix_rank(np.stack([np.prod(lifted[:, list(c)], axis=1) for c in chosen], axis=1))


@pytest.mark.parametrize("dimension", [2, 3, 5])
@pytest.mark.parametrize("degree", [0, 1, 2, 4])
def test_polynomials_count_the_rank_of_monomials_on_the_sphere(dimension, degree):
    assert polynomials(dimension, degree) == _rank_on_sphere(dimension, degree)


def test_products_of_signs_count_the_rank_of_monomials_on_the_hypercube():
    corners = np.array(list(product((-1.0, 1.0), repeat=6)))
    for order in range(7):
        powers = [p for p in product(range(order + 1), repeat=6) if sum(p) <= order]
        monomials = np.stack([np.prod(corners ** np.array(p), axis=1) for p in powers], axis=1)
        assert products(6, order) == np.linalg.matrix_rank(monomials)


def test_harmonics_are_the_increments_of_the_polynomials():
    for dimension in (2, 3, 7, 20):
        for degree in (1, 2, 3, 6):
            expected = polynomials(dimension, degree) - polynomials(dimension, degree - 1)
            assert harmonics(dimension, degree) == expected
    assert [harmonics(3, k) for k in range(4)] == [1, 3, 5, 7]


def test_the_square_of_the_norm_is_a_new_polynomial_only_off_the_sphere():
    assert polynomials(20, 2) == 230
    assert polynomials(20, 2, sphere=False) == 231


@pytest.mark.parametrize(
    "count, slope",
    [
        (lambda d: harmonics(d, 4), 3.66),
        (lambda d: neurons_of_harmonics(d, 4), 2.95),
        (lambda d: polynomials(d, 2), 1.78),
    ],
)
def test_slopes_between_dimension_6_and_20_are_the_published_ones(count, slope):
    assert round(log(count(20) / count(6)) / log(20 / 6), 2) == slope


@pytest.mark.parametrize("arguments", [(1, 2), (3, -1)])
def test_sizes_without_meaning_are_refused(arguments):
    with pytest.raises(ValueError, match="expected dimension >= 2 and degree >= 0"):
        harmonics(*arguments)
