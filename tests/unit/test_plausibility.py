"""What a study may do, but may not mean, is said before anything runs."""

from pathlib import Path

import pytest
from small_study import SLOPE

from hierlearn.plan import checking, plausibility

MARGINAL = Path(__file__).parents[2] / "config" / "studies" / "allenzhu2020-marginal-accuracy.yaml"


def test_what_is_unwise_but_possible_is_warned_of_once():
    study, faults = checking.study(MARGINAL, MARGINAL.name, "quick")
    assert not faults
    (line,) = map(str, plausibility.warnings(study))
    assert "gaussian" in line
    assert "problem.teacher.depth: found 4" in line


@pytest.mark.parametrize(
    ("quantity", "found"),
    [
        ({"name": "exponent", "learner": "kernel", "where": {"degree": 1}, "sizes": [3, 4, 5]}, "sizes: [3, 4]"),
        (
            {"name": "exponent", "learner": "linear", "where": {"degree": 1, "width": 4}, "sizes": [3, 5]},
            "sizes: [3, 5]",
        ),
        ({"name": "exponent", "learner": "linear", "where": {"degree": 1, "width": 4}}, ""),
        (
            {"name": "risk_slope", "learner": "linear", "axis": "width", "where": {"degree": 1, "dimension": 3}},
            "values: [4, 8]",
        ),
        (SLOPE | {"values": [4, 16]}, "values: [4, 16]"),
        (SLOPE, ""),
    ],
)
def test_a_line_that_cannot_be_judged_is_warned_of_before_the_run(content, check, quantity, found):
    content["claims"]["C1-kernel"]["quantity"] = quantity
    del content["presets"]["full"]
    study, faults = check(content, "quick")
    assert faults == []
    key, _, sizes = found.partition(": ")
    start = f"config/studies/a-study.yaml: claims.C1-kernel.quantity.{key}: found a line through {sizes}; expected 3"
    said = list(map(str, plausibility.warnings(study)))
    assert [one[: len(start)] for one in said] == ([start] if found else [])
