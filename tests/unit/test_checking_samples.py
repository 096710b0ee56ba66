"""Checks of what a study says of its sample sizes: near which size to search, for what, and where to visit all."""

import pytest
from small_study import panel, put


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("learners.kernel.samples", {"at": [4], "near": 4, "cap": 8}, "learners.kernel.samples: found"),
        ("learners.kernel.samples", {"near": 4}, "learners.kernel.samples: found"),
        ("learners.kernel.samples", {"start": 2, "cap": 8, "thresholds": [0.5]}, "learners.kernel.samples: found"),
        (
            "learners.kernel.samples",
            {"near": 40, "cap": 16},
            "learners.kernel.samples.near: found 40, not in 1 .. 16, nor elsewhere; expected a size that lies between",
        ),
        (
            "learners.kernel.samples",
            {"near": 4, "cap": 16, "thresholds": [0.5, 0.3]},
            "learners.kernel.samples.thresholds[1]: found 0.3; expected one of 0.1, 0.5",
        ),
        ("samples", {"curves": [{"dimension": 9}]}, "samples.curves[0].dimension: found 9; expected one of 3, 4, 5"),
        ("samples", {"curves": [{"width": 4}]}, "samples.curves[0].width: found an unknown axis; expected one of"),
    ],
)
def test_a_fault_of_sample_sizes_is_named_with_its_place_and_what_is_allowed(content, check, path, value, message):
    lines = [str(fault) for fault in check(put(content, path, value))[1]]
    assert any(message in line for line in lines), lines


@pytest.mark.parametrize(
    "changes",
    [
        {"limits": {"dimension": 2}},
        {"samples": {"start": 100, "cap": 105}},
        {"only": {"dimension": 5}},
    ],
)
def test_a_learner_that_runs_nowhere_is_a_fault(content, check, changes):
    content["samples"] = {"per_doubling": 4}
    content["learners"]["kernel"] |= changes
    lines = [str(fault) for fault in check(content)[1]]
    assert any("learners.kernel: found no sample size at any place; expected a size between" in one for one in lines), (
        lines
    )


def test_a_search_needs_thresholds_and_a_claim_one_that_its_learner_looks_for(content, check):
    content["learners"]["kernel"]["samples"] = {"near": 4, "cap": 16, "thresholds": [0.1]}
    (fault,) = check(content)[1]
    assert "claims.C1-kernel.quantity.threshold: found 0.5; expected one of 0.1" in str(fault)
    content["claims"]["C1-kernel"]["quantity"]["threshold"] = 0.1
    assert check(content)[1] == []
    del content["learners"]["kernel"]["samples"]["thresholds"], content["claims"]["C1-kernel"]
    content["samples"], content["figure"], content["presets"] = {"thresholds": []}, panel(), {}
    (fault,) = check(content)[1]
    assert "learners.kernel.samples.near: found no threshold; expected samples.thresholds" in str(fault)


def test_a_size_near_which_to_search_may_lie_beyond_the_cap_at_some_places(content, check):
    content["learners"]["kernel"]["samples"] = {"near": {"coefficient": 1, "of": "dimension", "power": 2}, "cap": 40}
    assert check(content)[1] == []


def test_a_figure_of_learning_curves_needs_learners(content, check):
    """It would end for want of them after all other jobs; what thresholds there are says nothing of it."""
    content["samples"] = {"thresholds": []}
    assert not any("figure" in str(fault) for fault in check(content)[1])
    content |= {"learners": {}, "claims": {}, "presets": {}}
    (fault,) = check(content)[1]
    assert "figure.name: found sample_complexity in a study without learners; expected panels" in str(fault)
    content["figure"] = panel()
    assert not any("without learners" in str(fault) for fault in check(content)[1])


def test_what_a_broken_threshold_was_meant_as_is_not_guessed(content, check):
    """YAML reads 1e-3 as a text; the threshold of the figure and of the claim is a default that nobody wrote."""
    content["samples"] = {"thresholds": ["1e-3"]}
    (fault,) = check(content)[1]
    assert "samples.thresholds[0]: found '1e-3'" in str(fault)
