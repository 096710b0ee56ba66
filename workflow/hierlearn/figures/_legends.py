"""Legends that hide no line, measured or bound: inside where there is room for them, else below their panel."""

from math import ceil

LOOK = {"fontsize": 6.5, "frameon": True, "framealpha": 0.75, "edgecolor": "none"}
# Below the axis and its label, and what a row of the legend takes, in inches.
BELOW, ROW, COLUMNS = 0.42, 0.14, 2


def legend(place) -> None:
    """The legend of a panel where most room is."""
    place.legend(**LOOK)


def uncover(figure):
    """The figure, laid out before, taller by the legends that hid a line: they go below their panels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    renderer, taller = FigureCanvasAgg(figure).get_renderer(), {}
    for place in figure.axes:
        if place.get_legend() is not None and hides_a_line(place, renderer):
            rows = _move(place, figure)
            row = place.get_subplotspec().rowspan.start
            taller[row] = max(taller.get(row, 0.0), BELOW / 2 + ROW * rows)
    if taller:
        figure.set_figheight(figure.get_figheight() + sum(taller.values()))
    return figure


def hides_a_line(place, renderer) -> bool:
    """Whether the legend lies on a line; one below its panel lies on none."""
    box = place.get_legend().get_window_extent(renderer)
    paths = [line.get_transform().transform_path(line.get_path()) for line in place.get_lines()]
    return any(path.intersects_bbox(box, filled=False) for path in paths)


def _move(place, figure) -> int:
    """The number of rows of the legend, now below its panel."""
    from matplotlib.transforms import ScaledTranslation

    handles, labels = place.get_legend_handles_labels()
    place.get_legend().remove()
    shift = ScaledTranslation(0, -BELOW, figure.dpi_scale_trans)
    where = {"loc": "upper left", "bbox_to_anchor": (0.0, 0.0), "bbox_transform": place.transAxes + shift}
    place.legend(handles, labels, borderaxespad=0.0, ncols=COLUMNS, **where, **LOOK)
    return ceil(len(labels) / COLUMNS)
