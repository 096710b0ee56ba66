"""The panels figure draws what the data say."""

import runpy

import numpy as np
import pytest
import xarray

from hierlearn.components import PACKAGE, build
from hierlearn.figures._style import noted

STUDY = {"title": "t", "labels": {"a": "learner A", "b": "learner B"}}


def probes():
    values = np.array([1.0, 0.5, 0.25])[:, None] * np.array([0.9, 1.0, 1.2])
    return {"p": xarray.Dataset({"law": (("width", "seed"), values)}, {"width": [10, 20, 40], "seed": [0, 1, 2]})}


def cube():
    axes = ("learner", "dimension", "samples", "seed")
    n = np.array([10.0, 20.0, 40.0, 80.0])
    risk = np.stack([(d * 4.0 / n)[:, None] * np.array([0.9, 1.0, 1.1]) for d in (4, 8)])
    both = np.stack([risk, 20 * risk])
    return xarray.Dataset(
        {"test_risk": (axes, both), "status": (axes, np.zeros(both.shape, np.int8))},
        {"learner": ["a", "b"], "dimension": [4, 8], "samples": n.astype(int), "seed": [0, 1, 2]},
    )


def drawn(panel, scores=None):
    figure = build("figures", {"name": "panels", "panels": [panel]}).draw(scores, probes(), STUDY)
    return figure.axes[0]


def test_a_probe_is_drawn_as_medians_with_the_predicted_slope_through_the_last():
    place = drawn(
        {"kind": "probe", "title": "T", "probe": "p", "x": "width", "lines": [{"variable": "law", "slope": -1}]}
    )
    line, guide = place.get_lines()
    np.testing.assert_allclose(line.get_xydata(), [[10, 1.0], [20, 0.5], [40, 0.25]])
    np.testing.assert_allclose(guide.get_ydata(), [1.0, 0.5, 0.25])
    assert place.get_xscale() == place.get_yscale() == "log"


def test_risks_are_drawn_along_samples_at_the_named_place_with_the_counting_bound():
    place = drawn(
        {
            "kind": "risk",
            "title": "T",
            "x": "samples",
            "counting": {"dimension": 8, "degree": 2},
            "lines": [{"learner": "a", "where": {"dimension": 8}}],
        },
        cube(),
    )
    line, bound = place.get_lines()
    np.testing.assert_allclose(line.get_ydata(), 32.0 / np.array([10, 20, 40, 80]))
    assert line.get_label() == "learner A"
    x, y = bound.get_xydata().T
    np.testing.assert_allclose(y, 1 - x / 35)


def test_growth_shows_crossings_and_open_triangles_where_there_are_none():
    lines = [{"learner": "a"}, {"learner": "b"}]
    place = drawn({"kind": "growth", "title": "T", "x": "dimension", "threshold": 0.5, "lines": lines}, cube())
    crossing = place.get_lines()[0].get_xydata()
    np.testing.assert_allclose(crossing, [[4, 32], [8, 64]], rtol=0.02)
    triangles = [line for line in place.get_lines() if line.get_markerfacecolor() == "white"]
    assert [line.get_ydata()[0] for line in triangles] == [80.0, 80.0]


def test_bars_have_a_row_for_every_learner():
    lines = [{"learner": name, "where": {"dimension": 4, "samples": 40}} for name in "ab"]
    place = drawn({"kind": "bars", "title": "T", "x": "samples", "lines": lines}, cube())
    assert [text.get_text() for text in place.get_yticklabels()] == ["learner A", "learner B"]
    medians = [line.get_xdata()[0] for line in place.get_lines() if len(line.get_xdata()) == 1]
    assert medians == pytest.approx([0.4, 8.0])


def test_places_without_panels_stay_empty():
    panel = {"kind": "probe", "title": "T", "probe": "p", "x": "width", "lines": [{"variable": "law"}]}
    figure = build("figures", {"name": "panels", "columns": 2, "panels": [panel] * 3}).draw(None, probes(), STUDY)
    assert [place.axison for place in figure.axes] == [True, True, True, False]


def test_warnings_stand_below_the_figure():
    panel = {"kind": "probe", "title": "T", "probe": "p", "x": "width", "lines": [{"variable": "law"}]}
    figure = build("figures", {"name": "panels", "panels": [panel]}).draw(None, probes(), STUDY)
    assert noted(figure, []) is figure and figure.get_supxlabel() == ""
    assert noted(figure, ["one", "two"]).get_supxlabel() == "! one\n! two"


def test_a_degree_that_a_kernel_cannot_represent_is_a_warning():
    holes = runpy.run_path(str(PACKAGE.parent / "scripts" / "figure.py"), run_name="imported")["holes"]
    kernel = {"name": "kernel_ridge", "kernel": {"name": "arccos", "order": 1}}
    models = [
        {"name": "a", "learner": kernel, "teacher": {"name": "ridge_polynomial", "degree": p}, "dimension": 5}
        for p in (2, 3, 3)
    ]
    (line,) = holes(models, STUDY["labels"])
    assert line.startswith("learner A: the kernel has no eigenvalue at degree 3")
