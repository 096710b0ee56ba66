"""What a cluster is asked for, from the sizes of each job; on one machine nothing of this limits anything unless
--resources does."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hierlearn.pipeline.plan import resources
from hierlearn.pipeline.plan.resources import Request
from hierlearn.pipeline.plan.rule_inputs import asked, words
from hierlearn.pipeline.plan.study import Study


@dataclass(frozen=True, eq=False)
class Requests:
    """What rules ask for on behalf of their jobs, as functions of the wildcards."""

    studies: Mapping[str, Study]

    @functools.cache  # noqa: B019
    def needs(self, rule: str, *names: str) -> Request:
        """What a job needs. names: its wildcards."""
        if rule == "ledger":
            return resources.ledger()
        study = self.studies[names[0]]
        return getattr(resources, rule)(study, *study.parts(rule, *names[1:]))

    def memory(self, rule: str) -> Callable[..., int]:
        """Memory of a job in MB; twice as much when it is tried a second time.

        The jobs of a pack run in any order, several at a time: each asks for as much as the largest of its kind.
        """

        def needed(wildcards: Any, attempt: int) -> int:
            packed = wildcards.get("task") and self.tasks_in_a_pack(wildcards.study)
            one = self.largest(rule, wildcards.study) if packed else self.needs(rule, *words(wildcards)).mem_mb
            return attempt * one

        return asked(needed)

    def minutes(self, rule: str) -> Callable[..., int]:
        """Wall time of a job in minutes; twice as much when it is tried a second time."""
        return asked(lambda wildcards, attempt: attempt * self.needs(rule, *words(wildcards)).runtime)

    def cores(self, rule: str) -> Callable[..., int]:
        """The threads that a job computes with: as many wherever it runs, for its bytes hang on them."""
        return asked(lambda wildcards: self.needs(rule, *words(wildcards)).cores)

    def gpus(self, rule: str) -> Callable[..., int]:
        """The GPUs of a job."""
        return asked(lambda wildcards: self.needs(rule, *words(wildcards)).gpus)

    @asked
    def pack(self, wildcards: Any) -> str | None:
        """The group of a task's jobs in a study that is submitted in packs; profiles/slurm joins so many tasks."""
        tasks = self.tasks_in_a_pack(wildcards.study)
        return f"tasks{tasks}" if tasks else None

    @functools.cache  # noqa: B019
    def tasks_in_a_pack(self, name: str) -> int:
        """How many tasks of a study are submitted together; 0: every job on its own."""
        return resources.pack(self.studies[name])

    @functools.cache  # noqa: B019
    def largest(self, rule: str, name: str) -> int:
        """The memory of a study's largest job of a rule, in MB."""
        return max(self.needs(rule, name, *words).mem_mb for one, *words in self.studies[name].jobs if one == rule)
