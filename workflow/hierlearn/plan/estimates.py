"""What a preset costs before it runs: seconds, cores and memory of every job, from the operations that it counts.

A component counts the operations of the worst case; how many of them a core gets through in a second, those included
that a walk up the sizes leaves out as it ends early, is a rate of its own, fitted to all jobs of the presets quick and
standard by `benchmarks/rates.py`. Another machine has another pace: what a run of quick took there over its estimate.
"""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from hierlearn.plan import resources
from hierlearn.plan.resources import Request
from hierlearn.plan.study import Study

# Seconds of a finished run below which it says nothing about the machine.
LEAST = 60.0
# The last line of a job's log.
SPENT = re.compile(r"([0-9.]+) s of CPU")
# Seconds of a job that computes nothing.
START = {
    "generate": 0.2,
    "represent": 0.1,
    "train": 0.3,
    "evaluate": 0.25,
    "probe": 0.4,
    "aggregate": 0.1,
    "judge": 0.13,
    "figure": 0.7,
}
# Operations per second by rule and component; `walk` where a learner ends at its last crossing.
RATES = {
    "evaluate": 1.5e12,
    "evaluate walk": 1.2e11,
    "probe alternating_squares": 3.0e08,
    "probe assumption2": 4.1e06,
    "probe assumption2_laws": 5.5e05,
    "probe coupling": 8.3e09,
    "probe deterministic_equivalent": 2.4e10,
    "probe distribution": 9.2e09,
    "probe expressivity": 3.8e09,
    "probe feature_pictures": 1.4e11,
    "probe generalisation_gap": 2.0e10,
    "probe how_deep": 1.2e11,
    "probe landscape": 7.2e08,
    "probe marginal_accuracy": 9.8e08,
    "probe network_gap": 1.1e10,
    "probe operator_norm": 5.6e07,
    "probe parity_network": 8.3e07,
    "probe penalty_norms": 6.6e09,
    "probe rademacher": 1.2e09,
    "probe randomised_landscape": 8.3e08,
    "probe randomised_stationary_points": 7.8e08,
    "probe representation_norm": 3.6e09,
    "probe side_by_side": 1.1e11,
    "probe stationary_points": 5.0e08,
    "probe tracking": 5.3e08,
    "represent neural": 1.2e11,
    "represent two_layer": 1.1e11,
    "train convolutional": 8.2e10,
    "train convolutional walk": 2.5e10,
    "train densenet": 6.6e10,
    "train densenet walk": 1.8e09,
    "train distilled_densenet": 4.4e10,
    "train kernel_ridge": 3.0e11,
    "train kernel_ridge walk": 3.0e12,
    "train kernel_rounds": 3.3e11,
    "train kernel_rounds walk": 4.1e13,
    "train linear": 5.7e10,
    "train network": 9.9e10,
    "train network walk": 1.1e11,
    "train network_kernel": 8.0e11,
    "train polynomial_network": 8.0e10,
    "train randomised": 3.3e10,
    "train randomised walk": 3.0e11,
    "train reweighted walk": 2.1e12,
    "train tangent_rows walk": 2.7e11,
    "train taylor": 7.2e11,
    "train taylor walk": 2.3e12,
}
# By how much the estimates were off, by jobs of more than 3 s and by studies.
FITTED = (
    "The estimates were fitted to jobs of the presets quick and standard; single ones of more than 3 s were off by a "
    "factor of 1.5 to 2.6 in the median and 5.3 in nine of ten, whole studies by 1.3 to 1.4 and 2.9. They count the "
    "worst case: how far a search has to go is found as it runs."
)


@dataclass(frozen=True)
class Job:
    """A job of a study. log: its log's path below those of the study, without suffix; kind: a key of RATES."""

    study: str
    rule: str
    log: str
    kind: str
    request: Request

    @property
    def seconds(self) -> float:
        """Estimated seconds on its cores, on the machine of the rates."""
        work = self.request.operations / rate(self.kind) if self.request.operations else 0.0
        return START[self.rule] + work

    @property
    def core_seconds(self) -> float:
        return self.request.cores * self.seconds


def rate(kind: str) -> float:
    """Operations per second of a kind of job; of one that was never measured that of its component, or of its rule."""
    if kind in RATES:
        return RATES[kind]
    shorter = kind.removesuffix(" walk")
    return RATES.get(shorter) or median(value for known, value in RATES.items() if known.split()[0] == kind.split()[0])


def jobs_of(study: Study) -> Iterator[Job]:
    """Every job of a study."""
    name, walks = study.name, bool(study.samples.thresholds)

    def walk(learners: Iterable[str]) -> str:
        return " walk" if walks and any("at" not in study.learners[one].samples for one in learners) else ""

    for label, task in study.tasks.items() if study.learners else ():
        yield Job(name, "generate", f"{label}/generate", "generate", resources.generate(study, task))
        for one in study.representations_in(task):
            kind, needs = f"represent {study.representations[one]['name']}", resources.represent(study, task, one)
            yield Job(name, "represent", f"{label}/{one}.represent", kind, needs)
        for one in study.learners_in(task):
            kind = f"train {study.learners[one].component['name']}{walk([one])}"
            yield Job(name, "train", f"{label}/{one}.train", kind, resources.train(study, task, one))
        kind = f"evaluate{walk(study.learners_in(task))}"
        yield Job(name, "evaluate", f"{label}/evaluate", kind, resources.evaluate(study, task))
    for one in study.probes:
        kind = f"probe {study.probes[one].component['name']}"
        yield Job(name, "probe", f"{one}.probe", kind, resources.probe(study, one))
    if study.learners:
        yield Job(name, "aggregate", "aggregate", "aggregate", resources.aggregate(study))
    yield Job(name, "judge", "judge", "judge", resources.judge(study))
    yield Job(name, "figure", "figure", "figure", resources.figure(study))


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
