"""Moments of the random multipliers, in exact arithmetic and by sampling."""

from fractions import Fraction
from math import factorial

import numpy as np
import pytest

from hierlearn.theory.randomisation import laws

ORDERS = [2, 3, 4, 5, 6]


def difference(pair, power, unit=1.0):
    """E z+^power - E z-^power for values in units of `unit`, exact: both values and masses are multiples of 2^-q."""

    def moment(law):
        values = [Fraction(round(2 * value / unit), 2) for value in law.values]
        return sum(Fraction(float(p)) * v**power for v, p in zip(values, law.probabilities, strict=True))

    return moment(pair[0]) - moment(pair[1])


def step(order):
    """The distance of neighbouring nodes."""
    nodes = np.sort(np.concatenate([law.values for law in laws("matched", order)]))
    return float(nodes[1] - nodes[0])


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", ["tight", "matched"])
def test_moments_agree_below_the_order_and_differ_by_one_at_it(name, order):
    pair = laws(name, order)
    for law in pair:
        assert np.all(law.probabilities > 0)
        assert np.sum(law.probabilities) == 1.0
    for power in range(order):
        assert difference(pair, power, step(order)) == 0
    assert float(difference(pair, order, step(order))) * step(order) ** order == pytest.approx(1.0, rel=1e-12)
    for power in range(order + 1):
        gap = pair[0].moment(power) - pair[1].moment(power)
        assert gap == pytest.approx(float(power == order), abs=1e-10)


@pytest.mark.parametrize("order", ORDERS)
def test_the_next_moment_agrees_only_where_it_is_said_to(order):
    assert difference(laws("matched", order), order + 1, step(order)) == 0
    tight = laws("tight", order)
    gap = tight[0].moment(order + 1) - tight[1].moment(order + 1)
    assert gap == pytest.approx((order + 1) / 2 * step(order))


def test_matched_at_order_two_is_the_sign_against_nothing():
    plus, minus = laws("matched", 2)
    np.testing.assert_allclose(plus.values, [-1.0, 1.0])
    np.testing.assert_allclose(plus.probabilities, [0.5, 0.5])
    np.testing.assert_allclose(minus.values, [0.0])
    assert factorial(2) * step(2) ** 2 == pytest.approx(2.0)


@pytest.mark.parametrize("order", ORDERS)
def test_signs_and_equal_multipliers_are_the_same_for_both_halves(order):
    for law in laws("signs", order):
        assert [law.moment(power) for power in range(5)] == [1.0, 0.0, 1.0, 0.0, 1.0]
    for law in laws("equal", order):
        assert [(law.moment(power), law.variance(power)) for power in range(5)] == [(1.0, 0.0)] * 5


@pytest.mark.parametrize("name", ["tight", "matched"])
def test_draws_follow_the_law(name):
    count = 200_000
    for law in laws(name, 3):
        drawn = law.values[law.positions(np.random.default_rng(3).random(count))]
        for power in (1, 2, 3, 4):
            spread = np.sqrt(law.variance(power) / count)
            assert abs(np.mean(drawn**power) - law.moment(power)) < 5 * spread + 1e-12
            # The variance of a squared deviation is below the fourth power of the largest value.
            room = 5 * np.max(np.abs(law.values)) ** (2 * power) / np.sqrt(count)
            assert np.var(drawn**power) == pytest.approx(law.variance(power), abs=room)
