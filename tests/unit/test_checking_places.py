"""Places that claims and figures refer to: nothing is left open, and nothing is named that is not there."""

import pytest
from small_study import SLOPE, at_quick_alone, beside, panel


def test_a_place_of_a_learner_needs_no_value_of_what_others_sweep(content, check):
    claim = content["claims"]["C1-kernel"]["quantity"]
    del claim["where"]["width"]
    assert check(content)[1] == []
    claim["learner"] = "linear"
    assert any("C1-kernel.quantity.where.width: found nothing" in str(fault) for fault in check(content)[1])


def test_a_place_of_one_learner_that_is_no_mapping_is_one_fault(content, check):
    given = {"name": "log_risk_ratio", "above": "linear", "below": "kernel", "samples": 4, "above_where": True}
    where = {"dimension": 4, "degree": 1, "width": 4}
    content["claims"]["C1-kernel"]["quantity"] = given | {"where": where}
    at_quick_alone(content)
    assert [fault.field for fault in check(content)[1]] == ["claims.C1-kernel.quantity.above_where"]


@pytest.mark.parametrize(
    ("above", "below", "complete"),
    [({"width": 4}, {}, True), ({}, {"width": 4}, False), ({"width": 4}, {"width": 8}, True)],
)
def test_of_two_learners_each_needs_what_it_sweeps(content, check, above, below, complete):
    given = {"name": "log_risk_ratio", "above": "linear", "below": "kernel", "samples": 4}
    where = {"dimension": 4, "degree": 1}
    content["claims"]["C1-kernel"]["quantity"] = given | {"where": where, "above_where": above, "below_where": below}
    at_quick_alone(content)
    assert [fault.field for fault in check(content)[1]] == (
        [] if complete else ["claims.C1-kernel.quantity.where.width"]
    )


@pytest.mark.parametrize("bound", ["counting_bound", "composed_counting_bound"])
@pytest.mark.parametrize(("given", "found"), [({}, "nothing"), ({"spans": 2}, "2"), ({"spans": 3}, None)])
def test_a_bound_counts_the_kernels_that_its_learners_choose_among(content, check, bound, given, found):
    content["learners"]["kernel"]["select"]["bandwidth"] = [0.5, 1.0, 2.0]
    # A learner that is no kernel_ridge chooses among none.
    claim = {"quantity": {"name": bound, "predictors": ["kernel", "linear"]} | given, "test": "bound"}
    at_quick_alone(content)
    content["claims"]["C1-kernel"] |= claim
    lines = [str(fault).partition(": ")[2] for fault in check(content)[1]]
    allowed = "at least 3, among so many kernels kernel chooses"
    assert lines == ([f"claims.C1-kernel.quantity.spans: found {found}; expected {allowed}"] if found else [])


def test_a_slope_of_a_probe_and_its_panel_are_sound(content, check):
    content["claims"]["C1-theory"]["quantity"] = SLOPE
    content["figure"] = panel(lines=[{"variable": "sample_complexity", "where": SLOPE["where"], "slope": 1}])
    _, faults = check(content)
    assert faults == []


def test_theory_beside_learners_is_sound(content, check):
    content["figure"] = beside({"where": {"line": "ntk", "degree": 2}, "colour_of": 1})
    _, faults = check(content)
    assert faults == []


RISKS = {"learner": "linear", "where": {"dimension": 3, "degree": 1, "width": 4}}


MEAN = {"name": "score_mean", "learner": "linear", "samples": 4, "where": RISKS["where"]}


RATIO = {
    "name": "log_risk_ratio",
    "above": "linear",
    "below": "linear",
    "samples": 4,
    "where": {"dimension": 3, "degree": 1},
}


def of_risks(content, line, **changes):
    """The content with a panel of one line, and with sizes of its own at the preset full."""
    content["figure"] = panel(**{"kind": "risk", "x": "samples", "lines": [line]} | changes)
    del content["figure"]["panels"][0]["probe"]
    at_quick_alone(content)
    content["presets"] = {"full": {"learners": {"linear": {"sweep": {"width": [4, 6]}}}}}
    return content


@pytest.mark.parametrize(
    ("line", "changes", "message"),
    [
        ({"where": {"dimension": 3, "degree": 1}}, {}, "where.width: found nothing; expected a value: one of 4, 8"),
        (RISKS, {"x": "degree"}, "where.degree: found an axis that is never fixed"),
        (RISKS, {"kind": "bars"}, "where.samples: found nothing; expected a value"),
        ({"where": RISKS["where"] | {"width": 8}}, {}, "presets.full.figure.panels[0].lines[0].where.width: found 8"),
        (
            {"where": {"dimension": 3, "samples": 4, "width": [4, 8, 4]}},
            {"x": "degree"},
            "where.width: found [4, 8, 4]; expected 2 values, one for each of [2, 1]",
        ),
        (
            {"where": {"dimension": 3, "samples": 4, "width": [4, 9]}},
            {"x": "degree"},
            "where.width[1]: found 9; expected one of 4, 8",
        ),
    ],
)
def test_a_line_of_a_panel_leaves_nothing_open_at_any_preset(content, check, line, changes, message):
    assert [fault for fault in check(of_risks(content, RISKS))[1] if fault.field.startswith("figure")] == []
    lines = [str(fault) for fault in check(of_risks(content, RISKS | line, **changes))[1]]
    assert any(message in line for line in lines), lines


def test_a_value_may_go_along_with_the_axis_of_a_panel_and_of_a_slope(content, check):
    where = {"dimension": 3, "samples": 4, "width": [4, 8]}
    content = of_risks(content, {"learner": "linear", "where": where}, x="degree")
    slope = {"name": "risk_slope", "learner": "linear", "axis": "degree", "samples": 4}
    content["claims"]["C1-kernel"]["quantity"] = slope | {"where": {"dimension": 3, "width": [4, 8]}}
    at_quick_alone(content)
    assert check(content)[1] == []
    content["claims"]["C1-kernel"]["quantity"] = MEAN | {"where": where}
    lines = [str(fault) for fault in check(content)[1]]
    assert any("where.width: found [4, 8]; expected a value: one of 4, 8" in line for line in lines), lines


@pytest.mark.parametrize(
    ("quantity", "message"),
    [
        (MEAN, ""),
        (MEAN | {"where": {"dimension": 3, "width": 4}}, "quantity.where.degree: found nothing; expected a value"),
        (RATIO | {"above_where": {"width": 4}, "below_where": {"width": 8}}, ""),
        (RATIO | {"above_where": {"width": 4}}, "quantity.where.width: found nothing; expected a value"),
    ],
)
def test_a_claim_on_one_place_leaves_nothing_open(content, check, quantity, message):
    content["claims"]["C1-kernel"]["quantity"] = quantity
    at_quick_alone(content)
    lines = [str(fault) for fault in check(content)[1]]
    assert any(message in line for line in lines) if message else not lines, lines
