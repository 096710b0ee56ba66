"""Which studies a run reads: those that its settings name, and of these those that its targets are of."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hierlearn.pipeline.files import papers
from hierlearn.pipeline.plan import folders
from hierlearn.pipeline.plan.targets import Targets


@dataclass(frozen=True)
class Source:
    """The file of a study, in its folder."""

    folder: folders.StudyFolder
    path: Path

    @property
    def shown(self) -> str:
        """What messages call the file."""
        return self.folder.shown(self.path)


def sources(searched: Sequence[folders.StudyFolder]) -> dict[str, Source]:
    """The files of all studies by name; the first folder that has a name is the one that counts."""
    found = {name: Source(one, path) for one in reversed(searched) for name, path in one.studies().items()}
    return {name: found[name] for name in sorted(found)}


def chosen(settings: Mapping[str, Any], sources: Mapping[str, Source], targets: Collection[str]) -> dict[str, Source]:
    """The studies that the settings and the targets ask for; all of the settings where a target is of no study."""
    names = [name for name in sources if name in (settings.get("studies") or sources)]
    known, wanted = {name: sources[name] for name in names}, set()
    for word in targets if settings else ():
        studies = _studies_of(word, settings, known)
        if not studies:
            return known
        wanted.update(studies)
    return {name: source for name, source in known.items() if not wanted or name in wanted}


def _studies_of(word: str, settings: Mapping[str, Any], sources: Mapping[str, Source]) -> list[str]:
    """The studies that a target is of: a study, a paper, or a file of a study; none for all else."""
    job = Targets(settings, {}).job(Path(word))
    if word in papers.known():
        return [name for name, source in sources.items() if papers.of_study(source.path) == word]
    return [name for name in (word, *(job or ())[1:2]) if name in sources]
