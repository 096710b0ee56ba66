"""What a figure says of itself in words: letters, names beside what they name, and what its marks stand for."""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from test_figure_panels import STUDY, TABLE, cube, probes, traces

from hierlearn.core.registry import build
from hierlearn.pipeline.figures._legends import uncover

PANEL = {"kind": "risk", "title": "T", "x": "samples"}


def line(learner="a", dimension=4, **more):
    return {"learner": learner, "where": {"dimension": dimension}} | more


def bar(learner, dimension=8, **more):
    return {"learner": learner, "where": {"dimension": dimension, "samples": 40}} | more


def drawn(*panels, scores=None) -> Figure:
    figure = build("figures", {"name": "panels", "panels": list(panels)})
    return figure.draw(cube() if scores is None else scores, probes(), STUDY, traces())


def words(place) -> list[str]:
    return [text.get_text() for text in place.texts]


def note(figure) -> str:
    return " ".join(figure.get_supxlabel().split())


def test_one_panel_has_no_letter_and_two_have():
    (alone,) = drawn(PANEL | {"lines": [line()]}).axes
    assert alone.get_title(loc="left") + alone.get_title() == "T"
    two = drawn(PANEL | {"lines": [line()]}, PANEL | {"lines": [line()]}).axes
    assert [place.get_title(loc="left") + place.get_title() for place in two] == ["a  T", "b  T"]


def test_the_note_says_once_what_lines_and_bands_are():
    figure = drawn(PANEL | {"lines": [line()]}, PANEL | {"lines": [line("b")]})
    assert note(figure) == "Lines: median of 3 seeds, bands: from the lowest to the highest seed."


def test_the_note_tells_panels_apart_that_show_otherwise():
    bars = {"kind": "bars", "title": "T", "x": "samples", "lines": [bar("a"), bar("b")]}
    figure = drawn(PANEL | {"lines": [line()], "centre": "mean"}, bars)
    said = "a: lines: mean of 3 seeds, bands: from the lowest to the highest seed. "
    assert note(figure) == said + "b: large markers: median of 3 seeds, dots: every seed."


def test_a_guide_is_said_to_be_predicted_and_a_seed_at_0_to_end_at_the_edge():
    slope = {"kind": "probe", "title": "T", "probe": "p", "x": "width", "lines": [{"variable": "law", "slope": -1}]}
    assert note(drawn(slope)).endswith("Dashes with a slope: predicted.")
    scores = cube()
    scores["test_risk"] = scores.test_risk.where(scores.seed != 0, 0.0)
    assert note(drawn(PANEL | {"lines": [line()]}, scores=scores)).endswith("Bands to the lower edge: a seed at 0.")


def test_few_lines_are_named_where_they_end_in_their_colours_and_without_a_legend():
    (place,) = drawn(PANEL | {"lines": [line("a"), line("b")]}).axes
    assert place.get_legend() is None
    ends = {text.get_text(): text for text in place.texts}
    colours = {one.get_label(): one.get_color() for one in place.lines if one.get_label() in ends}
    assert colours == {name: text.get_color() for name, text in ends.items()} and len(colours) == 2
    heights = {name: text.get_position()[1] for name, text in ends.items()}
    assert heights["learner A"] < heights["learner B"]


@pytest.mark.parametrize("many", [3, 4])
def test_many_lines_have_a_legend(many):
    lines = [line("a", 4), line("a", 8, label="A at 8"), line("b", 4), line("b", 8, label="B at 8")]
    (place,) = drawn(PANEL | {"lines": lines[:many]}).axes
    assert (place.get_legend() is None) == (many == 3)


def test_a_line_that_ends_early_is_named_in_a_legend():
    scores = cube()
    scores["test_risk"] = scores.test_risk.where((scores.learner != "b") | (scores.samples < 40))
    (place,) = drawn(PANEL | {"lines": [line("a"), line("b")]}, scores=scores).axes
    assert {text.get_text() for text in place.get_legend().get_texts()} == {"learner A", "learner B"}


def test_bars_are_sorted_by_their_centres():
    (place,) = drawn({"kind": "bars", "title": "T", "x": "samples", "lines": [bar("b"), bar("a")]}).axes
    assert [text.get_text() for text in place.get_yticklabels()] == ["learner A", "learner B"]


def test_a_published_number_stands_in_the_row_of_a_learner_that_it_names():
    published = {"published": TABLE, "where": {"learner": "last"}, "label": "printed", "row_of": 1}
    lines = [bar("b"), bar("a"), published]
    (place,) = drawn({"kind": "bars", "title": "T", "x": "samples", "lines": lines}).axes
    assert [text.get_text() for text in place.get_yticklabels()] == ["learner A", "learner B"]
    (printed,) = [one for one in place.lines if list(one.get_xdata()) == [1.45]]
    assert list(printed.get_ydata()) == pytest.approx([1.0])


def test_verticals_are_named_inside_the_panel_one_below_the_other():
    levels = [{"value": 15.0, "label": "first"}, {"value": 60.0, "label": "second"}]
    (place,) = drawn(PANEL | {"lines": [line()], "verticals": levels}).axes
    found = {text.get_text(): text for text in place.texts if text.get_text() in ("first", "second")}
    assert (found["first"].get_ha(), found["second"].get_ha()) == ("left", "right")
    assert found["second"].xyann[1] < found["first"].xyann[1]


def test_kinds_along_a_panel_are_named_and_not_joined():
    panel = {"kind": "probe", "title": "T", "probe": "p", "x": "width", "xscale": "linear"}
    (place,) = drawn(panel | {"lines": [{"variable": "law"}], "named": ["one", "two", "three"]}).axes
    assert [text.get_text() for text in place.get_xticklabels()] == ["one", "two", "three"]
    assert all(one.get_linestyle() == "None" for one in place.lines)
    np.testing.assert_allclose(place.get_xticks(), [10, 20, 40])


def test_a_short_first_row_is_as_wide_as_the_others():
    figure = build("figures", {"name": "panels", "columns": 3, "panels": [PANEL | {"lines": [line()]}] * 5})
    places = figure.draw(cube(), probes(), STUDY, None).axes
    ends = [place.get_subplotspec().get_position(places[0].figure).x1 for place in places]
    assert ends[1] == pytest.approx(ends[4]) and len(places) == 5


def test_a_legend_hides_no_name_of_a_vertical_line():
    lines = [line("a", 4), line("a", 8, label="A at 8"), line("b", 4), line("b", 8, label="B at 8")]
    figure = drawn(PANEL | {"lines": lines, "verticals": [{"value": 70.0, "label": "a place of some width"}]})
    figure.draw_without_rendering()
    figure = uncover(figure)
    figure.draw_without_rendering()
    (place,) = figure.axes
    (name,) = [text for text in place.texts if text.get_text() == "a place of some width"]
    renderer = FigureCanvasAgg(figure).get_renderer()
    assert not place.get_legend().get_window_extent(renderer).overlaps(name.get_window_extent(renderer))
