"""Outcomes of two pooled draws, against Monte Carlo and by hand."""

import math

import numpy as np
import pytest
import scipy

from hierlearn.pipeline.claims import outcomes
from hierlearn.pipeline.claims.outcomes import HOLDS, NO_TEST, Draw, level, outcome, pooled, result
from hierlearn.pipeline.claims.rules import FAILS, PASSES, UNDECIDED

SEEDS = 16


def drawn(rng, mean, count, seeds=SEEDS):
    """Draws of the mean of so many normal seeds of variance 1, with their Student intervals."""
    values = mean + rng.standard_normal((count, seeds))
    centre, half = (
        values.mean(axis=1),
        scipy.stats.t.ppf(0.975, seeds - 1) * values.std(axis=1, ddof=1) / np.sqrt(seeds),
    )
    return [Draw(c, c - h, c + h, seeds - 1) for c, h in zip(centre.tolist(), half.tolist(), strict=True)]


def results(rng, mean, pairs, designs=1, seeds=SEEDS):
    draws = drawn(rng, mean, 2 * pairs, seeds)
    return [
        result("lower", pair, 0, 0, "above", level(designs))[0] for pair in zip(draws[::2], draws[1::2], strict=True)
    ]


def test_the_level_grows_with_the_designs_that_were_judged():
    assert [round(100 * level(designs), 2) for designs in (1, 2, 3)] == [99.39, 99.85, 99.93]
    assert sum(1 - level(designs) for designs in range(1, 10_000)) < 0.01
    with pytest.raises(ValueError, match="at least 1"):
        level(0)


def test_a_truth_at_the_limit_passes_in_less_than_a_third_of_a_percent():
    words = results(np.random.default_rng(1), 0.0, 40_000)
    # The standard error of the rate is 0.03 %.
    assert 0.0019 < np.mean([word == PASSES for word in words]) < 0.0037


def test_two_draws_have_more_power_than_one_has_at_95_percent():
    rng, seeds = np.random.default_rng(2), 100
    # Where the interval of one draw lies beyond the limit nine times in ten.
    effect = (scipy.stats.t.ppf(0.975, seeds - 1) + scipy.stats.norm.ppf(0.9)) / np.sqrt(seeds)
    one = np.mean([draw.low > 0 for draw in drawn(rng, effect, 4000, seeds)])
    two = np.mean([word == PASSES for word in results(rng, effect, 4000, seeds=seeds)])
    # The standard errors are 0.5 and 0.3 %.
    assert 0.88 < one < 0.92
    assert 0.945 < two < 0.97


def by_hand(values, limit, designs):
    """What two draws come to under `lower`, from their seeds alone. values: (2, S), one row a draw."""
    first, second = values.mean(axis=1)
    errors = values.std(axis=1, ddof=1) / math.sqrt(values.shape[1])
    error, freedom = math.hypot(*errors), 2 * (values.shape[1] - 1)
    half = scipy.stats.t.ppf(1 - 0.005 * 6 / (math.pi * designs) ** 2, freedom) * error / 2
    middle = (first + second) / 2
    if abs(first - second) > scipy.stats.t.ppf(0.995, freedom) * error:
        return UNDECIDED
    if middle - half >= limit and min(first, second) >= limit:
        return PASSES
    return FAILS if middle + half < limit and max(first, second) < limit else UNDECIDED


@pytest.mark.parametrize("designs", [1, 2, 5])
def test_the_rule_is_that_of_the_contract_computed_from_the_seeds_alone(designs):
    rng = np.random.default_rng(4)
    told = []
    for mean in np.linspace(-1.5, 1.5, 300):
        values = mean + rng.standard_normal((2, 6))
        pair = []
        for one in values:
            half = scipy.stats.t.ppf(0.975, 5) * one.std(ddof=1) / math.sqrt(6)
            pair.append(Draw(one.mean(), one.mean() - half, one.mean() + half, 5))
        found = result("lower", pair, 0, 0, "above", level(designs))[0]
        assert found == by_hand(values, 0.0, designs)
        told.append(found)
    assert {PASSES, FAILS, UNDECIDED} == set(told)


def shared(reached, trials):
    """The draw of a share, with its 95 % interval by scipy."""
    interval = scipy.stats.binomtest(reached, trials).proportion_ci(0.95, "exact")
    return Draw(reached / trials, interval.low, interval.high, trials=trials)


@pytest.mark.parametrize(("trials", "missed"), [(56, 0), (77, 1), (95, 2)])
def test_a_share_of_nine_in_ten_needs_as_many_runs_as_the_contract_says(trials, missed):
    def word(count):
        draws = [shared(count // 2 - missed, count // 2), shared(count - count // 2, count - count // 2)]
        return result("lower", draws, 0.9, None, "above", level(1))

    found, counted = word(trials)
    exact = scipy.stats.binomtest(trials - missed, trials).proportion_ci(level(1), "exact")
    assert (counted.low, counted.high) == pytest.approx((exact.low, exact.high))
    assert found == PASSES and word(trials - 1)[0] == UNDECIDED


def test_a_share_fails_where_too_many_miss_and_needs_both_draws():
    assert result("lower", [shared(20, 40), shared(25, 40)], 0.9, None, "above", level(1))[0] == FAILS
    assert result("lower", [shared(40, 40)], 0.9, None, "above", level(1))[0] == UNDECIDED
    # That every seed reaches the level makes nothing exact.
    assert result("lower", [shared(20, 20), shared(20, 20)], 0.9, None, "above", level(1))[0] == UNDECIDED


def test_two_draws_that_split_one_set_have_the_variance_of_all_their_splits():
    rng, seeds, ratio = np.random.default_rng(5), 8, 0.25
    draws = []
    for values in rng.standard_normal((2, seeds)):
        half = scipy.stats.t.ppf(0.975, seeds - 1) * values.std(ddof=1) * math.sqrt(1 / seeds + ratio)
        common = seeds * ratio / (1 + seeds * ratio)
        draws.append(Draw(values.mean(), values.mean() - half, values.mean() + half, seeds - 1, common=common))
    same = (draws[0], draws[0])
    # 1/(2J) + n_test/n_train of the variance of a split, in the place of (1/J + n_test/n_train)/2.
    half = pooled(same, 0.95).high - draws[0].value
    one = (draws[0].high - draws[0].value) / scipy.stats.t.ppf(0.975, seeds - 1) / math.sqrt(1 / seeds + ratio)
    expected = scipy.stats.t.ppf(0.975, 2 * seeds - 2) * one * math.sqrt(1 / (2 * seeds) + ratio)
    assert half == pytest.approx(expected)


def test_a_third_draw_changes_nothing():
    pair = [Draw(1.0, 0.5, 1.5, 9), Draw(1.2, 0.7, 1.7, 9)]
    third = Draw(-5.0, -6.0, -4.0, 9)
    for rule in ("lower", "upper"):
        assert result(rule, pair, 0.2, 0, "above", level(1)) == result(rule, [*pair, third], 0.2, 0, "above", level(1))
    kept = [Draw(value, value, value) for value in (0.5, 0.9, 1.4)]
    assert result("bound", kept, math.nan, None, "above", level(1))[0] == PASSES


def test_the_pooled_interval_holds_the_truth_as_often_as_it_says():
    draws = drawn(np.random.default_rng(3), 5.0, 40_000, seeds=5)
    estimates = [pooled(pair, 0.95) for pair in zip(draws[::2], draws[1::2], strict=True)]
    inside = [one.low <= 5 <= one.high for one in estimates if not one.reason]
    assert 0.945 < np.mean(inside) < 0.96
    # That two draws differ by more than their joint 99 % interval is as rare.
    assert 0.007 < np.mean([bool(one.reason) for one in estimates]) < 0.013


def test_the_pooled_interval_by_hand():
    estimate = pooled((Draw(1.0, 0.0, 2.0, 4), Draw(2.0, 0.5, 3.5, 4)), 0.95)
    first, second = 1 / scipy.stats.t.ppf(0.975, 4), 1.5 / scipy.stats.t.ppf(0.975, 4)
    half = scipy.stats.t.ppf(0.975, 8) * math.hypot(first, second) / 2
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx((1.5, 1.5 - half, 1.5 + half))


def test_unknown_degrees_of_freedom_give_the_wider_interval():
    known, unknown = (
        pooled((Draw(1.0, 0.0, 2.0, freedom), Draw(2.0, 0.5, 3.5, freedom)), level(1)) for freedom in (4, math.inf)
    )
    assert unknown.high - unknown.low > known.high - known.low


def test_positive_values_are_pooled_where_their_intervals_are_symmetric():
    estimate = pooled((Draw(1.0, 0.25, 4.0, 9), Draw(4.0, 1.0, 16.0, 9)), 0.5)
    assert estimate.value == pytest.approx(2.0)
    assert estimate.value / estimate.low == pytest.approx(estimate.high / estimate.value)
    assert pooled((Draw(3.0, 0.5, 5.5, 9), Draw(5.0, 1.5, 8.5, 9)), 0.5).value == pytest.approx(4.0)


def test_both_values_lie_on_the_side_of_the_limit():
    pair = Draw(0.1, -1.9, 2.1, 30), Draw(-2.4, -4.4, -0.4, 30)
    assert pooled(pair, 0.5).high < 0
    assert result("upper", pair, 0, 0, "above", 0.5)[0] == UNDECIDED
    assert result("upper", (pair[1], pair[1]), 0, 0, "above", 0.5)[0] == PASSES


def test_draws_that_contradict_one_another_decide_nothing():
    word, estimate = result("upper", (Draw(1, 0.9, 1.1, 9), Draw(3, 2.9, 3.1, 9)), 10, 0, "above", level(1))
    assert word == UNDECIDED
    assert "differ" in estimate.reason


def test_one_draw_decides_nothing_unless_it_is_exact():
    assert result("upper", [Draw(1, 0.9, 1.1)], 2, 0, "above", level(1))[0] == UNDECIDED
    assert result("upper", [Draw(1, 1, 1)], 2, 0, "above", level(1))[0] == PASSES
    assert result("upper", [Draw(3, 3, 3)], 2, 0, "above", level(1))[0] == FAILS


@pytest.mark.parametrize(
    ("values", "word"), [((0.5, 0.9), PASSES), ((1.2, 1.1), FAILS), ((0.5, 1.1), UNDECIDED), ((0.5,), UNDECIDED)]
)
def test_a_bound_is_broken_only_on_both_draws(values, word):
    draws = [Draw(value, value, value) for value in values]
    assert result("bound", draws, math.nan, None, "above", level(1))[0] == word


@pytest.mark.parametrize(
    ("claim", "rivals", "word"),
    [
        (PASSES, [FAILS, FAILS], HOLDS),
        (PASSES, [FAILS, PASSES], NO_TEST),
        (PASSES, [UNDECIDED, PASSES], NO_TEST),
        (PASSES, [FAILS, UNDECIDED], outcomes.UNDECIDED),
        (UNDECIDED, [PASSES], UNDECIDED),
        (FAILS, [PASSES], FAILS),
    ],
)
def test_an_outcome_rests_on_the_claim_and_on_every_rival(claim, rivals, word):
    assert outcome(claim, rivals) == word


@pytest.mark.parametrize(("value", "half", "word"), [(0.9, 0.05, PASSES), (1.1, 0.05, FAILS), (1.01, 0.05, UNDECIDED)])
def test_a_bound_on_a_mean_is_judged_by_the_pooled_interval(value, half, word):
    draws = [Draw(one, one - half, one + half, 30) for one in (value, value)]
    assert result("bound", draws, math.nan, None, "above", level(1))[0] == word
    # The first name of the rule, which the records have, says the same.
    assert result("holds", draws, math.nan, None, "above", level(1))[0] == word
