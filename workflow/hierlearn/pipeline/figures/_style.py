"""One look for all figures: readable in greyscale and to colour-blind eyes, equal bytes for equal data."""

import io
import re
from collections.abc import Iterable, Mapping

import numpy as np

from hierlearn.pipeline.figures._legends import stand_below, uncover
from hierlearn.pipeline.figures._notes import note

LOOK = {
    "backend": "agg",
    "font.size": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    # Nothing stands above an axis that a title would have to make room for; to look costs a tenth of a figure.
    "axes.titley": 1.0,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 5,
    "svg.hashsalt": "hierlearn",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "figure.dpi": 150,
}

DPI = 200
# How the claims that a panel shows are named.
CLAIMS = {"fontsize": 6, "color": "#777777"}
# Times that a layout is computed at most: what is settled after two is nearly always settled.
LAYOUTS = 4
# How a title begins that names its panel, and the lowest height of a panel that is drawn alone, over its width.
LETTER, LOWEST = re.compile("^[a-z]  "), 0.72


def set_look() -> None:
    """Give everything drawn from here on matplotlib's own defaults with our look over them.

    Nothing that a matplotlibrc, a variable or a component has set before changes a figure.
    """
    # Imported where it is used, here and below: a plan reads what figures declare, and draws none.
    import matplotlib

    # `rcdefaults` would leave the parameters alone that no style may set, such as the time zone of dates.
    matplotlib.rcParams.update({**matplotlib.rcParamsDefault, **LOOK})


def blank(width: float, height: float):
    """An empty figure, in inches, and from here on the look of all figures."""
    from matplotlib.figure import Figure

    set_look()
    return Figure(figsize=(width, height), layout="constrained")


def warm_up() -> None:
    """Draw a small figure in every format, for what matplotlib makes once: a quarter of the time of most figures.

    Called by the process whose forks are jobs.
    """
    figure = blank(2, 2)
    place = figure.subplots()
    place.loglog([1, 10, 100], [1, 20, 300], marker="o", label="$x^2$")
    place.fill_between([1, 10], [1, 2], [2, 3], alpha=0.2)
    place.set(title="title", xlabel="$d$", ylabel="label")
    place.legend()
    name_claims(place, ["C1"])
    lay_out(figure)
    for kind in ("svg", "pdf", "png"):
        save(figure, io.BytesIO(), kind, {})


def centre(values, kind: str = "median"):
    """The median, mean or geometric mean over seeds (K,) of values (K, S); NaN where one has no logarithm."""
    if kind == "geometric mean":
        return np.exp(np.log(np.where(values > 0, values, np.nan)).mean(axis=1))
    return values.mean(axis=1) if kind == "mean" else np.median(values, axis=1)


def band(place, x, values, colour: str, *, alpha: float = 0.18, of: str = "median", **look):
    """The centre over seeds with the range of the seeds. x (K,), values (K, S)."""
    place.plot(x, centre(values, of), color=colour, **look)
    place.fill_between(x, values.min(axis=1), values.max(axis=1), color=colour, alpha=alpha, lw=0)


def points(place, x, values, colour: str, *, marker: str, of: str = "median", across: bool = False, **look):
    """Every seed, and their centre, which no line joins. x (K,), values (K, S); across: values go along the panel."""
    seeds = np.repeat(np.asarray(x, dtype=float), values.shape[1]), values.ravel()
    middle = np.asarray(x, dtype=float), centre(values, of)
    place.plot(*(seeds[::-1] if across else seeds), ".", color=colour, alpha=0.5)
    place.plot(*(middle[::-1] if across else middle), marker, color=colour, **look)


def headed(letter: str, title: str, panels: int) -> str:
    """The title of a panel, with its letter where there are others."""
    return f"{letter}  {title}" if panels > 1 else title


def has_points(place) -> bool:
    """Whether a line of a panel has a point that its axes can show."""
    lowest = [[0.0 if scale == "log" else -np.inf] for scale in (place.get_xscale(), place.get_yscale())]
    points = [np.array(line.get_data(), dtype=float) for line in place.get_lines()]
    return any((np.isfinite(one) & (one > lowest)).all(axis=0).any() for one in points)


def remark(place, text: str, height: float = 0.5) -> None:
    """Words in a panel. height: part of its own."""
    look = {"ha": "center", "va": "center", "fontsize": 7.5, "color": "#777777"}
    place.text(0.5, height, text, transform=place.transAxes, **look)


def explain(place, text: str) -> None:
    """A panel without points says why, and has no ticks: its scales would mean nothing."""
    place.set(xscale="linear", yscale="linear", xticks=[], yticks=[])
    remark(place, text)


def name_claims(place, names: Iterable[str]) -> None:
    """The claims that a panel shows, above its title."""
    look = CLAIMS | {"textcoords": "offset points", "va": "bottom", "annotation_clip": False}
    if names:
        place.annotate(", ".join(names), (0, 1), (0, 17), xycoords="axes fraction", **look)


def narrow(figure, width: float):
    """Return a figure of one panel in a width in inches, without its letter and the names of claims.

    What stands below all panels is broken into as many rows as the width asks for.
    """
    areas = [area for area in (figure, *figure.subfigs) if area.legends]
    handles = [area.legends[0].legend_handles for area in areas]
    for area in areas:
        area.legends[0].remove()
    figure.set_size_inches(width, width * figure.get_figheight() / figure.get_figwidth())
    figure.set_figheight(max(figure.get_figheight(), LOWEST * width))
    for area, those in zip(areas, handles, strict=True):
        stand_below(area, those)
    note(figure, figure.get_supxlabel())
    for place in figure.axes:
        place.set_title(LETTER.sub("", place.get_title("left")), loc="left")
        for text in place.texts:
            if text.get_fontsize() == CLAIMS["fontsize"] and text.get_color() == CLAIMS["color"]:
                text.set_visible(False)
                text.set_in_layout(False)
    return figure


def lay_out(figure):
    """The figure with its layout computed once: it is the same in every format, and costs more than drawing.

    Again as long as a legend has to leave its panel, since the others may lie elsewhere then.
    """
    for _ in range(LAYOUTS):
        figure.get_layout_engine().execute(figure)
        height = figure.get_figheight()
        if uncover(figure).get_figheight() == height:
            break
    figure.set_layout_engine("none")
    return figure


def save(figure, file, kind: str, provenance: Mapping[str, str]) -> None:
    """Write a figure as svg, pdf or png, with what made it and without the date that would change its bytes.

    By the canvas itself: savefig draws everything once more before, for a layout that is known already.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_pdf import FigureCanvasPdf
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    figure.set_dpi(DPI)
    text = "; ".join(f"{name}: {value}" for name, value in provenance.items())
    if kind == "svg":
        FigureCanvasSVG(figure).print_svg(file, metadata={"Date": None, "Creator": None, "Description": text})
    elif kind == "pdf":
        FigureCanvasPdf(figure).print_pdf(
            file, metadata={"CreationDate": None, "Creator": None, "Producer": None, "Subject": text}
        )
    else:
        FigureCanvasAgg(figure).print_png(file, metadata={"Software": None, "Description": text})
