"""How far a run is: its jobs, what they are estimated to cost, and the time that is left."""

import math
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import psutil

from hierlearn.pipeline.plan.estimates import FIRST

# Core-seconds after which what was measured counts as much as the estimates.
PRIOR = 30.0
# Rules from left to right.
ORDER = ("generate", "represent", "train", "evaluate", "probe", "aggregate", "judge", "figure", "page", "ledger")
# What a table calls jobs of no study, and the sum.
TOGETHER, ALL = "(all together)", "all"
# The share of its estimate that a job which still runs has done at most.
NEARLY = 0.95
# Of jobs that no estimate knows, such as the page.
SECONDS = 1.0
# A job that outruns its estimate is expected to go on for this part of what it took.
LONGER = 0.5
# Seconds by which the time left that is shown falls in a second, at most, where more is left than it says.
SLOW = 1 / 3


@dataclass(frozen=True)
class Work:
    """A job of a run. study: "" for one of all studies; name: what tells it from others of its rule; cost: estimated
    core-seconds; after: estimated seconds of what waits for it; cores: those that it computes on."""

    study: str
    rule: str
    name: str
    log: str
    cost: float
    after: float = 0.0
    cores: int = 1

    @property
    def seconds(self) -> float:
        """Estimated seconds on its cores."""
        return self.cost / self.cores


@dataclass
class Progress:
    """The jobs of a run by number, those that run with the time at which they began, and those that have ended.

    begun: when the run began, in seconds of any clock; parallel: cores, or jobs at a time; is_local: whether a job runs
    as soon as it has begun, and does not wait in a queue of which nothing is known.
    """

    jobs: Mapping[int, Work]
    begun: float
    parallel: int
    is_local: bool = True
    running: dict[int, float] = field(default_factory=dict)
    done: set[int] = field(default_factory=set)
    failed: set[int] = field(default_factory=set)
    # Core-seconds that jobs took which have ended well, and what was estimated for them.
    spent: float = 0.0
    estimated: float = 0.0
    # The time left that was shown last, and when.
    shown: tuple[float, float] | None = None

    def start(self, number: int, now: float) -> None:
        """A job begins, or begins again."""
        if number in self.jobs:
            self.failed.discard(number)
            self.running[number] = now

    def end(self, number: int, now: float, failed: bool = False) -> None:
        """A job has ended."""
        since = self.running.pop(number, now)
        if number not in self.jobs:
            return
        (self.failed if failed else self.done).add(number)
        if not failed:
            self.spent += (now - since) * self.jobs[number].cores
            self.estimated += self.jobs[number].cost

    def credit(self, now: float) -> float:
        """Estimated core-seconds that are done."""
        under_way = (min(took, NEARLY * job.seconds) * job.cores for job, took in self._running(now))
        return sum(self.jobs[number].cost for number in self.done) + sum(under_way)

    def share(self, now: float) -> float:
        """The share of the work that is done, 0 to 1."""
        total = sum(job.cost for job in self.jobs.values())
        return self.credit(now) / total if total else 1.0

    def left(self, now: float) -> float:
        """Seconds until the end, to be shown: they fall all the time, and more slowly where too few were shown."""
        expected = self.expected(now)
        if self.shown is not None:
            before, at = self.shown
            falls = min(SLOW * (now - at), -before * math.expm1((at - now) / expected)) if expected else before
            expected = min(expected, before - falls)
        self.shown = expected, now
        return expected

    def expected(self, now: float) -> float:
        """Seconds until the end, if jobs go as far beyond their estimates as those before them."""
        pace, broken = self._pace(now), {self.jobs[number].study for number in self.failed}
        ended = self.done | self.failed | self.running.keys()
        # What waits for a job that has failed does not run.
        waiting = [job for number, job in self.jobs.items() if number not in ended and job.study not in broken]
        under_way = [(job, max(pace * job.seconds - took, LONGER * took)) for job, took in self._running(now)]
        work = pace * sum(job.cost for job in waiting) + sum(job.cores * seconds for job, seconds in under_way)
        longest = [seconds + pace * job.after for job, seconds in under_way]
        longest += [pace * (job.seconds + job.after) for job in waiting]
        first = 0.0 if self.done else max(0.0, FIRST - (now - self.begun))
        return first + max(work / self.parallel, *longest) if longest else 0.0

    def _pace(self, now: float) -> float:
        """What jobs took over what was estimated for them."""
        running = [(job, took) for job, took in self._running(now) if took]
        spent = self.spent + sum(took * job.cores for job, took in running)
        estimated = self.estimated + sum(min(took, job.seconds) * job.cores for job, took in running)
        return (spent + PRIOR) / (estimated + PRIOR)

    def _running(self, now: float) -> list[tuple[Work, float]]:
        """The jobs that run, with the seconds that they have run for; none are known of a queue."""
        return [(self.jobs[number], (now - since) * self.is_local) for number, since in self.running.items()]

    def studies(self) -> list[str]:
        """The studies of which a job is to run, in the order of the jobs."""
        return list(dict.fromkeys(job.study for job in self.jobs.values() if job.study))

    def finished(self) -> set[str]:
        """The studies of this run all of whose jobs have ended well."""
        open_ = {job.study for number, job in self.jobs.items() if number not in self.done}
        return set(self.studies()) - open_


def since_start() -> float:
    """Seconds that this process has taken so far."""
    return time.time() - psutil.Process().create_time()


def counts(jobs: Iterable[Work]) -> tuple[list[str], list[list[str]]]:
    """The heads and rows of a table on the jobs that a run would have, by study and rule, with core-hours."""
    found, hours = defaultdict(Counter), Counter()
    for job in jobs:
        study = job.study or TOGETHER
        found[study][job.rule] += 1
        hours[study] += job.cost / 3600
    together, hours[ALL] = sum(found.values(), Counter()), hours.total()
    rules = [rule for rule in dict.fromkeys((*ORDER, *together)) if rule in together]
    rows = [
        [study, str(own.total()), *(str(own[rule] or "") for rule in rules), f"{hours[study]:.3g}"]
        for study, own in [*sorted(found.items()), (ALL, together)]
    ]
    return ["study", "jobs", *rules, "core-hours"], rows


def duration(seconds: float) -> str:
    """A time for people: 40 s, 6 min 20 s, 12 min, 2 h 5 min, 3 days 4 h."""
    if round(seconds) < 60:
        return f"{max(0, round(seconds))} s"
    if round(seconds) < 600:
        minutes, rest = divmod(10 * round(seconds / 10), 60)
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {rest} min"
    return f"{hours // 24} days {hours % 24} h"
