"""What a preset costs before it runs: seconds, cores and memory of every job, from the operations that it counts.

A component counts the operations of the worst case. How many of them a core gets through in a second is a rate of its
own; it includes those that a walk up the sizes leaves out as it ends early. `benchmarks/rates.py` fits the rates to all
jobs of a preset.
"""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from hierlearn.pipeline.plan import targets
from hierlearn.pipeline.plan.resource_requests import Requests
from hierlearn.pipeline.plan.resources import Request
from hierlearn.pipeline.plan.study import Study

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
# Operations per second by kind of job, fitted to quick and to standard: small jobs are slower. A kind is a rule and a
# component, `walk` where a learner ends at its last crossing.
with Path(__file__).with_name("rates.csv").open(encoding="utf-8") as lines:
    MEASURED = list(csv.DictReader(lines))
RATES = {
    preset: {line["kind"]: float(line[preset]) for line in MEASURED if line[preset]} for preset in ("quick", "standard")
}
# Presets whose jobs have the rates of quick.
SMALL = ("smoke", "quick")
# Rules whose jobs are told apart by the last of their words.
NAMED = ("represent", "train", "probe")


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
