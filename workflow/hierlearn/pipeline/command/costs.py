"""What a preset is said to cost before it runs, on this machine, and by how much estimates err where jobs have run.

Another machine than that of the rates has another pace: what a run of quick took there over its estimate.
"""

import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median

from hierlearn.pipeline.plan.estimates import Job, jobs_of
from hierlearn.pipeline.plan.study import Study

# Seconds of a finished run below which it says nothing about the machine.
LEAST = 60.0
# The last line of a job's log.
SPENT = re.compile(r"([0-9.]+) s of CPU")
# By how much the estimates were off, by jobs of more than 3 s and by studies.
FITTED = (
    "Estimates of quick were fitted to a run of quick: jobs of more than 3 s were off by a factor of 1.3 in the median "
    "and 3.9 in nine of ten, studies by 1.2 and 1.8. Those of larger presets were fitted to standard: jobs were off by "
    "1.5 to 2.6 and 5.3, studies by 1.4 and 2.9. They count the worst case: how far a search goes is found as it runs."
)


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
