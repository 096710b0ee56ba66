"""Legends leave lines and bands to be seen."""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from hierlearn.pipeline.figures._legends import hides_data, legend
from hierlearn.pipeline.figures._style import lay_out


def drawn(lines: int, spread: float):
    """One panel of measured lines at heights 0 .. spread, and a free one beside it."""
    figure = Figure(figsize=(8, 3), layout="constrained")
    crowded, free = figure.subplots(1, 2)
    for number in range(lines):
        crowded.plot(np.linspace(0, 1, 5), np.full(5, spread * number / lines), marker="o", label=f"line {number}")
    free.plot([0, 1], [0, 0], marker="o", label="one")
    free.plot([0, 1], [1, 0], ls="--", label="a guide")
    for place in (crowded, free):
        place.set_ylim(-0.1, 1.1)
        legend(place)
    return figure


@pytest.mark.parametrize(("lines", "spread", "height"), [(3, 0.2, 3.0), (10, 1.0, 3.0 + 0.21 + 5 * 0.14)])
def test_a_legend_on_measured_lines_goes_below_its_panel_in_a_taller_figure(lines, spread, height):
    figure = lay_out(drawn(lines, spread))
    assert figure.get_figheight() == pytest.approx(height)
    renderer = FigureCanvasAgg(figure).get_renderer()
    assert not any(hides_data(place, renderer) for place in figure.axes)
    for place in figure.axes:
        box = place.get_legend().get_window_extent(renderer)
        assert box.y0 >= 0 and box.x1 <= figure.bbox.x1
        assert bool(box.y1 < place.bbox.y0) == (place is figure.axes[0] and height > 3)
        assert [text.get_text() for text in place.get_legend().get_texts()] == place.get_legend_handles_labels()[1]


def test_a_legend_on_a_bound_without_markers_goes_below_its_panel_too():
    figure = Figure(figsize=(4, 3), layout="constrained")
    place = figure.subplots()
    for number in range(12):
        place.plot([0, 1], [number, number], ls="-.", label=f"bound {number}")
    legend(place)
    lay_out(figure)
    renderer = FigureCanvasAgg(figure).get_renderer()
    assert place.get_legend().get_window_extent(renderer).y1 < place.bbox.y0
    assert not hides_data(place, renderer)


def test_legends_below_neighbouring_panels_lie_apart_whatever_the_panels_cut_off():
    figure = Figure(figsize=(8, 3), layout="constrained")
    places = figure.subplots(1, 2)
    for place in places:
        for number in range(12):
            place.plot([0, 1], [10.0**number] * 2, marker="o", label=f"line {number}")
        # Down to 0, which lies far below the panel on this axis.
        place.fill_between([0, 1], [0, 0], [1, 1], alpha=0.2)
        place.set(yscale="log", ylim=(0.5, 10.0**12))
        legend(place)
    lay_out(figure)
    renderer = FigureCanvasAgg(figure).get_renderer()
    for place in places:
        box = place.get_legend().get_window_extent(renderer)
        assert place.bbox.x0 - 1 <= box.x0 and box.x1 <= place.bbox.x1 + 1 and box.y1 < place.bbox.y0


@pytest.mark.parametrize(("bands", "inside"), [([(0.04, 0.96)], False), ([(0.3, 0.9)], True)])
def test_a_legend_leaves_bands_to_be_seen_and_stays_inside_where_there_is_room(bands, inside):
    figure = Figure(figsize=(4, 3), layout="constrained")
    place = figure.subplots()
    for low, high in bands:
        place.fill_between([0, 1], [low] * 2, [high] * 2, alpha=0.2)
        place.plot([0, 1], [high] * 2, label="measured")
    place.set(xlim=(0, 1), ylim=(0, 1))
    legend(place)
    place.get_legend().set_loc("center")
    lay_out(figure)
    renderer = FigureCanvasAgg(figure).get_renderer()
    assert not hides_data(place, renderer)
    assert (place.get_legend().get_window_extent(renderer).y0 > place.bbox.y0) == inside
