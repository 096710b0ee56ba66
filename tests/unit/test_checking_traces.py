"""Panels of trajectories name what learners record."""

import pytest
from small_study import at_quick_alone, panel

from hierlearn.core import registry


@pytest.fixture
def recording(monkeypatch):
    """The Taylor learner of the study says that it records its training."""
    taylor = registry.implementation("learners", "taylor")
    monkeypatch.setattr(taylor, "TRACES", {"train_loss": "loss"})
    monkeypatch.setattr(taylor, "MEASURES", {"layer_start": "step"})


TRACE = {
    "learner": "linear",
    "variable": "train_loss",
    "where": {"dimension": 3, "degree": 1, "width": 4, "samples": 4},
    "marks": {"layer_start": "a layer starts"},
}


def traced(content, *lines, **changes):
    content["figure"] = panel(kind="trace", x="step", lines=list(lines), **changes)
    del content["figure"]["panels"][0]["probe"]
    at_quick_alone(content)
    return content


def test_a_panel_of_a_recorded_training_is_sound(content, check, recording):
    assert check(traced(content, TRACE))[1] == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"learner": "kernel"}, "lines[0].learner: found 'kernel'; expected one of linear"),
        ({"variable": "trian_loss"}, "lines[0].variable: found 'trian_loss'; expected one of train_loss (nearest"),
        (
            {"marks": {"layer_end": "ends"}},
            "lines[0].marks.layer_end: found 'layer_end'; expected one of layer_start (nearest",
        ),
        (
            {"where": TRACE["where"] | {"samples": "largest"}},
            "lines[0].where.samples: found 'largest'; expected one of",
        ),
        (
            {"where": {"dimension": 3, "degree": 1, "samples": 4}},
            "lines[0].where.width: found nothing; expected a value",
        ),
        ({"where": TRACE["where"] | {"step": 1}}, "lines[0].where.step: found an unknown axis"),
    ],
)
def test_a_panel_of_a_training_that_is_not_recorded_is_a_fault(content, check, recording, changes, message):
    lines = [str(fault) for fault in check(traced(content, TRACE | changes))[1]]
    assert any(message in line for line in lines), lines


def test_a_trajectory_needs_a_learner_a_variable_and_the_steps_as_its_x(content, check, recording):
    lines = [str(fault) for fault in check(traced(content, {"variable": "train_loss"}))[1]]
    assert any("lines[0].learner: found nothing; expected this required key" in line for line in lines), lines
    at_quick_alone(content)
    content = traced(content, {key: TRACE[key] for key in ("learner", "variable")})
    content["figure"]["panels"][0]["x"] = "samples"
    lines = [str(fault) for fault in check(content)[1]]
    assert any("panels[0].x: found 'samples'; expected one of step" in line for line in lines), lines
    assert any("lines[0].where.dimension: found nothing; expected a value" in line for line in lines), lines
