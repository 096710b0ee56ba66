"""What is read of a figure that a job has drawn, and a part of it as a picture by itself."""

import os
import re
from collections.abc import Sequence
from xml.etree import ElementTree

from hierlearn.pipeline.files import checksums

SVG = "{http://www.w3.org/2000/svg}"
NAMES = {"": "http://www.w3.org/2000/svg", "xlink": "http://www.w3.org/1999/xlink"}
# A line of a legend, its label, and where the line begins.
Entry = tuple[ElementTree.Element, ElementTree.Element, tuple[float, float]]
# Height of a line of a legend, in the figure's units; and room for a title, for labels left of axes and below them, and
# before the next ones, whose labels are not shown.
LINE = 12.0
ABOVE, LEFT, BELOW, NEXT = 28.0, 45.0, 32.0, 20.0


def size(file: str | os.PathLike) -> list[int] | None:
    """Return [width, height] of an SVG, in its own units; None where it does not begin with them.

    Raises UnreadableFile where the file is not the one that its checksum was written for.
    """
    found = re.search(rb'viewBox="0 0 ([\d.]+) ([\d.]+)"', checksums.read(file)[:2000])
    return [round(float(end)) for end in found.groups()] if found else None


def part(text: str, box: Sequence[float], legend: Sequence[str] = (), at: Sequence[float] = (0, 0)) -> str:
    """Return a part of a figure as an SVG on white, without the axes beyond it.

    text: an SVG by matplotlib, with texts as texts; box: left, top, width and height in its units; legend: lines of its
    legends that the part shows one below the other; at: left end of the first. Raises ValueError where a line is none.
    """
    for prefix, name in NAMES.items():
        ElementTree.register_namespace(prefix, name)
    root = ElementTree.fromstring(text)  # noqa: S314  a figure of the project itself
    left, top, width, height = box
    lines = _legend(root)
    if unknown := [name for name in legend if name not in lines]:
        raise ValueError(f"legend: found {unknown[0]!r}; expected one of {', '.join(lines)}")
    for parent in list(root.iter()):
        for child in list(parent):
            name = child.get("id", "")
            beyond = name.startswith("axes_") and not _meets(child, box)
            if beyond or (legend and name.startswith("legend_")) or child.tag == f"{SVG}metadata":
                parent.remove(child)
    for i, name in enumerate(legend):
        line, label, (x, y) = lines[name]
        shift = f"translate({at[0] - x:.2f} {at[1] + i * LINE - y:.2f})"
        group = ElementTree.SubElement(root, f"{SVG}g", {"transform": shift})
        group.extend([line, label])
    root.set("viewBox", f"{left} {top} {width} {height}")
    root.set("width", f"{width * 2:g}")
    root.set("height", f"{height * 2:g}")
    root.set("style", "background: white")
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _legend(root: ElementTree.Element) -> dict[str, Entry]:
    """What stands behind each name of the legends: its line, its label, and where the line begins."""
    found = {}
    for one in root.iter(f"{SVG}g"):
        if one.get("id", "").startswith("legend_"):
            groups = [child for child in one if child.get("id", "").startswith(("line2d_", "text_"))]
            for line, label in zip(groups[::2], groups[1::2], strict=False):
                start = line.find(f"{SVG}path")
                if start is not None:
                    x, y = re.findall(r"-?[\d.]+", start.get("d", ""))[:2]
                    found["".join(label.itertext()).strip()] = line, label, (float(x), float(y))
    return found


def around(text: str, box: Sequence[float]) -> list[float]:
    """Return the box around the axes whose middle lies in a box: in a figure of other sizes they lie elsewhere.

    Of a figure without such axes the whole.
    """
    root = ElementTree.fromstring(text)  # noqa: S314  a figure of the project itself
    width, height = (float(end) for end in root.get("viewBox", "0 0 0 0").split()[2:])
    axes = [_ends(one) for one in root.iter(f"{SVG}g") if one.get("id", "").startswith("axes_")]
    own = next((ends for ends in axes if _holds(box, ends)), None)
    if own is None:
        return [0.0, 0.0, width, height]
    left, top, right, bottom = own
    beside = [other for other in axes if other[1] < bottom and other[3] > top]
    start = left - LEFT if any(other[2] < left for other in beside) else 0.0
    end = min((other[0] - NEXT for other in beside if other[0] > right), default=width)
    lower = min((other[1] - ABOVE for other in axes if other[1] > bottom), default=min(bottom + BELOW, height))
    upper = max(top - ABOVE, 0.0)
    return [start, upper, end - start, lower - upper]


def legend(text: str) -> list[str]:
    """Return the names in the legends of a figure."""
    return list(_legend(ElementTree.fromstring(text)))  # noqa: S314


def _meets(axes: ElementTree.Element, box: Sequence[float]) -> bool:
    """Whether the middle of axes lies in a box."""
    return _holds(box, _ends(axes))


def _holds(box: Sequence[float], ends: Sequence[float]) -> bool:
    x, y = (ends[0] + ends[2]) / 2, (ends[1] + ends[3]) / 2
    return box[0] <= x <= box[0] + box[2] and box[1] <= y <= box[1] + box[3]


def _ends(axes: ElementTree.Element) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of axes."""
    path = axes.find(f"{SVG}g/{SVG}path")
    ends = [float(number) for number in re.findall(r"-?[\d.]+", path.get("d", ""))] if path is not None else [0.0, 0.0]
    return min(ends[::2]), min(ends[1::2]), max(ends[::2]), max(ends[1::2])
