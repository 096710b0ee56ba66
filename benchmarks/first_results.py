"""When a run of all quick studies shows what: the first primary row of each paper, half of the studies, and the end.

    PYTHONPATH=workflow python benchmarks/first_results.py [--results results/quick] [--cores 2]

Simulated: cores take the first job in the order that is ready. Jobs take the seconds in the logs of a finished run, the
estimate where there is no log, and what Snakemake takes. The order is compared with the rule before it: the longest
training first, and what scores and judges last. Measured: the same from the times at which a finished run judged.
"""

import argparse
import heapq
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

from table import Row, emit

from hierlearn.pipeline.command import costs
from hierlearn.pipeline.plan import estimates
from hierlearn.pipeline.plan.configuration import configure
from hierlearn.pipeline.plan.estimates import Job
from hierlearn.pipeline.plan.order import STAGES, Order, judges_primary
from hierlearn.pipeline.plan.resource_requests import Requests
from hierlearn.pipeline.plan.study import Study

ROOT = Path(__file__).resolve().parents[1]
# A job's study and its name.
Name = tuple[str, str]
STAMP = re.compile(r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) ", re.MULTILINE)


def waits_for(study: Study, job: Job, others: Mapping[str, Job]) -> list[Name]:
    """The jobs of a study that must have ended before one of them starts."""
    before = {name for name, other in others.items() if STAGES[other.rule] < STAGES[job.rule]}
    if job.task:
        before = {name for name in before if others[name].task == job.task}
    if job.rule == "train":
        representation = study.learners[job.log.rpartition("/")[2].removesuffix(".train")].representation
        before = {name for name in before if others[name].rule == "generate" or f"/{representation}." in name}
    elif job.rule == "aggregate":
        before = {name for name in before if others[name].rule != "probe"}
    return [(study.name, name) for name in before]


def simulated(
    seconds: Mapping[Name, float], before: Mapping[Name, list[Name]], priority: Mapping[Name, float], cores: int
) -> dict[Name, float]:
    """When each job ends, in s from the first one's start."""
    missing, after = {name: len(others) for name, others in before.items()}, defaultdict(list)
    for name, others in before.items():
        for other in others:
            after[other].append(name)
    ready = [(-priority[name], name) for name, count in missing.items() if not count]
    heapq.heapify(ready)
    running: list[tuple[float, Name]] = []
    ends, now = {}, 0.0
    while ready or running:
        while ready and len(running) < cores:
            _, name = heapq.heappop(ready)
            heapq.heappush(running, (now + seconds[name], name))
        now, ended = heapq.heappop(running)
        ends[ended] = now
        for name in after[ended]:
            missing[name] -= 1
            if not missing[name]:
                heapq.heappush(ready, (-priority[name], name))
    return ends


def longest_training_first(jobs: Mapping[Name, Job]) -> dict[Name, float]:
    """The rule to compare with: minutes of the longest training that waits, probes before and all other jobs last."""
    found = {}
    for (study, name), job in jobs.items():
        trained = [name] if job.rule == "train" else []
        if job.rule in ("generate", "represent"):
            trained = [n for (s, n), other in jobs.items() if s == study and other.task == job.task]
        minutes = [jobs[study, n].request.runtime for n in trained if jobs[study, n].rule == "train"]
        found[study, name] = 1000 if job.rule == "probe" else max(minutes, default=0) + (job.rule == "represent")
    return found


def shown(studies: Mapping[str, Study], judged: Mapping[str, float], end: float, how: str) -> Iterator[Row]:
    """The first primary row of each paper and the half of the studies. judged: seconds from the first job's start."""
    for paper in sorted({study.paper for study in studies.values()}):
        own = [judged[name] for name, study in studies.items() if study.paper == paper and judges_primary(study)]
        yield Row(f"{how}: first primary row of {paper}", min(own), "s", most=60)
    half = sorted(judged.values())[(len(judged) - 1) // 2]
    yield Row(f"{how}: half of the studies judged", 100 * half / end, "%", most=40, note=f"of {end:.0f} s")


def measured(studies: Mapping[str, Study], results: Path) -> Iterator[Row]:
    """The same of a run that has ended, if it judged all studies."""
    files = {name: results / name / "claims.json" for name in studies}
    if not all(file.exists() for file in files.values()):
        return
    logs = [
        found[1] for log in results.glob("logs/*/**/*.log") if (found := STAMP.search(log.read_text(encoding="utf-8")))
    ]
    first = min(datetime.strptime(stamp, "%Y-%m-%d %H:%M:%S,%f").timestamp() for stamp in logs)
    judged = {name: file.stat().st_mtime - first for name, file in files.items()}
    yield from shown(studies, judged, (results / "index.html").stat().st_mtime - first, "measured")


def rows(results: Path, cores: int) -> Iterator[Row]:
    """All rows."""
    studies = configure({"preset": "quick"}, ROOT / "config" / "config.yaml", ROOT / "config" / "studies").studies
    requests = Requests(studies)
    of_studies = {name: list(estimates.jobs_of(study, requests)) for name, study in studies.items()}
    jobs = {(name, job.log): job for name, own in of_studies.items() for job in own}
    before = {}
    for name, own in of_studies.items():
        others = {job.log: job for job in own}
        before |= {(name, job.log): waits_for(studies[name], job, others) for job in own}
    known = {name: costs.measured(job, results) for name, job in jobs.items()}
    seconds = {name: (known[name] or job.seconds) + estimates.OVERHEAD for name, job in jobs.items()}
    workflow = SimpleNamespace(local_exec=True, resource_settings=SimpleNamespace(cores=cores))
    ends = simulated(seconds, before, Order(studies, requests, workflow).priorities, cores)
    end = max(ends.values())
    yield from shown(studies, {name: ends[name, "judge"] for name in studies}, end, f"on {cores} cores")
    other = max(simulated(seconds, before, longest_training_first(jobs), cores).values())
    note = f"{sum(value is None for value in known.values())} of {len(jobs)} jobs by estimate"
    yield Row(f"on {cores} cores: all, over longest training first", end / other, most=1.02, note=note)
    yield from measured(studies, results)


def main() -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=ROOT / "results" / "quick")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--rows", action="store_true", help="one JSON object a row, for table.py")
    given = parser.parse_args()
    emit(rows(given.results, given.cores), None if given.rows else "first_results")


if __name__ == "__main__":
    main()
