"""The papers that studies may name: config/papers.yaml, and papers.yaml in folders of a user's own; and the numbers
that they published: published/<paper>.yaml beside it."""

import copy
import functools
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hierlearn.core import folders
from hierlearn.core.words import nearest, show
from hierlearn.pipeline.files.errors import Fault
from hierlearn.pipeline.files.errors import Path as Place
from hierlearn.pipeline.files.load import load
from hierlearn.pipeline.files.published import ROW_KEYS
from hierlearn.pipeline.files.schema_errors import schema, schema_faults

FILE = "papers.yaml"
PROJECT = folders.PACKAGE.parents[1] / "config"
# The paper of a question, and of a study that names none.
YOURS = "yours"
NONE = {"name": "Your own", "title": "A study of your own", "authors": "You", "year": "no paper"}
_project = [PROJECT]


def known() -> dict[str, dict[str, Any]]:
    """What is said of every paper, by key; of files with faults, what can be read."""
    return {key: paper for at in _places() for key, paper in _read(at, _state(at))[0].items()}


def faults(taken: Collection[str] = ()) -> Iterator[Fault]:
    """The faults of all files of papers, keys that two of them have, and those that are taken: a paper is a target."""
    owners: dict[str, str] = {}
    for at in _places():
        papers, found = _read(at, _state(at))
        yield from found
        for key in papers:
            if key in taken:
                yield Fault(_shown(at), (key,), "the name of a rule", "another key")
            first = owners.setdefault(key, _shown(at))
            if first != _shown(at):
                yield Fault(_shown(at), (key,), f"a paper that {first} has too", "a key of its own")


def schema_of(name: str) -> dict[str, Any]:
    """The schema of a study or of published numbers, with the papers that either may name."""
    unpublished = [YOURS] if name == "study" else []
    return _schema_of(name, tuple(dict.fromkeys([*known(), *unpublished])))


@functools.cache
def _schema_of(name: str, keys: tuple[str, ...]) -> dict[str, Any]:
    against = copy.deepcopy(schema(name))
    against["properties"]["paper"] |= {"enum": list(keys)}
    del against["properties"]["paper"]["type"]
    return against


def of_study(file: Path) -> str | None:
    """The paper that a study's file names, as its line says; the rest of the file is not read."""
    text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    named = re.search(r"^paper *: *[\"']?([^\s\"'#]+)", text, re.MULTILINE)
    return named and named[1]


def hypotheses(paper: str) -> dict[str, dict[str, Any]]:
    """The hypotheses of a paper that rows break, by id."""
    return known().get(paper, {}).get("hypotheses", {})


def places(paper: str) -> dict[str, dict[str, Any]]:
    """The places of a paper whose hypotheses are listed, by name."""
    return known().get(paper, {}).get("places", {})


def is_computed(hypothesis: Mapping[str, Any]) -> bool:
    """Whether what runs says if a hypothesis holds; else a claim has to declare it."""
    return "when" in hypothesis or "least" in hypothesis


def sentence(hypothesis: Mapping[str, Any], **values: str) -> str:
    """What a row says of a hypothesis that it breaks. values: of the placeholders, that of `needs` as it stands."""
    said = hypothesis["says"]
    for name, value in ({"needs": str(hypothesis.get("needs", "{needs}"))} | values).items():
        said = said.replace(f"{{{name}}}", value)
    return said


def said(used: Iterable[str] = ()) -> dict[str, dict[str, str]]:
    """What the page says of every paper: its name, its citation, its entry in BibTeX and where it can be read. used: by
    the studies, some of which may have none."""
    unpublished = {YOURS: NONE} if YOURS in used else {}
    return {
        key: {
            "name": paper.get("name", key),
            "citation": cited(paper),
            "link": paper.get("link", ""),
            "bibtex": "" if key in unpublished else _entry(key, paper),
        }
        for key, paper in (unpublished | known()).items()
    }


def bibtex(keys: Collection[str]) -> str:
    """The entries of papers in BibTeX, in the order of the page."""
    return "".join(_entry(key, paper) for key, paper in known().items() if key in keys)


def _entry(key: str, paper: Mapping[str, Any]) -> str:
    fields = {
        "title": f"{{{paper['title']}}}",
        "author": " and ".join(paper["authors"].split(", ")),
        "year": str(paper["year"]),
        "booktitle": paper.get("venue", ""),
        "url": paper.get("link", ""),
    }
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
    kind = "inproceedings" if "venue" in paper else "misc"
    return f"@{kind}{{{key},\n{lines}}}\n"


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
    return [file for folder in folders_of_a_run() if os.path.lexists(file := folder / FILE)]


def _shown(file: Path) -> str:
    if file.parent == _project[0]:
        return f"config/{FILE}"
    return (file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file).as_posix()


def _state(file: Path) -> tuple[int, int]:
    # Of a link that leads nowhere that of the link.
    found = os.stat(file, follow_symlinks=os.path.exists(file))
    return found.st_mtime_ns, found.st_size


@functools.cache
def _read(file: Path, state: tuple[int, int]) -> tuple[dict[str, dict[str, Any]], list[Fault]]:
    """The papers of a file at a state of it."""
    content, found = load(file, _shown(file))
    if found:
        return {}, found
    found = list(schema_faults(_shown(file), content, schema("papers")))
    return ({} if found or not isinstance(content, dict) else content), sorted(set(found))


def numbers(paper: Any, folder: Path) -> dict[str, Any] | None:
    """The published tables of a paper by name, beside the studies of a folder or of another that the run knows.

    None for what is no paper, and where the file has faults.
    """
    if not isinstance(paper, str) or paper not in known():
        return None
    places = [one / "published" / f"{paper}.yaml" for one in (folder, *folders_of_a_run())]
    file = next((place for place in places if place.exists()), places[0])
    return tables(file, file.name)[0]


def tables(file: Path, name: str) -> tuple[dict[str, Any] | None, list[Fault]]:
    """The tables of a file by name, none where there is no file, and the faults of the file; None where it has any.

    name: what messages call the file.
    """
    return _tables(file, name, _state(file)) if file.exists() else ({}, [])


@functools.cache
def _tables(file: Path, name: str, state: tuple[int, int]) -> tuple[dict[str, Any] | None, list[Fault]]:
    """The same at a state of the file: every study of a paper asks for it."""
    content, faults = load(file, name)
    if faults:
        return None, faults
    if faults := list(schema_faults(name, content, schema_of("published"))):
        return None, sorted(set(faults))
    if content["paper"] != file.stem:
        faults.append(Fault(name, ("paper",), show(content["paper"]), f"{file.stem}, after which the file is called"))
    for key, table in content["tables"].items():
        faults += [Fault(name, *fault) for fault in _rows(("tables", key, "rows"), table)]
    return (None if faults else content["tables"]), sorted(set(faults))


def _rows(at: Place, table: Mapping[str, Any]) -> Iterator[tuple[Place, str, str]]:
    """What a schema cannot see: coordinates that the table does not have, ranges upside down, places named twice."""
    seen: dict[str, int] = {}
    for i, row in enumerate(table["rows"]):
        for key in row:
            if key not in table["coordinates"] and key not in ROW_KEYS:
                yield (*at, i, key), "an unknown coordinate", nearest(key, [*table["coordinates"], *ROW_KEYS])
        here = {axis: row[axis] for axis in table["coordinates"] if axis in row}
        for j, axis in enumerate(row.get("inferred", [])):
            if axis not in here:
                yield (*at, i, "inferred", j), show(axis), nearest(axis, here)
        if "low" in row and row["low"] > row["high"]:
            yield (*at, i), f"low {row['low']} above high {row['high']}", "low <= high"
        first = seen.setdefault(repr(here), i)
        if first != i:
            yield (*at, i), f"the coordinates of rows[{first}] again", "every place once"
