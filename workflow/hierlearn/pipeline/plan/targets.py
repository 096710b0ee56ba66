"""The files of a run by their names: what every rule makes, and what a target asks for."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from hierlearn.pipeline.plan.replicates import Draw
from hierlearn.pipeline.plan.study import Study

# What every rule makes below the results; {} are the words that tell a job from others of its rule.
FILES = {
    "generate": ("{}/{}/data.nc",),
    "represent": ("{}/{}/{}.representation.nc",),
    "train": ("{}/{}/{}.model.nc",),
    "evaluate": ("{}/{}/scores.nc", "{}/{}/traces.nc"),
    "probe": ("{}/{}.probe.nc",),
    "aggregate": ("{}/scores.nc", "{}/traces.nc"),
    "figure": ("{}/figure.svg", "{}/figure.pdf", "{}/figure.png"),
    "judge": ("{}/claims.json", "{}/judged.nc"),
    "page": ("{}/index.html",),
    "ledger": ("claims.nc", "claims.csv", "index.html"),
}
# What is made when it is asked for by the name of its rule, contact_sheet.
SHEETS = ("figures.png", "figures-dark.png")


def jobs_of(study: Study) -> list[tuple[str, ...]]:
    """The rule of every job of a study and the words that tell it from others of its rule, the study's name first."""
    of_study = [("judge",), ("figure",), *([("aggregate",)] if study.learners else [])]
    of_parts = [job for job in study.jobs if job[0] == "probe" or study.learners]
    return [(rule, study.name, *words) for rule, *words in (*of_study, *of_parts)]


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
            for name in names if rule != "ledger" or self.is_whole else ():
                if found := re.fullmatch(re.escape(name).replace(r"\{\}", "([^/]+)"), below):
                    return rule, *found.groups()
        return None

    @cached_property
    def all_files(self) -> frozenset[str]:
        """All files that jobs of this run may make, those that no run leaves too."""
        jobs = [job for study in self.studies.values() for job in jobs_of(study)]
        made = [self.file(name.format(*words)) for rule, *words in jobs for name in FILES[rule]]
        return frozenset([*made, *self.pages_of(self.studies), *self.ledger, *map(self.file, SHEETS)])

    @property
    def is_whole(self) -> bool:
        """Whether the settings name no studies: only a run of all of them may write the files of all."""
        return not self.settings.get("studies")

    @property
    def ledger(self) -> list[str]:
        """The files of all studies together; none where the settings name some."""
        return [self.file(name) for name in FILES["ledger"]] if self.is_whole else []

    @property
    def pages(self) -> list[str]:
        """What a run without targets ends with: the files of all studies, or a page of each that the settings name."""
        return self.ledger or self.pages_of(self.studies)

    def pages_of(self, studies: Iterable[str]) -> list[str]:
        """The page of each study."""
        return [self.file(name.format(study)) for study in studies for name in FILES["page"]]

    def files_of(self, studies: Iterable[str]) -> list[str]:
        """All files that a run leaves of some studies.

        They are asked for one by one: Snakemake does not make again what is missing in the middle of a finished study.
        """
        jobs = [job for study in studies for job in jobs_of(self.studies[study])]
        kept = [job for job in jobs if job[0] != "train" or self.settings["keep_models"]]
        return [self.file(name.format(*words)) for rule, *words in kept for name in FILES[rule]]

    def by_name(self) -> dict[str, list[str]]:
        """Studies by the name of a target: each study by itself, and all of a paper."""
        names = {study: [study] for study in self.studies}
        for name, study in self.studies.items():
            names.setdefault(study.paper, []).append(name)
        return names
