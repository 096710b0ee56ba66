"""Legends that hide no line and no band: inside where there is room for them, else below their panel."""

from math import ceil

LOOK = {"fontsize": 6.5, "frameon": True, "framealpha": 0.75, "edgecolor": "none"}
# Below the axis and its label, and what a row of the legend takes, in inches.
BELOW, ROW, COLUMNS = 0.42, 0.14, 2
# Columns of a legend below all panels, the rows that there is room for, and the height of each further one, in inches.
MOST, FEW, TALL = 5, 4, 0.18
# Where a legend may lie inside, in the order in which places are tried.
INSIDE = (
    *("upper right", "upper left", "lower left", "lower right"),
    *("center right", "center left", "upper center", "lower center", "center"),
)


def legend(place) -> None:
    """The legend of a panel where most room is."""
    place.legend(**LOOK)


def stand_below(figure, handles) -> None:
    """The legend below all panels of a part of a figure, in as many columns as there is room for; more rows than a few
    make the figure taller."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    whole = figure.get_figure(root=True)
    renderer = FigureCanvasAgg(whole).get_renderer()
    for columns in range(MOST, 0, -1):
        one = figure.legend(handles=handles, loc="outside lower center", ncols=columns, fontsize=7.5)
        if one.get_window_extent(renderer).width <= whole.bbox.width or columns == 1:
            break
        one.remove()
    rows = ceil(len(handles) / columns)
    whole.set_figheight(whole.get_figheight() + TALL * max(rows - FEW, 0))


def uncover(figure):
    """The figure, laid out before, taller by the legends that have no room inside: they go below their panels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    renderer, taller = FigureCanvasAgg(figure).get_renderer(), {}
    for place in figure.axes:
        if place.get_legend() is not None and not _fits(place, renderer):
            rows = _move(place, figure, renderer)
            row = place.get_subplotspec().rowspan.start
            taller[row] = max(taller.get(row, 0.0), BELOW / 2 + ROW * rows)
    if taller:
        figure.set_figheight(figure.get_figheight() + sum(taller.values()))
    return figure


def _fits(place, renderer) -> bool:
    """Whether the legend lies on nothing, where it is or where it is now put."""
    for where in ("", *INSIDE):
        if where:
            place.get_legend().set_loc(where)
        if not hides_data(place, renderer):
            return True
    return False


def hides_data(place, renderer) -> bool:
    """Whether the legend lies on a line or on a band; one below its panel lies on none."""
    from matplotlib.collections import PolyCollection

    box = place.get_legend().get_window_extent(renderer)
    if not box.overlaps(place.bbox):
        # Paths go on where the panel cuts them off.
        return False
    paths = [line.get_transform().transform_path(line.get_path()) for line in place.get_lines()]
    bands = [band for band in place.collections if isinstance(band, PolyCollection)]
    areas = [band.get_transform().transform_path(path) for band in bands for path in band.get_paths()]
    return any(path.intersects_bbox(box, filled=False) for path in paths) or any(
        path.intersects_bbox(box, filled=True) for path in areas
    )


def _move(place, figure, renderer) -> int:
    """The number of rows of the legend, now below its panel, in one column where two are wider than the panel."""
    from matplotlib.transforms import ScaledTranslation

    handles, labels = place.get_legend_handles_labels()
    place.get_legend().remove()
    shift = ScaledTranslation(0, -BELOW, figure.dpi_scale_trans)
    where = {"loc": "upper left", "bbox_to_anchor": (0.0, 0.0), "bbox_transform": place.transAxes + shift}
    look = LOOK | where | {"borderaxespad": 0.0}
    two = place.legend(handles, labels, ncols=COLUMNS, **look)
    if two.get_window_extent(renderer).width <= place.bbox.width:
        return ceil(len(labels) / COLUMNS)
    two.remove()
    place.legend(handles, labels, **look)
    return len(labels)
