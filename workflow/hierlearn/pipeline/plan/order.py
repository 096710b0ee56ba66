"""The order in which the jobs of a run start, as Snakemake's priorities: a first result of every paper, then the other
studies, the cheapest first.

A study's later jobs go before its earlier ones, so that it is judged as soon as it can be. A job on which much waits
starts before the rest of its study: else the end of the run would wait for it.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any

from hierlearn.pipeline.plan import estimates
from hierlearn.pipeline.plan.estimates import Job
from hierlearn.pipeline.plan.resource_requests import Requests
from hierlearn.pipeline.plan.rule_inputs import asked, words
from hierlearn.pipeline.plan.study import Study

# Of a job's own task or of the whole study, in the order in which one waits for another.
STAGES = {rule: i for i, rule in enumerate(("generate", "represent", "train", "evaluate", "aggregate", "figure"))}
STAGES |= {"probe": STAGES["generate"], "judge": STAGES["figure"]}
# A job may take so many times its estimate without keeping the end of the run waiting.
MARGIN = 5


class Order:
    """The order of the jobs of some studies. workflow: Snakemake's, which says only once it starts how many of them run
    at a time."""

    def __init__(self, studies: Mapping[str, Study], requests: Requests, workflow: Any):
        self.studies, self.requests, self.workflow = studies, requests, workflow

    def of(self, rule: str) -> Callable[[Any], int]:
        """The priority of a rule's jobs, as a function of their wildcards: how many jobs of all studies come later."""

        def place(wildcards: Any) -> int:
            # A process that runs one job has none to order.
            if not self.workflow.is_main_process:
                return 0
            study, *names = words(wildcards)
            return self.priorities[study, estimates.log_name(rule, names)]

        return asked(place)

    @cached_property
    def priorities(self) -> dict[tuple[str, str], int]:
        """The priority of every job, by its study and its name."""
        jobs = {name: list(estimates.jobs_of(study, self.requests)) for name, study in self.studies.items()}
        last_first = sorted(latest_starts(self._in_order(jobs), at_a_time(self.workflow)), reverse=True)
        return {job: place for place, (*_, job) in enumerate(last_first, 1)}

    def _in_order(self, jobs: Mapping[str, Sequence[Job]]) -> list[Sequence[Job]]:
        """The jobs of each study: first those of one study of every paper, the cheapest that judges a primary claim."""
        costs = {name: sum(job.core_seconds for job in own) for name, own in jobs.items()}
        by_cost = sorted(jobs, key=costs.__getitem__)
        openers = {self.studies[name].paper: name for name in reversed(by_cost) if judges_primary(self.studies[name])}
        return [jobs[name] for name in sorted(by_cost, key=lambda name: name not in openers.values())]


def judges_primary(study: Study) -> bool:
    """Whether a study has a primary claim that is judged."""
    return any(claim.rank == "primary" and claim.rule != "descriptive" for claim in study.claims.values())


def latest_starts(studies: Sequence[Sequence[Job]], parallel: int) -> list[tuple]:
    """When each job is due, in core-seconds of the run; what decides between jobs that are due together; and the job.

    studies: their jobs, in the order in which they are to be judged.
    """
    costs = [sum(job.core_seconds for job in jobs) for jobs in studies]
    found = []
    for jobs, begins in zip(studies, accumulate([0.0, *costs[:-1]]), strict=True):
        for job, chain in zip(jobs, chains(jobs), strict=True):
            due = min(begins, sum(costs) - MARGIN * parallel * chain)
            found.append((due, -STAGES[job.rule], job.rule == "figure", -chain, (job.study, job.log)))
    return found


def chains(jobs: Sequence[Job]) -> list[float]:
    """Estimated seconds from the start of each job of a study to the end of the study, where none waits for a core."""
    longest: dict[tuple[str, int], float] = {}
    for job in jobs:
        place = job.task, STAGES[job.rule]
        longest[place] = max(longest.get(place, 0.0), job.seconds)

    def after(job: Job) -> float:
        later = [place for place in longest if place[0] in ("", job.task) and place[1] > STAGES[job.rule]]
        return sum(longest[place] for place in later)

    return [job.seconds + after(job) for job in jobs]


def at_a_time(workflow: Any) -> int:
    """How many cores, or jobs of a cluster, a run of Snakemake has."""
    cores = workflow.resource_settings.cores if workflow.local_exec else workflow.nodes
    return cores or os.cpu_count() or 1
