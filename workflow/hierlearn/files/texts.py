"""Text files that others read while they are written."""

import os
from pathlib import Path


def put(file: Path, text: str) -> None:
    """Writes a text, UTF-8, whole, or leaves the file as it was; its folder is there."""
    part = file.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, file)
