"""The papers that studies may name: config/papers.yaml, and papers.yaml in folders of a user's own."""

import copy
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hierlearn.core import folders
from hierlearn.plan.faults import Fault
from hierlearn.plan.load import load
from hierlearn.plan.violations import schema, schema_faults

FILE = "papers.yaml"
PROJECT = folders.PACKAGE.parents[1] / "config"
_project = [PROJECT]


def known() -> dict[str, dict[str, Any]]:
    """What is said of every paper, by key; of files with faults, what can be read."""
    return {key: paper for at in _places() for key, paper in _read(at, _state(at))[0].items()}


def faults() -> Iterator[Fault]:
    """The faults of all files of papers, and keys that two of them have."""
    owners: dict[str, str] = {}
    for at in _places():
        papers, found = _read(at, _state(at))
        yield from found
        for key in papers:
            first = owners.setdefault(key, _shown(at))
            if first != _shown(at):
                yield Fault(_shown(at), (key,), f"a paper that {first} has too", "a key of its own")


def schema_of(name: str) -> dict[str, Any]:
    """The schema of a study or of published numbers, with the papers that either may name."""
    return _schema_of(name, tuple(known()))


@functools.cache
def _schema_of(name: str, keys: tuple[str, ...]) -> dict[str, Any]:
    against = copy.deepcopy(schema(name))
    against["properties"]["paper"] |= {"enum": list(keys)}
    del against["properties"]["paper"]["type"]
    return against


def said() -> dict[str, dict[str, str]]:
    """What the page says of every paper: its name, its citation and where it can be read."""
    return {
        key: {"name": paper.get("name", key), "citation": cited(paper), "link": paper.get("link", "")}
        for key, paper in known().items()
    }


def cited(paper: dict[str, Any]) -> str:
    """A paper's citation, one line."""
    title = paper["title"] if paper["title"].endswith(("?", "!")) else f"{paper['title']}."
    return f"{paper['authors']}. {title} {paper.get('venue', paper['year'])}"


def folders_of_a_run() -> tuple[Path, ...]:
    """The folders that hold studies, papers and published numbers: the project's, then those of a user's own."""
    return (_project[0], *folders.own())


def use(folder: Path) -> None:
    """Takes a folder as the project's, where it holds papers: the package may be installed without one."""
    _project[0] = folder if (folder / FILE).is_file() else PROJECT


def _places() -> list[Path]:
    return [file for folder in folders_of_a_run() if (file := folder / FILE).is_file()]


def _shown(file: Path) -> str:
    if file.parent == _project[0]:
        return f"config/{FILE}"
    return (file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file).as_posix()


def _state(file: Path) -> tuple[int, int]:
    return file.stat().st_mtime_ns, file.stat().st_size


@functools.cache
def _read(file: Path, state: tuple[int, int]) -> tuple[dict[str, dict[str, Any]], list[Fault]]:
    """The papers of a file at a state of it."""
    content, found = load(file, _shown(file))
    if found:
        return {}, found
    found = list(schema_faults(_shown(file), content, schema("papers")))
    return ({} if found or not isinstance(content, dict) else content), sorted(set(found))
