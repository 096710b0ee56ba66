"""A primary row fails for good after Holm's correction and on a second draw, and says what it lacks until then."""

import pytest
from scipy import stats

from hierlearn.claims.replication import p_value, standing


def row(claim="C1", **changes):
    """A primary row that fails far beyond its limit, 1.2."""
    usual = {
        "kind": "rate",
        "rank": "primary",
        "rule": "upper",
        "value": 3.0,
        "low": 2.9,
        "high": 3.1,
        "predicted": 1.0,
        "slack": 0.2,
        "verdict": "not seen",
        "seeds": 20,
        "digest": "abc",
        "draw": "small/quick/1",
    }
    return usual | {"claim": claim} | changes


SECOND = row(draw="small/quick/1/replicate-1")
DECIDED = [row(f"D{i}", verdict="consistent", value=0.5, low=0.4, high=0.6) for i in range(30)]


def test_a_row_that_fails_on_two_draws_lacks_nothing():
    assert standing([row(), *DECIDED], [SECOND]) == {"C1": ""}


def test_at_one_draw_a_row_says_so():
    assert standing([row(), *DECIDED]) == {"C1": "at one draw"}
    assert standing([row()], [row()]) == {"C1": "at one draw"}


def test_a_second_draw_of_another_design_does_not_count():
    assert standing([row()], [SECOND | {"digest": "abd"}]) == {"C1": "at one draw, as the second is of another design"}


def test_a_second_ledger_of_older_code_does_not_count():
    older = {"claim": "C1", "verdict": "not seen"}
    assert standing([row()], [older]) == {"C1": "at one draw, as the second is of another design"}


def test_a_second_draw_that_does_not_fail_is_told():
    assert standing([row()], [SECOND | {"verdict": "consistent"}]) == {"C1": "result of a second draw: passes"}


def test_what_fails_alone_may_not_fail_among_many():
    """Just beyond its limit: a p-value below 0.025 alone, and not among 31."""
    close = {"value": 1.32, "low": 1.21, "high": 1.43}
    assert standing([row(**close)], [SECOND]) == {"C1": ""}
    (told,) = standing([row(**close), *DECIDED], [SECOND]).values()
    assert told.startswith("not beyond chance among 31 primary rows (Holm's p = ")


@pytest.mark.parametrize(
    "change", [{"rank": "secondary"}, {"kind": "check"}, {"verdict": "consistent"}, {"verdict": "ends"}]
)
def test_other_rows_need_no_more_than_their_rule(change):
    assert standing([row(**change)]) == {}


@pytest.mark.parametrize(
    ("rule", "value", "low", "high"),
    [
        ("upper", 1.5, 1.2, 1.8),
        ("lower", 0.5, 0.2, 0.8),
        ("two-sided", 1.5, 1.2, 1.8),
        ("two-sided", 0.5, 0.2, 0.8),
        ("ordering", 0.5, 0.2, 0.8),
        ("ordering", 1.5, 1.2, 1.8),
    ],
)
def test_at_the_limit_of_its_rule_a_row_has_the_p_value_of_its_interval(rule, value, low, high):
    epsilon = 1e-9 if value > 1 else -1e-9
    moved = {"value": value + epsilon, "low": low + epsilon, "high": high + epsilon}
    assert p_value(row(rule=rule, **moved)) == pytest.approx(0.025, rel=1e-6)


def test_published_numbers_are_compared_as_ratios():
    found = p_value(row(rule="published", predicted=2.0, slack=1.5, value=6.0, low=3.0000001, high=12.0))
    assert found == pytest.approx(0.025, rel=1e-5)


def test_cells_of_claims_csv_are_read_as_numbers():
    text = {"value": "3", "low": "2.9", "high": "3.1", "predicted": "1", "slack": "", "seeds": "20"}
    assert p_value(row(**text)) == pytest.approx(p_value(row(slack=float("nan"))))


def test_a_bound_that_fails_is_a_case_and_no_estimate():
    assert p_value(row(rule="holds", verdict="contradicted", low=0.5, value=1.3, high=1.4)) == 0


@pytest.mark.parametrize(
    ("detail", "seeds", "freedom"),
    [({"dof": 5}, 40, 5), ({"dof": 7}, 4, 3), ({"dof": 1}, 20, 1), ({"dof": 2.7}, 20, 2.7), ({}, 20, 19)],
)
def test_an_interval_about_sizes_has_their_degrees_of_freedom_and_no_more_than_a_mean(detail, seeds, freedom):
    # Two half-widths beyond its limit, an interval of 95 % has that tail of Student's t.
    found = p_value(row(seeds=seeds, value=1.6, low=1.4, high=1.8), detail)
    assert found == pytest.approx(stats.t.sf(2 * stats.t.ppf(0.975, freedom), freedom))


def test_no_primary_row_is_no_fault():
    assert standing([]) == {}
