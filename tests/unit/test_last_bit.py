"""The stand-in for another processor moves what it should, by no more than a last bit."""

import numpy as np
import pytest
from last_bit import moved


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_half_of_the_numbers_are_at_their_neighbours_and_the_others_stay(kind):
    values = np.random.default_rng(0).standard_normal((100, 100)).astype(kind)
    off = moved(values, seed=1)
    assert off.dtype == kind and off.shape == values.shape
    up, down = np.nextafter(values, kind(np.inf)), np.nextafter(values, kind(-np.inf))
    assert np.all((off == values) | (off == up) | (off == down))
    for neighbour in (up, down):
        assert 0.2 < np.mean(off == neighbour) < 0.3
    assert np.any(off != moved(values, seed=2))


def test_a_number_moves_alike_wherever_it_stands():
    values = np.random.default_rng(0).standard_normal((30, 20))
    np.testing.assert_array_equal(moved(values, 1)[3:5, ::2], moved(values[3:5, ::2], 1))
    np.testing.assert_array_equal(moved(values.T, 1), moved(values, 1).T)
    assert moved(float(values[0, 0]), 1) == moved(values, 1)[0, 0]


def test_zeros_numbers_that_are_not_finite_and_integers_stay():
    for values in (np.array([0.0, -0.0, np.inf, -np.inf, np.nan]), np.arange(9), np.array(True), 3, None, "x"):
        np.testing.assert_array_equal(moved(values, 1), values)
