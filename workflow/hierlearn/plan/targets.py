"""The files of a run by their names: what every rule makes, and what a target asks for."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hierlearn.plan.draws import Draw
from hierlearn.plan.study import Study

# What every rule makes below the results; {} are the words that tell a job from others of its rule.
FILES = {
    "generate": ("{}/{}/data.nc",),
    "represent": ("{}/{}/{}.representation.nc",),
    "train": ("{}/{}/{}.model.nc",),
    "evaluate": ("{}/{}/scores.nc", "{}/{}/traces.nc"),
    "probe": ("{}/{}.probe.nc",),
    "aggregate": ("{}/scores.nc", "{}/traces.nc"),
    "figure": ("{}/figure.svg", "{}/figure.pdf", "{}/figure.png"),
    "judge": ("{}/claims.json",),
    "ledger": ("claims.nc", "claims.csv", "index.html"),
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
            below = file.relative_to(self.results).as_posix()
        except ValueError:
            return None
        for rule, names in FILES.items():
            for name in names:
                if found := re.fullmatch(re.escape(name).replace(r"\{\}", "([^/]+)"), below):
                    return rule, *found.groups()
        return None

    @property
    def ledger(self) -> list[str]:
        """The files of all studies together."""
        return [self.file(name) for name in FILES["ledger"]]

    def files_of(self, studies: Iterable[str]) -> list[str]:
        """All files that a run leaves of some studies.

        They are asked for one by one: Snakemake does not make again what is missing in the middle of a finished study.
        """
        jobs = [(rule, study, *words) for study in studies for rule, *words in self._jobs(self.studies[study])]
        return [self.file(name.format(*words)) for rule, *words in jobs for name in FILES[rule]]

    def _jobs(self, study: Study) -> Iterator[tuple[str, ...]]:
        yield from [("judge",), ("figure",), *([("aggregate",)] if study.learners else [])]
        for job in study.jobs:
            if job[0] == "probe" or (study.learners and (job[0] != "train" or self.settings["keep_models"])):
                yield job

    def by_name(self) -> dict[str, list[str]]:
        """Studies by the name of a target: each study by itself, and all of a paper."""
        names = {study: [study] for study in self.studies}
        for name, study in self.studies.items():
            names.setdefault(study.paper, []).append(name)
        return names
