"""What is read of a figure that a job has drawn."""

import os
import re

from hierlearn.pipeline.files import checksums


def size(file: str | os.PathLike) -> list[int] | None:
    """Return [width, height] of an SVG, in its own units; None where it does not begin with them.

    Raises UnreadableFile where the file is not the one that its checksum was written for.
    """
    found = re.search(rb'viewBox="0 0 ([\d.]+) ([\d.]+)"', checksums.read(file)[:2000])
    return [round(float(end)) for end in found.groups()] if found else None
