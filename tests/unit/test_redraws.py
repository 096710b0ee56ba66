"""Two draws of one registered design differ as often as their intervals say, for every kind of quantity."""

import csv
import math

import pytest
from scipy.stats import binomtest

from hierlearn.core.registry import PACKAGE
from hierlearn.pipeline.claims.outcomes import Draw
from hierlearn.pipeline.command import first_questions
from hierlearn.statistics.intervals import holm, t_quantile

ROOT = PACKAGE.parents[1]
# How often two draws may differ by more than their joint 95 % interval, and below which p a kind does so more often.
EXPECTED = LEVEL = 0.05
# Lines along an axis on which a seed keeps its draw: the spread over seeds is what judges them.
TOO_NARROW = {"probe_slope"}
# Quantities whose intervals are about a line or a rank, with degrees of freedom that no stored row says.
WITHOUT_FREEDOM = ("slope", "exponent", "median", "published", "order_table", "failure")


@pytest.fixture(scope="module")
def pairs():
    """By kind of quantity whether the first two draws of a design, the next two and so on differ by too much."""
    records = first_questions.read(ROOT / "docs" / "records" / "first_questions.json")
    with open(ROOT / "config" / "verdicts.csv", newline="", encoding="utf-8") as stream:
        lines = list(csv.DictReader(stream))
    designs = {}
    for line in lines:
        designs.setdefault((line["claim"], line["digest"]), {}).setdefault(line["draw"], line)
    found = {}
    for (claim, _), draws in designs.items():
        record = records[claim]
        kind = record["question"]["quantity.name"]
        freedom = math.inf if any(word in kind for word in WITHOUT_FREEDOM) else max(1, record["seeds"] - 1)
        numbers = [[line["value"], line["low"], line["high"]] for line in draws.values()]
        known = [Draw(*map(float, one), freedom) for one in numbers if all(one)]
        known = [draw for draw in known if not draw.is_exact and draw.low < draw.high and math.isfinite(draw.high)]
        for first, second in zip(known[::2], known[1::2], strict=False):
            found.setdefault(kind, []).append(differ(first, second))
    return found


def differ(first, second):
    """Whether two draws differ by more than their joint 95 % interval."""
    on_the_log = first.is_on_the_log and second.is_on_the_log
    (value, error), (other, other_error) = first.error(on_the_log), second.error(on_the_log)
    return abs(value - other) > t_quantile(first.freedom + second.freedom) * math.hypot(error, other_error)


def test_two_draws_differ_no_more_often_than_their_intervals_say(pairs):
    kinds = sorted(pairs)
    p_values = [binomtest(sum(pairs[kind]), len(pairs[kind]), EXPECTED, "greater").pvalue for kind in kinds]
    failing = {kind for kind, p in zip(kinds, holm(p_values), strict=True) if p < LEVEL}
    assert failing == TOO_NARROW


def test_over_all_kinds_the_intervals_are_as_wide_as_they_say(pairs):
    every = [one for kind, differing in pairs.items() if kind not in TOO_NARROW for one in differing]
    assert len(every) > 1000
    assert binomtest(sum(every), len(every), EXPECTED, "greater").pvalue > LEVEL
