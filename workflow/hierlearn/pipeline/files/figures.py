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
# Height of a line of a legend, in the figure's units.
LINE = 12.0


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


def _meets(axes: ElementTree.Element, box: Sequence[float]) -> bool:
    """Whether the middle of axes lies in a box."""
    path = axes.find(f"{SVG}g/{SVG}path")
    ends = [float(number) for number in re.findall(r"-?[\d.]+", path.get("d", ""))] if path is not None else [0.0, 0.0]
    x, y = ((min(side) + max(side)) / 2 for side in (ends[::2], ends[1::2]))
    return box[0] <= x <= box[0] + box[2] and box[1] <= y <= box[1] + box[3]
