"""The folders that a run takes studies from: the project's, and those of a user's own that the configuration names."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hierlearn.core import folders
from hierlearn.core.words import show, similar
from hierlearn.pipeline.claims import history, rivals
from hierlearn.pipeline.files import papers
from hierlearn.pipeline.files.errors import Fault
from hierlearn.pipeline.plan import registration

RIVALS = (rivals.NAME, rivals.MEASURED)
# What a folder of a user's own may hold beside rooms of components; other names in it are nobody's.
PARTS, FILES = ("studies", "published"), (papers.FILE, registration.NAME, history.NAME, *RIVALS)
HELD = (*PARTS, *FILES)
# What is written there, and is no reason to take a folder for one of studies.
WRITTEN = (history.RIVALS,)


@dataclass(frozen=True)
class StudyFolder:
    """A folder of studies, and what lies beside them. name: what messages call it."""

    path: Path
    name: str

    def studies(self) -> dict[str, Path]:
        """Study files by the name of the study."""
        return {file.stem: file for file in folders.files(self.path / "studies", "*.yaml")}

    def shown(self, file: Path) -> str:
        """What messages call a file of the folder."""
        return f"{self.name}/{file.relative_to(self.path).as_posix()}"

    def faults(self) -> Iterator[Fault]:
        """The faults of what lies beside the studies."""
        for file in folders.files(self.path / "studies", "*.yml"):
            yield Fault(self.shown(file), (), "the ending .yml", f"{file.stem}.yaml")
        for read, name in zip((rivals.read, rivals.read_measured), RIVALS, strict=True):
            yield from read(self.path / name, f"{self.name}/{name}")[1]
        for file in folders.files(self.path / "published", "*.yaml"):
            yield from papers.tables(file, self.shown(file))[1]

    def warnings(self) -> Iterator[Fault]:
        """What lies in a user's own folder where nobody looks for it, and may be meant."""
        for one in folders.files(self.path, "*"):
            known = (*PARTS, *folders.ROOMS) if one.is_dir() else (*FILES, *WRITTEN)
            # What an editor leaves beside a file begins with its name.
            if not one.name.startswith(known) and (meant := similar(one.name, known, cutoff=0.75)):
                yield Fault(self.shown(one), (), "a name that nothing is read by", f"{meant[0]}, if that is meant")
        for file in sorted(file for room in folders.ROOMS for file in folders.files(self.path / room, "*.py")):
            if not file.stem.isidentifier():
                yield Fault(self.shown(file), (), "a name that no class can have", "a word, perhaps with underscores")
        for file in folders.files(self.path / "studies", "*/**/*.yaml"):
            yield Fault(self.shown(file), (), "a study in a folder of its own", f"studies/{file.name}")

    def registered(self) -> tuple[list[registration.Line], list[Fault]]:
        """The lines of its registered.csv and their faults."""
        return registration.read(self.path / registration.NAME, f"{self.name}/{registration.NAME}")

    def verdicts(self) -> tuple[list[history.Verdict], list[Fault]]:
        """The lines of its verdicts.csv and their faults."""
        return history.read(self.path / history.NAME, f"{self.name}/{history.NAME}")


def own(named: Any, described: str, project: Path, parts: Sequence[str]) -> tuple[list[StudyFolder], list[Fault]]:
    """Folders of a user's own, as the key `own` of the configuration names them, and what is wrong with them.

    described: what messages call the configuration; project: its folder, with parts that no other may lie in; what is
    no text, or none, is a fault of the key's form, found elsewhere.
    """
    found, faults = [], []
    names = [named] if isinstance(named, str) else named if isinstance(named, list) else []
    for i, name in enumerate(names):
        if not isinstance(name, str) or not name:
            continue
        at = ("own",) if isinstance(named, str) else ("own", i)
        try:
            path = Path(name).resolve()
        # A loop of links, or what no name of a file has in it.
        except (OSError, RuntimeError, ValueError):
            faults.append(Fault(described, at, f"{show(name)}, which leads nowhere", "a folder"))
            continue
        # Names may be too long to be asked for.
        if not os.path.isdir(path):
            wrong = "where a file is" if os.path.exists(path) else "which is not there"
            faults.append(Fault(described, at, f"{show(name)}, {wrong}", "a folder"))
        elif os.pathsep in str(path):
            faults.append(Fault(described, at, show(name), f"a folder without {os.pathsep} in its path"))
        elif path in (project, *project.parents) or any(project / part in (path, *path.parents) for part in parts):
            faults.append(Fault(described, at, f"{show(name)}, of the project itself", "a folder outside it"))
        elif not any((path / one).exists() for one in (*HELD, *folders.ROOMS)):
            faults.append(
                Fault(described, at, f"{show(name)}, which holds none of them", ", ".join((*HELD, *folders.ROOMS)))
            )
        else:
            found.append(StudyFolder(path, Path(name).as_posix()))
    return found, faults


def named_twice(all_folders: list[StudyFolder]) -> Iterator[Fault]:
    """Studies, and published numbers of a paper, that two folders have."""
    for part in PARTS:
        first: dict[str, str] = {}
        for folder in all_folders:
            for file in folders.files(folder.path / part, "*.yaml"):
                other = first.setdefault(file.name, folder.shown(file))
                if other != folder.shown(file):
                    yield Fault(folder.shown(file), (), f"the name of {other}", "a name of its own")
