"""What jobs hand on: every file says which job made it, and is checked before it is read."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hierlearn.core.folders import UnreadableFile
from hierlearn.core.words import show
from hierlearn.pipeline.files import checksums, netcdf
from hierlearn.pipeline.files.netcdf import Group


def write(
    path: str | os.PathLike,
    groups: Mapping[str, Group],
    provenance: Mapping[str, str],
    compressed: bool = False,
    **described: str,
) -> None:
    """Write a netCDF-4 file. provenance: what provenance.attributes says of the job; described: further attributes."""
    checksums.write(path, netcdf.encode(groups, {**described, **provenance}, compressed), provenance)


def write_claims(path: str | os.PathLike, rows: list[dict[str, Any]], provenance: Mapping[str, str]) -> None:
    """Write claims.json."""
    text = json.dumps({"rows": rows, "provenance": provenance}, indent=1, sort_keys=True, allow_nan=False) + "\n"
    checksums.write(path, text.encode(), provenance)


def read_claims(path: str | os.PathLike, expected: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
    """The rows of a claims.json, checked as checksums.read does."""
    try:
        rows = list(json.loads(checksums.read(Path(path), expected))["rows"])
        if wrong := [row for row in rows if not isinstance(row, dict)]:
            raise TypeError(f"{show(wrong[0])} as a row")
        return rows
    except UnreadableFile:
        raise
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise UnreadableFile(
            f"{path}: found no claims ({str(error) or type(error).__name__}); expected JSON with rows and provenance; "
            "delete it and run again"
        ) from error
