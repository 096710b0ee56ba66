"""The width and the decision that a design promises are what simulated studies show."""

from pathlib import Path

import numpy as np
import pytest

from hierlearn.statistics.complexity import Complexities
from hierlearn.statistics.decisions import Scatter, decision_probability, expected_width, scatter, simulate
from hierlearn.statistics.exponents import slope

ROOT = Path(__file__).parents[2]
SIZES = {3: (10, 14, 20), 6: (8, 10, 12, 14, 17, 20), 12: (6, 7, 8, 9, 10, 12, 14, 17, 20, 24, 28, 34)}


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("seeds", [5, 20])
def test_the_expected_width_is_the_mean_width_of_simulated_studies(count, seeds):
    noise = Scatter(seed=0.2, size=0.05)
    found = simulate(SIZES[count], 1.0, noise, seeds, 2000, np.random.default_rng(count))
    widths = np.array([one.high - one.low for one in found])
    # The variance of a median is pi / 2 times that of a mean for many seeds only, a tenth less for five.
    assert expected_width(SIZES[count], seeds, noise) == pytest.approx(widths.mean(), rel=0.08)


def test_two_sizes_have_no_width():
    assert expected_width((10, 20), 5, Scatter(0.2, 0.05)) == float("inf")


def test_the_scatter_of_a_pilot_is_found_again():
    generator = np.random.default_rng(0)
    sizes = np.arange(10, 70)
    logs = np.log(sizes)[:, None] + 0.1 * generator.normal(size=(60, 1)) + 0.3 * generator.normal(size=(60, 9))
    table = Complexities(sizes, np.exp(logs), np.full(logs.shape, "observed"))
    found = scatter(table, slope(table))
    assert found.seed == pytest.approx(0.3, rel=0.1)
    assert found.size == pytest.approx(0.1, rel=0.4)


def test_of_two_seeds_the_median_scatters_as_their_mean_does():
    generator, sizes, found = np.random.default_rng(1), np.arange(10, 70), []
    for _ in range(100):
        logs = np.log(sizes)[:, None] + 0.1 * generator.normal(size=(60, 1)) + 0.1 * generator.normal(size=(60, 2))
        table = Complexities(sizes, np.exp(logs), np.full(logs.shape, "observed"))
        found.append(scatter(table, slope(table)).size ** 2)
    assert np.sqrt(np.mean(found)) == pytest.approx(0.1, rel=0.05)


def test_censored_seeds_are_no_part_of_the_scatter():
    logs = np.log([[100.0, 110.0, 90.0, 400.0]] * 3) + np.arange(3)[:, None]
    status = np.array([["observed"] * 3 + ["right_censored"]] * 3)
    table = Complexities([10, 20, 40], np.exp(logs), status)
    assert scatter(table, slope(table)).seed == pytest.approx(np.std(np.log([100, 110, 90]), ddof=1))


def test_one_seed_a_size_says_nothing_of_scatter():
    table = Complexities([10, 20, 40], [[100.0], [200.0], [400.0]], [["observed"]] * 3)
    with pytest.raises(ValueError, match="two observed seeds"):
        scatter(table, slope(table))


def at_most(limit):
    return lambda value, low, high: high <= limit or low > limit


def test_a_design_decides_more_often_the_further_the_truth_lies_from_the_limit():
    noise = Scatter(seed=0.2, size=0.05)
    shares = [decision_probability(SIZES[6], 1.0, noise, 5, at_most(limit)) for limit in (1.0, 1.3, 2.2)]
    assert shares == sorted(shares)
    # On the limit itself an interval leaves it aside one time in twenty.
    assert shares[0] == pytest.approx(0.05, abs=0.025)
    assert shares[2] > 0.95


def test_equal_seeds_give_equal_probabilities():
    arguments = SIZES[6], 1.0, Scatter(0.2, 0.05), 5, at_most(1.2)
    assert decision_probability(*arguments) == decision_probability(*arguments)


def test_the_table_of_widths_in_the_manual_has_the_widths_of_simulated_studies(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    from generated import widths

    header, _, *lines = [line.strip("| ").split(" | ") for line in widths().splitlines()]
    numbers_of_seeds = [int(title.removesuffix(" seeds")) for title in header[1:]]
    for count, *row in lines[1::2]:
        sizes, noise = np.geomspace(1, 4, int(count)), Scatter(seed=0.2, size=0.03)
        for seeds, told in zip(numbers_of_seeds, row, strict=True):
            found = simulate(sizes, 1.0, noise, seeds, 2000, np.random.default_rng(seeds))
            # Few sizes or seeds scatter more than the formula's normal medians; a wrong column is off by a quarter.
            assert float(told) == pytest.approx(np.mean([one.high - one.low for one in found]), rel=0.15)
