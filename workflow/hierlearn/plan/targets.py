"""The files of a run by their names: what every rule makes, and what a target asks for."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hierlearn.plan.draws import Draw
from hierlearn.plan.study import Study

# What makes a file below the results, by its name; the groups are the words that tell the job from others of its rule.
MAKERS = {
    "generate": re.compile(r"([^/]+)/([^/]+)/data\.nc"),
    "represent": re.compile(r"([^/]+)/([^/]+)/([^/]+)\.representation\.nc"),
    "train": re.compile(r"([^/]+)/([^/]+)/([^/]+)\.model\.nc"),
    "evaluate": re.compile(r"([^/]+)/([^/]+)/(?:scores|traces)\.nc"),
    "probe": re.compile(r"([^/]+)/([^/]+)\.probe\.nc"),
    "aggregate": re.compile(r"([^/]+)/(?:scores|traces)\.nc"),
    "figure": re.compile(r"([^/]+)/figure\.(?:svg|pdf|png)"),
    "judge": re.compile(r"([^/]+)/claims\.json"),
    "ledger": re.compile(r"claims\.nc|claims\.csv|index\.html"),
}


@dataclass(frozen=True)
class Targets:
    """The files of the studies of a run. settings: the configuration, with its defaults."""

    settings: Mapping[str, Any]
    studies: Mapping[str, Study]

    @property
    def results(self) -> str:
        """The folder of all of them."""
        return Path(self.settings["results"], Draw.of(self.settings).folder(self.settings["preset"])).as_posix()

    def file(self, *parts: str) -> str:
        """A file below the results."""
        return "/".join([self.results, *parts])

    def job(self, file: Path) -> tuple[str, ...] | None:
        """The rule that makes a file and the words that tell its job from others; None for a file of no rule."""
        try:
            name = file.relative_to(self.results).as_posix()
        except ValueError:
            return None
        for rule, pattern in MAKERS.items():
            if found := pattern.fullmatch(name):
                return rule, *found.groups()
        return None

    @property
    def ledger(self) -> list[str]:
        """The files of all studies together."""
        return [self.file(name) for name in ("claims.nc", "claims.csv", "index.html")]

    def files_of(self, studies: Iterable[str]) -> list[str]:
        """All files that a run leaves of some studies.

        They are asked for one by one: Snakemake does not make again what is missing in the middle of a finished study.
        """
        return [self.file(name, file) for name in studies for file in self._files(self.studies[name])]

    def _files(self, study: Study) -> Iterator[str]:
        yield from ("claims.json", "figure.svg", "figure.pdf", "figure.png")
        yield from (f"{probe}.probe.nc" for probe in study.probes)
        if not study.learners:
            return
        yield from ("scores.nc", "traces.nc")
        for label, task in study.tasks.items():
            models = [f"{name}.model" for name in study.learners_in(task)] if self.settings["keep_models"] else []
            representations = [f"{name}.representation" for name in study.representations_in(task)]
            yield from (f"{label}/{name}.nc" for name in ("data", *representations, *models, "scores", "traces"))

    def by_name(self) -> dict[str, list[str]]:
        """Studies by the name of a target: each study by itself, and all of a paper."""
        names = {study: [study] for study in self.studies}
        for name, study in self.studies.items():
            names.setdefault(study.paper, []).append(name)
        return names
