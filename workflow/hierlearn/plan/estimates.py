"""What a preset costs before it runs: seconds, cores and memory of every job, from the operations that it counts.

A component counts the operations of the worst case. How many of them a core gets through in a second is a rate of its
own; it includes those that a walk up the sizes leaves out as it ends early. `benchmarks/rates.py` fits the rates to all
jobs of a preset. Another machine has another pace: what a run of quick took there over its estimate.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from hierlearn.plan import targets
from hierlearn.plan.cluster import Requests
from hierlearn.plan.resources import Request
from hierlearn.plan.study import Study

# Seconds of a finished run below which it says nothing about the machine.
LEAST = 60.0
# The last line of a job's log.
SPENT = re.compile(r"([0-9.]+) s of CPU")
# Seconds of a job that computes nothing, without what Snakemake spends on it.
START = {
    "generate": 0.4,
    "represent": 0.1,
    "train": 0.3,
    "evaluate": 0.3,
    "probe": 0.5,
    "aggregate": 0.1,
    "judge": 0.2,
    "figure": 1.0,
    "ledger": 0.5,
}
# Core-seconds that Snakemake and the start of a job's process take beside it; seconds until the first job computes.
OVERHEAD, FIRST = 0.15, 3.0
# Operations per second by rule and component, fitted to quick and to standard: small jobs are slower.
# `walk` where a learner ends at its last crossing.
RATES = {
    "quick": {
        "evaluate": 9.0e10,
        "evaluate walk": 7.6e10,
        "probe alternating_squares": 2.1e08,
        "probe assumption2": 1.3e07,
        "probe assumption2_laws": 4.8e05,
        "probe coupling": 1.6e10,
        "probe deterministic_equivalent": 1.7e10,
        "probe distribution": 2.2e10,
        "probe expressivity": 1.2e10,
        "probe feature_pictures": 4.0e10,
        "probe generalisation_gap": 4.3e10,
        "probe how_deep": 5.7e10,
        "probe landscape": 3.2e08,
        "probe marginal_accuracy": 1.9e09,
        "probe network_gap": 1.3e10,
        "probe operator_norm": 1.6e08,
        "probe parity_network": 6.0e07,
        "probe penalty_norms": 5.7e09,
        "probe rademacher": 5.3e09,
        "probe randomised_landscape": 3.2e09,
        "probe randomised_stationary_points": 5.9e08,
        "probe representation_norm": 9.6e09,
        "probe side_by_side": 2.0e10,
        "probe stationary_points": 5.1e08,
        "probe tracking": 9.8e08,
        "represent neural": 6.5e10,
        "represent two_layer": 6.5e10,
        "train convolutional": 4.6e10,
        "train convolutional walk": 6.3e09,
        "train densenet": 1.5e10,
        "train densenet walk": 4.6e08,
        "train distilled_densenet": 1.2e10,
        "train kernel_ridge": 8.9e10,
        "train kernel_ridge walk": 2.1e12,
        "train kernel_rounds": 1.5e11,
        "train kernel_rounds walk": 4.6e13,
        "train linear": 3.5e10,
        "train network": 4.4e10,
        "train network walk": 3.3e10,
        "train network_kernel": 1.8e11,
        "train polynomial_network": 3.4e10,
        "train randomised": 2.0e10,
        "train randomised walk": 6.2e10,
        "train reweighted walk": 1.1e12,
        "train tangent_rows walk": 5.0e11,
        "train taylor": 3.1e11,
        "train taylor walk": 8.7e11,
    },
    "standard": {
        "evaluate": 7.9e11,
        "evaluate walk": 6.4e10,
        "probe alternating_squares": 1.6e08,
        "probe assumption2": 2.2e06,
        "probe assumption2_laws": 2.9e05,
        "probe coupling": 4.4e09,
        "probe deterministic_equivalent": 1.3e10,
        "probe distribution": 4.9e09,
        "probe expressivity": 2.0e09,
        "probe feature_pictures": 7.4e10,
        "probe generalisation_gap": 1.1e10,
        "probe how_deep": 6.4e10,
        "probe landscape": 3.8e08,
        "probe marginal_accuracy": 5.2e08,
        "probe network_gap": 5.8e09,
        "probe operator_norm": 3.0e07,
        "probe parity_network": 4.4e07,
        "probe penalty_norms": 3.5e09,
        "probe rademacher": 6.4e08,
        "probe randomised_landscape": 4.4e08,
        "probe randomised_stationary_points": 4.1e08,
        "probe representation_norm": 1.9e09,
        "probe side_by_side": 5.8e10,
        "probe stationary_points": 2.6e08,
        "probe tracking": 2.8e08,
        "represent neural": 6.4e10,
        "represent two_layer": 5.8e10,
        "train convolutional": 4.3e10,
        "train convolutional walk": 1.3e10,
        "train densenet": 3.5e10,
        "train densenet walk": 9.5e08,
        "train distilled_densenet": 2.3e10,
        "train kernel_ridge": 1.6e11,
        "train kernel_ridge walk": 1.6e12,
        "train kernel_rounds": 1.7e11,
        "train kernel_rounds walk": 2.2e13,
        "train linear": 3.0e10,
        "train network": 5.2e10,
        "train network walk": 5.8e10,
        "train network_kernel": 4.2e11,
        "train polynomial_network": 4.2e10,
        "train randomised": 1.7e10,
        "train randomised walk": 1.6e11,
        "train reweighted walk": 1.1e12,
        "train tangent_rows walk": 1.4e11,
        "train taylor": 3.8e11,
        "train taylor walk": 1.2e12,
    },
}
# Presets whose jobs have the rates of quick.
SMALL = ("smoke", "quick")
# Rules whose jobs are told apart by the last of their words.
NAMED = ("represent", "train", "probe")
# By how much the estimates were off, by jobs of more than 3 s and by studies.
FITTED = (
    "Estimates of quick were fitted to a run of quick: jobs of more than 3 s were off by a factor of 1.3 in the median "
    "and 3.9 in nine of ten, studies by 1.2 and 1.8. Those of larger presets were fitted to standard: jobs were off by "
    "1.5 to 2.6 and 5.3, studies by 1.4 and 2.9. They count the worst case: how far a search goes is found as it runs."
)


@dataclass(frozen=True)
class Job:
    """A job of a study. log: its log's path below those of the study, without suffix; kind: a key of the rates of its
    preset."""

    study: str
    rule: str
    log: str
    kind: str
    request: Request
    preset: str = "standard"

    @property
    def task(self) -> str:
        """The task that it belongs to, "" for a job of the whole study."""
        return self.log.rpartition("/")[0]

    @property
    def seconds(self) -> float:
        """Estimated seconds on its cores, on the machine of the rates."""
        work = self.request.operations / rate(self.kind, self.preset) if self.request.operations else 0.0
        return START[self.rule] + work

    @property
    def core_seconds(self) -> float:
        return self.request.cores * self.seconds


def rate(kind: str, preset: str) -> float:
    """Operations per second of a kind of job; of one that was never measured that of its component, or of its rule."""
    rates = RATES["quick" if preset in SMALL else "standard"]
    if kind in rates:
        return rates[kind]
    shorter = kind.removesuffix(" walk")
    return rates.get(shorter) or median(value for known, value in rates.items() if known.split()[0] == kind.split()[0])


def jobs_of(study: Study, requests: Requests | None = None) -> Iterator[Job]:
    """Every job of a study. requests: what jobs need, where that is known already."""
    requests = requests or Requests({study.name: study})
    for rule, name, *words in targets.jobs_of(study):
        needs = requests.needs(rule, name, *words)
        yield Job(name, rule, log_name(rule, words), _kind(study, rule, words), needs, study.preset)


def log_name(rule: str, words: Sequence[str]) -> str:
    """What the log of a job is called below its study's. words: what tells it from others of its rule."""
    return f"{'/'.join(words)}.{rule}" if rule in NAMED else "/".join([*words, rule])


def _kind(study: Study, rule: str, words: Sequence[str]) -> str:
    """The kind of a job, by its component and by whether a learner of it walks up the sizes."""
    if rule == "represent":
        return f"represent {study.representations[words[-1]]['name']}"
    if rule == "probe":
        return f"probe {study.probes[words[0]].component['name']}"
    if rule not in ("train", "evaluate"):
        return rule
    learners = study.learners_in(study.tasks[words[0]]) if rule == "evaluate" else words[-1:]
    walks = study.samples.thresholds and any("at" not in study.learners[name].samples for name in learners)
    component = f" {study.learners[words[-1]].component['name']}" if rule == "train" else ""
    return f"{rule}{component}{' walk' if walks else ''}"


def measured(job: Job, results: Path) -> float | None:
    """Seconds on its cores that a job took when it ran last, from the CPU seconds in its log, which other work on the
    machine hardly changes; None if it did not run."""
    try:
        log = results / "logs" / job.study / f"{job.log}.log"
        found = SPENT.findall(log.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None
    return float(found[-1]) / job.request.cores if found else None


def pace(studies: Iterable[Study], results: Path) -> float | None:
    """What the jobs of a run took over what is estimated for them; None where too little ran to tell."""
    pairs = _ran((job for study in studies for job in jobs_of(study)), results)
    spent = sum(seconds * job.request.cores for job, seconds in pairs)
    return spent / sum(job.core_seconds for job, _ in pairs) if spent >= LEAST else None


def table(studies: Iterable[Study], results: Path, scale: float = 1.0) -> Iterator[str]:
    """Lines on core-hours, memory and the longest job, by study and in all; and by how much the estimates err where
    jobs have run. scale: the pace of the machine that they are for."""
    jobs = {study.name: list(jobs_of(study)) for study in studies}
    everything = [job for own in jobs.values() for job in own]
    width = max(map(len, [*jobs, "study", "all"]))
    yield f"{'study':<{width}}  {'jobs':>6}  {'core-hours':>10}  {'memory':>9}  {'longest job':>11}"
    for name, own in [*jobs.items(), ("all", everything)]:
        longest = max(own, key=lambda job: job.seconds)
        hours = scale * sum(job.core_seconds for job in own) / 3600
        memory = f"{max(job.request.mem_mb for job in own) / 1000:.1f} GB"
        told = f"{scale * longest.seconds / 3600:.3g} h"
        where = f"{longest.study}: {longest.log}" if name == "all" else longest.log
        where += f" on {longest.request.cores} cores" if longest.request.cores > 1 else ""
        yield f"{name:<{width}}  {len(own):>6}  {hours:>10.3g}  {memory:>9}  {told:>11}  {where}"
    yield from _errors(everything, results, scale)


def _ran(jobs: Iterable[Job], results: Path) -> list[tuple[Job, float]]:
    """The jobs that ran, with their seconds."""
    return [(job, seconds) for job in jobs if (seconds := measured(job, results))]


def _errors(jobs: Iterable[Job], results: Path, scale: float) -> Iterator[str]:
    """By which factors estimates were off in a folder of results."""
    pairs = _ran(jobs, results)
    if not pairs:
        yield FITTED
        return
    spent, estimate = sum(seconds for _, seconds in pairs), scale * sum(job.seconds for job, _ in pairs)
    yield f"{len(pairs)} of these jobs ran in {results}: {spent:.0f} s, estimated {estimate:.0f} s."
    long = [(job, seconds) for job, seconds in pairs if seconds > 3]
    if long:
        off = sorted(math.exp(abs(math.log(scale * job.seconds / seconds))) for job, seconds in long)
        worst, seconds = max(long, key=lambda pair: abs(math.log(scale * pair[0].seconds / pair[1])))
        yield (
            f"Of the {len(long)} that took more than 3 s, estimates were off by a factor of {median(off):.2g} in the "
            f"median and {off[int(0.9 * len(off))]:.2g} in nine of ten; most for {worst.study}/{worst.log}, "
            f"{seconds:.0f} s and not {scale * worst.seconds:.0f} s."
        )
