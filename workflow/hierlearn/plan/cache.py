"""What was found of sound studies, kept for the next time that the workflow is read.

To check all of them, and to say of every job what it is and needs, takes longer than Snakemake does.

An entry counts only where all that it rests on is the same, byte for byte: the study file, the published numbers, the
papers, the registered designs and earlier verdicts, the settings, the whole package, Python, and the versions of what
is installed. On components in folders of a user's own rest only the studies that name one: a new one leaves all others
as they are. A file that is damaged, of another state, or that others may have written is as none.
"""

import importlib
import math
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, is_dataclass
from pathlib import Path
from typing import Any

from hierlearn.core import registry
from hierlearn.core.folders import ROOMS, own
from hierlearn.core.protocols import Component
from hierlearn.core.provenance import PACKAGE, canonical
from hierlearn.files import pickles
from hierlearn.files.checksums import digest
from hierlearn.plan.draws import Draw
from hierlearn.plan.jobs import SCRIPTS, components_of
from hierlearn.plan.papers import FILE as PAPERS
from hierlearn.plan.resources import Request
from hierlearn.plan.study import Study

# A rule, a study and further words that tell a job from others.
Job = tuple[str, ...]
# The settings that a study, its draw and its faults hang on.
ASKED = ("preset", "memory_limit_mb", "pilot", "replicate", "own")
# More is in no file that a person wrote, see plan/load.py.
BYTES = 1_000_000
# Of group and others, to write.
OTHERS = 0o022
# A file that nothing but the name of a component leads to, and rooms that checks of any study ask for all they hold.
COMPONENT, OF_ALL = re.compile(r"[a-z][a-z0-9_]*\.py"), ("probes", "experiments")
# Where YAML writes a name in other letters, or in two lines.
ESCAPE = re.compile(rb"\\([xuU][0-9a-fA-F]|\r?\n)")


@dataclass(frozen=True)
class Entry:
    """A study without faults, whose designs are those that are registered, if any are.

    source: the hash of its file; doubts: the warnings about it; jobs: their parameters and the hash of their code;
    requests: what they ask for.
    """

    source: str
    study: Study
    doubts: tuple[str, ...]
    jobs: Mapping[Job, tuple[dict[str, Any], str]]
    requests: Mapping[Job, Request]

    @property
    def reads_outside(self) -> bool:
        """Whether a component of it looked at files that are none of the project's."""
        named = {component for parameters, _ in self.jobs.values() for component in components_of(parameters)}
        return any(registry.implementation(*one).absences is not Component.absences for one in named)


@dataclass(frozen=True)
class Cache:
    """What counts of what was kept, by the names of studies. file: where it lies, None where nothing is kept; sources:
    the hashes of all study files, with the components of a user's own if they name any; state: that of what all entries
    rest on; left_out: the hash and the claims of sound studies that runs left out."""

    file: Path | None = None
    state: str = ""
    sources: Mapping[str, str | None] = field(default_factory=dict)
    entries: Mapping[str, Entry] = field(default_factory=dict)
    left_out: Mapping[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)

    def write(self, entries: Mapping[str, Entry], left_out: Mapping[str, tuple[str, ...]]) -> None:
        """Keep some entries beside those that count, and the claims of studies that are left out, all at once."""
        others = {**self.left_out, **{name: (self.sources[name], claims) for name, claims in left_out.items()}}
        content = pickles.dumps((self.state, {**self.entries, **entries}, others))
        self.file.parent.mkdir(exist_ok=True)
        part = self.file.with_suffix(".part")
        part.unlink(missing_ok=True)
        part.touch(mode=0o600)
        part.write_bytes(digest(content).encode() + content)
        os.replace(part, self.file)


def read(folder: Path, settings: Mapping[str, Any], studies: Mapping[str, Path], beside: Sequence[Path]) -> Cache:
    """What runs with these settings kept in a folder. studies: the files by name; beside: where their folders lie, the
    project's first."""
    file = folder / f"plan-{Draw.of(settings).folder(settings['preset'])}.pickle"
    components = _components(beside)
    state, sources = _state(settings, beside, components), _sources(studies, components)
    entries, left_out = {}, {}
    # None, or whole and of a workflow with other classes.
    with suppress(Exception):
        kept = _of_own(file)
        if kept[:64] == digest(kept[64:]).encode():
            state_then, *found = pickles.loads(kept[64:], part_of_a_plan)
            entries, left_out = found if state_then == state else ({}, {})
    sound = {name: one for name, one in entries.items() if one.source == sources.get(name)}
    others = {name: one for name, one in left_out.items() if one[0] == sources.get(name)}
    return Cache(file, state, sources, sound, others)


def _of_own(file: Path) -> bytes:
    """A file that nobody but the user can have written. Raises OSError for others."""
    with file.open("rb") as stream:
        found = os.fstat(stream.fileno())
        if os.name == "posix" and (found.st_uid != os.getuid() or found.st_mode & OTHERS):
            raise PermissionError(f"{file}: others may have written it")
        return stream.read()


def part_of_a_plan(module: str, name: str) -> type:
    """The parts of a plan. Raises ValueError for anything else that a file names."""
    found = vars(importlib.import_module(module)).get(name) if module.startswith("hierlearn.plan.") else None
    if not isinstance(found, type) or not is_dataclass(found) or found.__module__ != module:
        raise ValueError(f"{module}.{name} in a kept plan")
    return found


def _line(file: Path, name: str) -> str:
    """A file by a name, with the hash of its content; None for what cannot be read."""
    content = _content(file)
    return f"{name} {None if content is None else digest(content)}"


def _content(file: Path, most: float = math.inf) -> bytes | None:
    """The bytes of a file; None for what cannot be read, and for more than so many."""
    try:
        return file.read_bytes() if file.is_file() and file.stat().st_size <= most else None
    except OSError:
        return None


def _components(beside: Sequence[Path]) -> list[Path]:
    """The components of a user's own that a study rests on only if it names them."""
    rooms = [config / room for config in beside if config in own() for room in ROOMS if room not in OF_ALL]
    return [file for room in rooms for file in sorted(room.glob("*.py")) if COMPONENT.fullmatch(file.name)]


def _sources(studies: Mapping[str, Path], components: Sequence[Path]) -> dict[str, str | None]:
    """The hashes of study files, together with that of all components of a user's own where a file names one at all."""
    lines = [_line(file, f"{file.parent.name}/{file.name}") for file in components]
    named = re.compile(rf"\b({'|'.join(file.stem for file in components)})\b".encode())
    found: dict[str, str | None] = {}
    for name, path in studies.items():
        text = _content(path, BYTES)
        found[name] = None if text is None else digest(text)
        if text is not None and lines and (named.search(text) or ESCAPE.search(text)):
            found[name] = digest("\n".join([found[name], *lines]).encode())
    return found


def _state(settings: Mapping[str, Any], beside: Sequence[Path], apart: Sequence[Path]) -> str:
    """The hash of what every entry rests on beside its own file. apart: files that not all of them rest on."""
    lines = [canonical({key: settings.get(key) for key in ASKED}), sys.version, *_installed()]
    rooms = [config / name for config in beside for name in ("published", *(ROOMS if config in own() else ()))]
    for folder in (PACKAGE, SCRIPTS, *rooms):
        files = [file for file in _files(folder) if file not in apart]
        lines += [_line(file, f"{folder.name} {file.relative_to(folder)}") for file in files]
    for config in beside:
        lines += [_line(file, file.name) for file in sorted([*config.glob("*.csv"), *config.glob(PAPERS)])]
    return digest("\n".join(lines).encode())


def _files(folder: Path) -> Iterator[Path]:
    """All files below a folder but those that Python writes."""
    for at, below, names in os.walk(folder):
        below[:] = sorted(set(below) - {"__pycache__"})
        yield from (Path(at, name) for name in sorted(names))


def _installed() -> list[str]:
    """Names and versions of all that can be imported, as the folders are called that describe it."""
    folders = {folder for folder in sys.path if os.path.isdir(folder)}
    names = {name for folder in folders for name in os.listdir(folder)}
    return sorted(name for name in names if name.endswith((".dist-info", ".egg-info")))
