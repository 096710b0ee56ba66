"""What the jobs of each rule read, and what tells a job from all others: its parameters, its code, its inputs' jobs.

Snakemake calls these functions with the wildcards of a job.
"""

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hierlearn.core import provenance, registry
from hierlearn.pipeline.files import checksums, papers
from hierlearn.pipeline.plan import jobs, page_context
from hierlearn.pipeline.plan.replicates import FIRST, Draw
from hierlearn.pipeline.plan.study import Study
from hierlearn.pipeline.plan.targets import FILES, Targets, jobs_of

ORDER = ("study", "task", "representation", "learner", "probe")
Asked = Callable[[Any], Any]


def words(wildcards: Any) -> tuple[str, ...]:
    """The wildcards of a job in their order."""
    return tuple(word for word in map(wildcards.get, ORDER) if word)


def asked(function: Asked) -> Asked:
    """A function of a rule with its signature beside it, which Snakemake asks for before each of its calls."""
    function.__signature__ = inspect.signature(function)
    return function


@dataclass(frozen=True, eq=False)
class Inputs:
    """What rules ask about their jobs."""

    targets: Targets

    def parameters(self, rule: str) -> Asked:
        """The parameters of a job."""
        return asked(lambda wildcards: self.job(rule, *words(wildcards))[0])

    def code(self, rule: str) -> Asked:
        """The hash of a job's code."""
        return asked(lambda wildcards: self.job(rule, *words(wildcards))[1])

    @functools.cache  # noqa: B019
    def job(self, rule: str, *names: str) -> tuple[dict[str, Any], str]:
        """Parameters and code of a job; raises LookupError if no study has it."""
        if rule == "ledger":
            studies = self.targets.studies.values()
            before = {claim: text for study in studies for claim, text in study.earlier.items()}
            cited = papers.said({study.paper for study in studies})
            parameters = self._said(self.targets.results) | {"studies": self.page(), "papers": cited}
            outcomes = {claim: word for study in studies for claim, word in page_context.stored(study).items()}
            beside = {"earlier": before, "stored": outcomes, "findings": page_context.findings_of_papers()}
            return parameters | beside, jobs.code("ledger", ())
        study = self.targets.studies[names[0]]
        if rule == "page":
            return self._page(study), jobs.code("page", ())
        return jobs.parameters(study, rule, *names[1:]), jobs.code(rule, jobs.components(study, rule, *names[1:]))

    def modules(self, rules: Iterable[str]) -> list[str]:
        """What the jobs of some rules load: their scripts, and the modules of the package's components that they name.

        Components of a user's own are not among them: one may hold what no two jobs should share, as an open file.
        """
        asked = set(rules)
        studies = self.targets.studies
        wanted = [job for study in studies.values() for job in jobs_of(study) if job[0] in asked]
        # Jobs of a rule that differ in their task alone name the same components.
        alike = {(rule, name, *words[-1:]): (rule, name, *words) for rule, name, *words in wanted}
        told = [jobs.components(studies[name], rule, *words) for rule, name, *words in alike.values()]
        named = {one for components in told for one in components}
        files = [registry.path(kind, name) for kind, name in sorted(named)]
        shipped = [file.relative_to(provenance.PACKAGE) for file in files if provenance.PACKAGE in file.parents]
        scripts = [str(jobs.SCRIPTS / f"{rule}.py") for rule in FILES if rule in asked]
        return scripts + [".".join([provenance.PACKAGE.name, *file.with_suffix("").parts]) for file in shipped]

    @functools.cache  # noqa: B019
    def identity(self, file: str | Path) -> dict[str, str] | None:
        """The identity of the job that makes a file; None if no job of the studies as they are does."""
        job = self.targets.job(Path(file))
        if job is None:
            return None
        try:
            parameters, code = self.job(*job)
        except LookupError:
            return None
        return provenance.identity(code, parameters)

    @asked
    def expected(self, wildcards: Any, input: Iterable[str]) -> dict[str, dict[str, str]]:
        """file -> identity of the job that makes it, of the inputs of a job; nobody reads a figure."""
        return {file: self.identity(file) for file in map(str, input) if not file.endswith(".svg")}

    @asked
    def representation(self, wildcards: Any, learner: str | None = None) -> list[str]:
        """The representation that a learner of a task reads; none for raw inputs."""
        learners = self.targets.studies[wildcards.study].learners
        name = learners[learner or wildcards.learner].representation
        return [] if name == "raw" else [self._of_task(wildcards, f"{name}.representation.nc")]

    @asked
    def representations(self, wildcards: Any) -> dict[str, str | None]:
        """learner -> its representation, None for raw inputs, of all learners of a task."""
        return {name: next(iter(self.representation(wildcards, name)), None) for name in self._learners(wildcards)}

    @asked
    def representation_files(self, wildcards: Any) -> list[str]:
        """The representations that the learners of a task read."""
        return sorted({file for file in self.representations(wildcards).values() if file})

    @asked
    def models(self, wildcards: Any) -> list[str]:
        """The models of all learners of a task."""
        return [self._of_task(wildcards, f"{name}.model.nc") for name in self._learners(wildcards)]

    def of_tasks(self, kind: str) -> Asked:
        """The files of a kind (scores or traces) of all tasks of a study."""
        studies, file = self.targets.studies, self.targets.file
        return asked(lambda given: [file(given.study, task, f"{kind}.nc") for task in studies[given.study].tasks])

    def of_study(self, kind: str) -> Asked:
        """The cube of a kind (scores or traces) of a study; none where a study only probes."""
        studies, file = self.targets.studies, self.targets.file
        return asked(lambda given: [file(given.study, f"{kind}.nc")] if studies[given.study].learners else [])

    @asked
    def probes(self, wildcards: Any) -> list[str]:
        """What the probes and experiments of a study have measured."""
        names = self.targets.studies[wildcards.study].probes
        return [self.targets.file(wildcards.study, f"{name}.probe.nc") for name in names]

    def claims(self, wildcards: Any = None) -> list[str]:
        """The claims that the ledger is built from: all of them, or with `partial` those that a failed run left."""
        files = [self.targets.file(study, "claims.json") for study in self.targets.studies]
        return [file for file in files if not self.targets.settings["partial"] or self._current(file)]

    def figures(self, wildcards: Any = None) -> list[str]:
        """The figures that the page shows."""
        files = [file.replace("claims.json", "figure.svg") for file in self.claims()]
        return [file for file in files if not self.targets.settings["partial"] or Path(file).exists()]

    def pictures(self, wildcards: Any = None) -> list[str]:
        """The figures that a sheet of all of them shows."""
        return [self.targets.file(study, "figure.png") for study in self.targets.studies]

    def second(self, wildcards: Any = None) -> list[str]:
        """The claims of the first replicate, as far as they are there: a second draw of this run's designs."""
        settings = self.targets.settings
        folder = Path(settings["results"], Draw(replicate=1).folder(settings["preset"]))
        files = [folder / study / "claims.json" for study in self.targets.studies]
        return [file.as_posix() for file in files if file.is_file()] if Draw.of(settings) == FIRST else []

    def compared(self, wildcards: Any = None) -> list[str]:
        """The ledger of the run that the page compares this one with, if the configuration names one."""
        return list(filter(None, [self.targets.settings.get("compare", "")]))

    def page(self, wildcards: Any = None) -> dict[str, Mapping[str, Any]]:
        """What the page says of each study: its file's words, and whether its claims are there."""
        present = set(self.claims())
        return {
            name: page_context.of_study(study, self.targets.results)
            | {"present": self.targets.file(name, "claims.json") in present}
            for name, study in self.targets.studies.items()
        }

    def _said(self, folder: str) -> dict[str, Any]:
        """What a page in a folder says of the run."""
        settings = self.targets.settings
        of_run = {"preset": settings["preset"], "note": Draw.of(settings).note(), "folder": self.targets.results}
        return of_run | {"compare": settings.get("compare", ""), "reading": page_context.reading(folder)}

    def _page(self, study: Study) -> dict[str, Any]:
        """What the page of one study says."""
        folder = self.targets.file(study.name)
        words = page_context.of_study(study, folder) | page_context.measured(study) | {"name": study.name}
        citation = {} if study.paper == papers.YOURS else papers.said()[study.paper]
        beside = {"earlier": study.earlier, "stored": page_context.stored(study)}
        return self._said(folder) | {"study": words, "citation": citation} | beside

    @functools.cache  # noqa: B019
    def _current(self, file: str) -> bool:
        """Whether a claims.json is there and rests on the studies and the code as they are."""
        return not checksums.fault(Path(file), self.identity(file))

    def _learners(self, wildcards: Any) -> list[str]:
        study = self.targets.studies[wildcards.study]
        return study.learners_in(study.tasks[wildcards.task])

    def _of_task(self, wildcards: Any, name: str) -> str:
        return self.targets.file(wildcards.study, wildcards.task, name)
