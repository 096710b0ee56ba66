"""What the page tells of a study beside its claims."""

from dataclasses import replace

import pytest
import yaml
from small_study import STUDY, study_of

from hierlearn.pipeline.plan import page_context


def small():
    return study_of(yaml.safe_load(STUDY), "small", "config/studies/small.yaml", "quick")


def test_a_study_tells_its_settings_in_words():
    said = dict(page_context.settings(small()))
    assert said["inputs"] == "sphere" and said["teacher"] == "ridge_polynomial (basis gegenbauer)"
    assert said["dimension"] == "3, 4, 5" and said["seeds"] == "2" and said["learners"] == "Kernel; Linear"
    assert said["probes"].startswith("theory: deterministic_equivalent (thresholds 0.5")


def test_links_go_from_the_page_to_the_study_file():
    assert page_context.of_study(small(), "results/quick")["file"] == "../../config/studies/small.yaml"
    assert page_context.of_study(small(), "results")["file"] == "../config/studies/small.yaml"


def test_panels_have_letters_titles_and_the_claims_that_they_show():
    panels = [{"title": "One", "shows": ["C1"]}, {"title": "Two"}]
    assert page_context.panels({"name": "panels", "panels": panels}) == [("a", "One", ["C1"]), ("b", "Two", [])]
    shown = {"name": "sample_complexity", "shows": {"c": ["C2"], "b": ["C1"]}}
    assert page_context.panels(shown) == [("b", "", ["C1"]), ("c", "", ["C2"])]
    assert page_context.panels(replace(small(), figure=None).figure) == []


@pytest.mark.parametrize("said", [{"panels": 3}, {"panels": ["a", "b"]}, {"shows": ["C1"]}])
def test_a_figure_of_ones_own_may_mean_something_else_by_panels(said):
    assert page_context.panels({"name": "mine"} | said) == []


def test_axes_are_listed_as_they_are_written():
    assert page_context.settings(replace(small(), axes={"dimension": [1048576], "bias": [True, False]}))[2:4] == [
        ("dimension", "1048576"),
        ("bias", "True, False"),
    ]
