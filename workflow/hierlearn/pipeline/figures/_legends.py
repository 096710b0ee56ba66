"""Names of lines: at their ends where these are few, else in legends that hide no line and no band."""

import re
from math import ceil

import numpy as np

LOOK = {"fontsize": 6.5, "frameon": True, "framealpha": 0.75, "edgecolor": "none"}
# Below the axis and its label, and what a row of the legend takes, in inches.
BELOW, ROW, COLUMNS = 0.42, 0.14, 2
# What the names of vertical lines are told by.
TOP = "named at the top"
# Columns of a legend below all panels, the rows that there is room for, and the height of each further one, in inches.
MOST, FEW, TALL = 5, 4, 0.18
# Where a legend may lie inside, in the order in which places are tried.
INSIDE = (
    *("upper right", "upper left", "lower left", "lower right"),
    *("center right", "center left", "upper center", "lower center", "center"),
)
# Lines that are named at their ends, letters of such a name and of a line of it, and how far it may be moved.
NAMED, LONGEST, WIDE, MOVED = 3, 36, 18, 0.16
# Share of a panel's height that a line of small text takes, and of its width where a line that is named goes at least.
APART, REACH = 0.045, 0.85
# Words, where a formula is one.
WORD = re.compile(r"(?:\$[^$]*\$|\S)+")


def legend(place) -> None:
    """The legend of a panel where most room is."""
    if place.get_legend_handles_labels()[0]:
        place.legend(**LOOK)


def at_the_ends(place, guides) -> bool:
    """Names the slopes of guides to the right of a panel where they end, and its lines if they are few.

    guides: (text, height, colour), in data units. Names whose ends are close stand one above the other. False where the
    lines need a legend.
    """
    slopes = [(text, _height(place, height), colour) for text, height, colour in guides]
    names = _ends(place)
    stacked = _stacked(slopes + names) if names else None
    if stacked is None or any(abs(there - wanted) > MOVED for _, wanted, there, _ in stacked):
        names, stacked = [], _stacked(slopes)
    for text, _, there, colour in stacked:
        look = {"fontsize": 6.5, "color": colour, "va": "center", "linespacing": 1.0}
        place.text(1.01, there, text, transform=place.transAxes, **look)
    return bool(names)


def at_the_top(place, value: float, text: str, colour: str = "#777777") -> None:
    """Names a vertical line inside its panel, each below the one that was named before."""
    before = sum(one.get_gid() == TOP for one in place.texts)
    left, right = place.get_xlim()
    log = place.get_xscale() == "log"
    share = np.divide(*(np.log([value / left, right / left]) if log else (value - left, right - left)))
    beside = {"ha": "left"} if share < 0.5 else {"ha": "right"}
    look = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "va": "top", "gid": TOP}
    shift = (2 if share < 0.5 else -2, -1 - 8 * before)
    place.annotate(text, (value, 1.0), shift, fontsize=6.5, color=colour, **beside, **look)


def _ends(place) -> list[tuple[str, float, str]]:
    """Names, heights of their ends as a share of the panel's, and colours; none where lines are many or end early."""
    found = []
    handles, labels = place.get_legend_handles_labels()
    if len(handles) > NAMED:
        return []
    for handle, label in zip(handles, labels, strict=True):
        if len(label) > LONGEST or not label or place.lines.count(handle) == 0 or handle.get_linestyle() == "None":
            return []
        x, y = np.array(handle.get_data(), dtype=float)
        known = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
        if not len(known):
            return []
        ends = handle.get_transform() + place.transAxes.inverted()
        across, height = ends.transform((x[known[-1]], y[known[-1]]))
        if not (across > REACH and -0.01 < height < 1.01):
            return []
        found.append((_in_lines(label), height, handle.get_color()))
    return found


def _height(place, height: float) -> float:
    """A height in data units as a share of the panel's."""
    return (place.transData + place.transAxes.inverted()).transform((place.get_xlim()[1], height))[1]


def _in_lines(label: str) -> str:
    """A label in lines of a few words, no formula broken."""
    lines = [""]
    for word in WORD.findall(label):
        if lines[-1] and len(lines[-1]) + len(word) >= WIDE:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join(lines)


def _stacked(names) -> list[tuple[str, float, float, str]]:
    """Names from the lowest on, with where they are wanted and where they have room."""
    found, highest = [], -np.inf
    for wanted, text, colour in sorted((height, text, colour) for text, height, colour in names):
        half = APART * (text.count("\n") + 1) / 2
        there = max(wanted, highest + half)
        highest = there + half
        found.append((text, wanted, there, colour))
    return found


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
    """Whether the legend lies on a line, a band or the name of a vertical line; one below its panel lies on none."""
    from matplotlib.collections import PolyCollection

    box = place.get_legend().get_window_extent(renderer)
    if not box.overlaps(place.bbox):
        # Paths go on where the panel cuts them off.
        return False
    if any(text.get_gid() == TOP and box.overlaps(text.get_window_extent(renderer)) for text in place.texts):
        return True
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
