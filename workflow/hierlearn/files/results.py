"""What jobs hand on: every file says what it is, which job made it and what it held, and is checked before it is read.

A file that is whole as netCDF or JSON may still be another job's, or may have lost a part since.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hierlearn.core import provenance
from hierlearn.files import netcdf
from hierlearn.files.netcdf import Group, UnreadableFile


def write(
    path: str | os.PathLike, kind: str, groups: Mapping[str, Group], made: Mapping[str, str], **described: str
) -> None:
    """Write a netCDF-4 file of a kind (scores, model, ...). made: what provenance.attributes says of the job."""
    netcdf.write(path, groups, {**described, **made, "kind": kind, "content_hash": _digest(groups)})


def read(path: str | os.PathLike, expected: Mapping[str, str] | None = None) -> dict[str, Group]:
    """All groups of a file, after a check that it is the one that a job made; none if `expected` is None.

    expected: provenance.identity of that job. Raises UnreadableFile, one line that names the file, what was found and
    what is expected.
    """
    groups = netcdf.read(path)
    if expected is not None:
        _check(path, netcdf.attributes(path), expected, _digest(groups))
    return groups


def write_claims(path: str | os.PathLike, rows: list[dict[str, Any]], made: Mapping[str, str]) -> None:
    """Write claims.json."""
    content = {"rows": rows, "provenance": {**made, "kind": "claims", "content_hash": _hash(rows)}}
    text = json.dumps(content, indent=1, sort_keys=True, allow_nan=False) + "\n"
    netcdf.replace(path, text.encode(), check=json.loads)


def read_claims(path: str | os.PathLike, expected: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
    """The rows of a claims.json, checked as `read` does."""
    try:
        content = json.loads(Path(path).read_bytes())
        rows, made = content["rows"], dict(content["provenance"])
    except (OSError, ValueError, TypeError, LookupError) as error:
        raise UnreadableFile(
            f"{path}: found no claims ({str(error) or type(error).__name__}); expected JSON with rows and provenance; "
            "delete it and run again"
        ) from error
    if expected is not None:
        _check(path, made, expected, _hash(rows))
    return rows


def _check(path, found: Mapping[str, Any], expected: Mapping[str, str], content: str) -> None:
    wanted = {name: (found.get(name, "nothing"), value) for name, value in expected.items()}
    wanted["content_hash"] = (content, found.get("content_hash", "one that was noted when it was written"))
    for name, (one, other) in wanted.items():
        if one != other:
            raise UnreadableFile(f"{path}: {name}: found {one}; expected {other}; delete it and run again")


def _digest(groups: Mapping[str, Group]) -> str:
    """Hash of all variables: names, dimensions, kinds and values."""
    whole = hashlib.sha256()
    for group in sorted(groups):
        for name, variable in sorted(groups[group].items()):
            values = np.ascontiguousarray(variable.values)
            text = values.dtype.kind in "UO"
            described = [group, name, list(variable.dimensions), np.shape(variable.values)]
            whole.update(provenance.canonical([*described, "text" if text else values.dtype.str]).encode())
            whole.update(provenance.canonical(values.tolist()).encode() if text else values.data)
    return whole.hexdigest()[:16]


def _hash(rows: list[dict[str, Any]]) -> str:
    return hashlib.sha256(provenance.canonical(rows).encode()).hexdigest()[:16]
