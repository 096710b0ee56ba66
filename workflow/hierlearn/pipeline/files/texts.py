"""Files that others read while they are written."""

import os
from contextlib import suppress
from pathlib import Path


def put(file: Path, content: str | bytes) -> None:
    """Write bytes or a text, UTF-8, whole, with the folders that it lies in, or leave all as it was.

    Raises OSError with the file's name where it cannot be written.
    """
    file = file.resolve()
    part = file.with_suffix(".part")
    missing = [folder for folder in file.parents if not folder.exists()]
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(content.encode() if isinstance(content, str) else content)
        os.replace(part, file)
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
            for folder in missing:
                folder.rmdir()
        raise OSError(error.errno, error.strerror, str(file)) from error
