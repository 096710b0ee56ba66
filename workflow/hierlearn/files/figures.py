"""What is read of a figure that a job has drawn."""

import os
import re


def size(file: str | os.PathLike) -> list[int] | None:
    """[width, height] of an SVG, in its own units; None where it does not begin with them."""
    with open(file, encoding="utf-8") as stream:
        found = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', stream.read(2000))
    return [round(float(end)) for end in found.groups()] if found else None
