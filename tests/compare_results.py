"""Compares two results folders variable by variable: whether a change of the code left every number as it was.

python tests/compare_results.py BEFORE AFTER [--renamed NAMES.json]

Every netCDF file below both folders is opened group by group; arrays are compared to the last bit, NaN with NaN.
Provenance (code hash, versions) and wall times are left out: they may change. claims.json is compared row by row.
NAMES.json maps old names of files, groups, variables or keys of rows to new ones, or to null for what is gone.
Exits with 1 and one line per difference if there is any.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import netCDF4
import numpy as np

# What says who made a file, and how long it took; the second is of runs before jobs' times stood in their logs alone.
PROVENANCE = ("logs/", "benchmarks/")


def files(folder: Path) -> dict[str, Path]:
    """netCDF files and claims below a folder by their names."""
    found = {
        path.relative_to(folder).as_posix(): path for kind in ("*.nc", "claims.json") for path in folder.rglob(kind)
    }
    return {name: path for name, path in sorted(found.items()) if not name.startswith(PROVENANCE)}


def variables(path: Path) -> dict[str, np.ndarray]:
    """group/variable -> array, as stored."""

    def below(group, at: str) -> Iterator[tuple[str, np.ndarray]]:
        for name, variable in group.variables.items():
            variable.set_auto_maskandscale(False)
            yield at + name, np.asarray(variable[...])
        for name, child in group.groups.items():
            yield from below(child, f"{at}{name}/")

    with netCDF4.Dataset(path) as dataset:
        return dict(below(dataset, ""))


def rows(path: Path) -> dict[str, object]:
    """claim/key -> value."""
    content = json.loads(path.read_text())["rows"]
    return {f"{row['claim']}/{key}": value for row in content for key, value in row.items()}


def renamed(name: str, names: dict[str, str | None]) -> str | None:
    """A name with every part of its path renamed; None if one of them is gone."""
    if name in names:
        return names[name]
    parts = [names.get(part, part) for part in name.split("/")]
    return None if None in parts else "/".join(parts)


def equal(one, other) -> bool:
    """Whether two values agree to the last bit."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        if one.dtype.kind in "OU":
            return np.array_equal(one, other)
        return (
            one.dtype == other.dtype and one.shape == other.shape and np.array_equal(one, other, one.dtype.kind == "f")
        )
    return one == other


def differences(before: Path, after: Path, names: dict[str, str | None]) -> Iterator[str]:
    """One line for everything that is missing, new or different."""
    old, new = files(before), files(after)
    expected = {renamed(name, names): path for name, path in old.items()}
    expected.pop(None, None)
    for name in sorted(expected.keys() ^ new.keys()):
        yield f"{name}: {'missing' if name in expected else 'new'}"
    for name in sorted(expected.keys() & new.keys()):
        read = rows if name.endswith("claims.json") else variables
        one = {renamed(key, names): value for key, value in read(expected[name]).items()}
        one.pop(None, None)
        other = read(new[name])
        for key in sorted(one.keys() | other.keys()):
            if key not in one or key not in other:
                yield f"{name}: {key}: {'new' if key in other else 'missing'}"
            elif not equal(one[key], other[key]):
                yield f"{name}: {key}: {_change(one[key], other[key])}"


def _change(one, other) -> str:
    """How far two values are from each other."""
    if not isinstance(one, np.ndarray):
        return f"{one!r} became {other!r}"
    if one.shape != other.shape or one.dtype != other.dtype:
        return f"{one.dtype} {one.shape} became {other.dtype} {other.shape}"
    if one.dtype.kind not in "iuf":
        return "other words"
    apart = np.abs(one.astype(float) - other.astype(float))
    return f"{np.sum(~(apart == 0))} of {one.size} values differ, by {np.nanmax(apart, initial=0.0):.3g} at most"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--renamed", type=Path, help="JSON: old names -> new names, null for what is gone")
    given = parser.parse_args()
    names = json.loads(given.renamed.read_text()) if given.renamed else {}
    found = list(differences(given.before, given.after, names))
    print(*found, sep="\n")
    print(f"{len(found)} differences in {len(files(given.before))} files")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
