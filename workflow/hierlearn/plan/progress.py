"""How far a run is: its jobs, what they are estimated to cost, and the time that is left."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

# Core-seconds after which what was measured counts as much as the estimates.
PRIOR = 30.0
# Rules from left to right.
ORDER = ("generate", "represent", "train", "evaluate", "probe", "aggregate", "judge", "figure", "ledger")
# The share of its estimate that a job which still runs has done at most.
NEARLY = 0.95
# Of jobs that no estimate knows, such as the page.
SECONDS = 2.0


@dataclass(frozen=True)
class Work:
    """A job of a run. study: "" for one of all studies; name: what tells it from others of its rule; cost: estimated
    core-seconds."""

    study: str
    rule: str
    name: str
    log: str
    cost: float


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

    def start(self, number: int, now: float) -> None:
        """A job begins, or begins again."""
        if number in self.jobs:
            self.failed.discard(number)
            self.running[number] = now

    def end(self, number: int, failed: bool = False) -> None:
        """A job has ended."""
        self.running.pop(number, None)
        if number in self.jobs:
            (self.failed if failed else self.done).add(number)

    def credit(self, now: float) -> float:
        """Estimated core-seconds that are done."""
        running = self.running.items() if self.is_local else ()
        under_way = (min(now - since, NEARLY * self.jobs[number].cost) for number, since in running)
        return sum(self.jobs[number].cost for number in self.done) + sum(under_way)

    def share(self, now: float) -> float:
        """The share of the work that is done, 0 to 1."""
        total = sum(job.cost for job in self.jobs.values())
        return self.credit(now) / total if total else 1.0

    def left(self, now: float) -> float:
        """Seconds until the end, if what is left goes as far beyond its estimate as what is done."""
        done = self.credit(now)
        pace = (now - self.begun + PRIOR / self.parallel) / (done + PRIOR)
        return (sum(job.cost for job in self.jobs.values()) - done) * pace

    def studies(self) -> list[str]:
        """The studies of which a job is to run, in the order of the jobs."""
        return list(dict.fromkeys(job.study for job in self.jobs.values() if job.study))

    def finished(self) -> set[str]:
        """The studies of this run all of whose jobs have ended well."""
        open_ = {job.study for number, job in self.jobs.items() if number not in self.done}
        return set(self.studies()) - open_


def table(jobs: Iterable[Work]) -> Iterator[str]:
    """Lines on the jobs that a run would have, by study and rule, with core-hours."""
    counts, hours = defaultdict(Counter), Counter()
    for job in jobs:
        study = job.study or "(all together)"
        counts[study][job.rule] += 1
        hours[study] += job.cost / 3600
    together, hours["all"] = sum(counts.values(), Counter()), hours.total()
    rules = [rule for rule in dict.fromkeys((*ORDER, *together)) if rule in together]
    width = max(map(len, [*counts, "study", "all"]))
    columns = [max(len(rule), 5) for rule in rules]

    def line(name: str, cells: Iterable[object], total: object, cost: str) -> str:
        inner = "  ".join(f"{cell or '':>{column}}" for cell, column in zip(cells, columns, strict=True))
        return f"{name:<{width}}  {total:>6}  {inner}  {cost:>10}"

    yield line("study", rules, "jobs", "core-hours")
    for study, own in [*sorted(counts.items()), ("all", together)]:
        yield line(study, [own[rule] for rule in rules], own.total(), f"{hours[study]:.3g}")


def duration(seconds: float) -> str:
    """A time for people: 40 s, 7 min, 2 h 5 min, 3 days 4 h."""
    if seconds < 60:
        return f"{max(0, round(seconds))} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {rest} min"
    return f"{hours // 24} days {hours % 24} h"
