"""The drawing of a row: its interval lies where its numbers are, inside the region where its rule passes or not."""

import math
import re
from dataclasses import replace

import pytest
from test_page import row

from hierlearn.pipeline.claims.page.drawing import WIDTH, drawing
from hierlearn.pipeline.claims.readable import number
from hierlearn.pipeline.claims.rules import region


def places(one):
    """Pixels of the parts of a row's drawing: the dot, the whisker's ends, the region's ends, the control's signs."""
    text = str(drawing(one, "spoken", number))
    dot = float(re.search(r'cx="([\d.]+)"', text)[1])
    whisker = [float(end) for end in re.search(r'class="whisker" d="M([\d.]+) \d+H([\d.]+)"', text).groups()]
    start, width = (float(x) for x in re.search(r'class="region" x="([\d.]+)" y="2" width="([\d.]+)"', text).groups())
    return dot, whisker, (start, start + width), text


@pytest.mark.parametrize(
    ("changes", "side", "expected"),
    [
        ({"rule": "upper", "predicted": 1.0, "slack": 0.2}, "above", (-math.inf, 1.2)),
        ({"rule": "lower", "predicted": 1.0, "slack": 0.2}, "above", (0.8, math.inf)),
        ({"rule": "two-sided", "predicted": 1.0, "slack": 0.2}, "above", (0.8, 1.2)),
        ({"rule": "ordering", "predicted": 0.0, "slack": math.nan}, "above", (0.0, math.inf)),
        ({"rule": "ordering", "predicted": 0.0, "slack": 0.1}, "below", (-math.inf, 0.1)),
        ({"rule": "published", "predicted": 3.0, "slack": math.nan}, "above", (2.0, 4.5)),
        ({"rule": "bound", "predicted": 1.0, "slack": math.nan}, "above", (-math.inf, 1.0)),
    ],
)
def test_the_region_is_where_the_rule_passes(changes, side, expected):
    one = row(**changes)
    assert region(one.rule, one.predicted, one.slack, side) == pytest.approx(expected)


@pytest.mark.parametrize("rule", ["upper", "lower", "two-sided", "ordering", "published", "bound"])
@pytest.mark.parametrize("shift", [0.4, 1.0, 1.1, 5.0, 200.0])
def test_an_interval_is_drawn_inside_the_region_where_its_numbers_are(rule, shift):
    one = row(rule=rule, predicted=1.0, slack=1.5 if rule == "published" else 0.1)
    one = replace(one, value=shift, low=shift * 0.95, high=shift * 1.02, control_value=3.0)
    floor, ceiling = region(one.rule, one.predicted, one.slack)
    dot, (low, high), (start, end), _ = places(one)
    assert low <= dot <= high and low >= 0 and high <= WIDTH
    assert (floor <= one.low and one.high <= ceiling) == (start <= low and high <= end)
    assert (floor <= one.value <= ceiling) == (start <= dot <= end)


def test_a_control_far_away_is_an_arrow_towards_it_and_one_near_by_a_diamond():
    assert "hollow" in places(row())[3]
    far = places(row(control_value=1e6, control_low=1e6, control_high=1e6))[3]
    assert "hollow" not in far and f"L{WIDTH - 1} " in far
    assert "L1 " in places(row(control_value=-1e6, control_low=-1e6, control_high=-1e6))[3]


def test_labels_of_a_narrow_region_do_not_touch():
    narrow = row(rule="two-sided", predicted=1.0, slack=0.01, value=9.0, low=8.0, high=10.0)
    assert re.findall(r">([^<>]+)</text>", places(narrow)[3]) == ["1"]
    assert re.findall(r">([^<>]+)</text>", places(replace(narrow, slack=4.0))[3]) == ["−3", "5"]


def test_a_row_that_measured_nothing_has_no_drawing_and_one_without_a_rule_no_region():
    assert drawing(row(value=math.nan), "", number) == ""
    described = drawing(row(rule="descriptive", predicted=math.nan, slack=math.nan), "", number)
    assert "region" not in described and "dot" in described


def test_what_is_drawn_is_said():
    assert 'role="img" aria-label="a &lt;b&gt;"' in drawing(row(), "a <b>", number)
