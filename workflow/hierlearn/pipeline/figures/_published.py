"""Published numbers beside our own: hollow, black, and never taken for a measurement of ours."""

from collections.abc import Mapping
from typing import Any

from hierlearn.pipeline.figures._identities import MARKERS
from hierlearn.pipeline.files.published import rows

LABEL = "published"
# Levels of several tables in one panel are told apart.
LEVELS = ((0, (1, 2)), (0, (7, 3)), (0, (5, 2, 1, 2)))
HOLLOW = {"color": "black", "mfc": "none", "mec": "black", "lw": 0.8, "zorder": 3}


def overlay(place, line: Mapping[str, Any], axis: str, number: int) -> None:
    """Draw the rows of a table: points and ranges along the axis, levels and bands where a row lacks it.

    line: published (the table), where, label, times (a factor, for other units); number: which of the panel's published
    lines it is, for its marker or dashes.
    """
    marker, dashes, artists = MARKERS[number % len(MARKERS)], LEVELS[number % len(LEVELS)], []
    found = _scale(line)
    here = sorted((row for row in found if axis in row), key=lambda row: row[axis])
    points = [(row[axis], row["value"]) for row in here if "value" in row]
    if points:
        artists += place.plot(*zip(*points, strict=True), marker=marker, ls="none", **HOLLOW)
    for row in here:
        if "low" in row:
            artists += place.plot([row[axis]] * 2, [row["low"], row["high"]], marker="_", **HOLLOW)
    for row in found:
        if axis not in row and "value" in row:
            artists.append(place.axhline(row["value"], color="black", lw=0.8, ls=dashes))
        elif axis not in row:
            artists.append(place.axhspan(row["low"], row["high"], color="#777777", alpha=0.15, lw=0))
    label = line.get("label", LABEL)
    if artists and label not in place.get_legend_handles_labels()[1]:
        artists[0].set_label(label)


def overlay_row(place, line: Mapping[str, Any], height: int, number: int, label: str = "") -> None:
    """Draw the rows of a table along one row of a panel of bars. label: for the legend, once a panel."""
    artists = []
    for row in _scale(line):
        if "value" in row:
            artists += place.plot(row["value"], height, marker=MARKERS[number % len(MARKERS)], ls="none", **HOLLOW)
        else:
            artists += place.plot([row["low"], row["high"]], [height] * 2, marker="|", **HOLLOW)
    if label and artists and label not in place.get_legend_handles_labels()[1]:
        artists[0].set_label(label)


def _scale(line: Mapping[str, Any]) -> list[dict[str, Any]]:
    factor = line.get("times", 1)
    return [
        row | {key: factor * row[key] for key in ("value", "low", "high") if key in row}
        for row in rows(line["published"], line.get("where", {}))
    ]
