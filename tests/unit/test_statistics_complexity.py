"""Tables of sample complexities with censored entries."""

import numpy as np
import pytest

from hierlearn.statistics.complexity import (
    Complexities,
    bounds,
    medians,
    observes_every_seed,
    ratio_bounds,
    ratio_medians,
)

NAMES = {"o": "observed", "r": "right_censored", "l": "left_censored", "m": "missing"}


def table(samples, letters, sizes=None):
    """A table from rows of n* and words like "oor", one letter per seed."""
    status = [[NAMES[letter] for letter in word] for word in letters]
    return Complexities(sizes or 10 * np.arange(1, len(letters) + 1), samples, status)


def test_the_median_counts_a_right_censored_seed_as_above_everything():
    values, reasons = medians(table([[100, 10, 20, 100, 30]], ["rooro"]))
    assert values[0] == pytest.approx(np.log(30))
    assert reasons == [""]


def test_the_median_counts_a_left_censored_seed_as_below_everything():
    values, _ = medians(table([[50, 20, 30]], ["loo"]))
    assert values[0] == pytest.approx(np.log(20))


def test_ten_seeds_allow_four_censored_ones_but_not_five():
    samples = [[1, 2, 3, 4, 5, 6, 9, 9, 9, 9]]
    values, _ = medians(table(samples, ["oooooorrrr"]))
    assert values[0] == pytest.approx((np.log(5) + np.log(6)) / 2)
    values, reasons = medians(table(samples, ["ooooorrrrr"]))
    assert np.isnan(values[0])
    assert reasons == ["5 right-censored of 10 seeds"]


def test_seeds_censored_on_both_sides_count_together():
    _, reasons = medians(table([[1, 2, 3, 4]], ["loor"]))
    assert reasons == ["1 right-censored and 1 left-censored of 4 seeds"]


def test_a_size_with_a_missing_seed_has_no_median():
    values, reasons = medians(table([[1, 2, np.nan, 4, 5]], ["oomoo"]))
    assert np.isnan(values[0])
    assert reasons == ["1 of 5 seeds not measured"]


def test_bounds_are_open_on_the_side_that_is_not_known():
    low, high = bounds(table([[2, 4, 8, np.nan]], ["orlm"]))
    np.testing.assert_allclose(low, [[np.log(2), np.log(4), -np.inf, -np.inf]])
    np.testing.assert_allclose(high, [[np.log(2), np.inf, np.log(8), np.inf]])


def test_a_pair_with_one_censored_side_has_a_one_sided_bound():
    above, below = table([[8, 8, 8, 8]], ["orol"]), table([[2, 2, 2, 2]], ["oorr"])
    low, high = ratio_bounds(above, below)
    np.testing.assert_allclose(low, [[np.log(4), np.log(4), -np.inf, -np.inf]])
    np.testing.assert_allclose(high, [[np.log(4), np.inf, np.log(4), np.log(4)]])


def test_a_pair_censored_on_both_sides_is_unknown():
    low, high = ratio_bounds(table([[8]], ["r"]), table([[2]], ["r"]))
    assert (low[0, 0], high[0, 0]) == (-np.inf, np.inf)


def test_the_median_ratio_is_given_while_no_value_of_a_censored_pair_could_move_it():
    below = table([[1, 1, 1, 1, 1]], ["ooooo"])
    values, reasons = ratio_medians(table([[2, 3, 4, 5, 9]], ["oooor"]), below)
    assert values[0] == pytest.approx(np.log(4))
    assert reasons == [""]
    values, reasons = ratio_medians(table([[2, 3, 4, 5, 2.5]], ["oooor"]), below)
    assert np.isnan(values[0])
    assert "depends on them" in reasons[0]


def test_the_median_ratio_is_not_given_when_half_the_pairs_are_censored():
    below = table([[1, 1, 1, 1]], ["oooo"])
    values, reasons = ratio_medians(table([[2, 3, 9, 9]], ["oorr"]), below)
    assert np.isnan(values[0])
    assert reasons == ["2 of 4 pairs censored"]
    _, reasons = ratio_medians(table([[2, 3, np.nan, np.nan]], ["oomm"]), below)
    assert reasons == ["2 of 4 pairs not measured"]


def test_the_ratio_is_paired_by_seed_and_not_by_rank():
    values, _ = ratio_medians(table([[2, 40, 600]], ["ooo"]), table([[1, 10, 100]], ["ooo"]))
    assert values[0] == pytest.approx(np.log(4))


def test_uncensored_wants_every_seed_observed():
    assert observes_every_seed(table([[1, 2], [1, 2], [1, 2]], ["oo", "or", "lo"])).tolist() == [True, False, False]


def test_tables_of_different_sizes_are_not_paired():
    with pytest.raises(ValueError, match="same sizes"):
        ratio_bounds(table([[1]], ["o"], [10]), table([[1]], ["o"], [12]))


@pytest.mark.parametrize(
    ("sizes", "samples", "status", "complaint"),
    [
        ([1, 2], [[1.0], [2.0]], [["observed"], ["lost"]], "lost"),
        ([2, 1], [[1.0], [2.0]], [["observed"], ["observed"]], "increasing"),
        ([1], [[1.0], [2.0]], [["observed"], ["observed"]], "shapes"),
        ([1], [[0.0]], [["observed"]], "positive"),
        ([1], [[np.nan]], [["right_censored"]], "positive"),
    ],
)
def test_a_table_that_makes_no_sense_is_refused(sizes, samples, status, complaint):
    with pytest.raises(ValueError, match=complaint):
        Complexities(sizes, samples, status)
