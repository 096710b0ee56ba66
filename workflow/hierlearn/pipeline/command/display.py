"""What the terminal shows of a run: how far it is, what was found of each study as it ends, what failed, the answer.

The logger plugin beside the package calls it as events come; the file of Snakemake's log has all in any case.
"""

import json
import os
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from logging import LogRecord
from pathlib import Path
from typing import Any

from hierlearn.pipeline.claims import asked, tally
from hierlearn.pipeline.claims.verdicts import CLASSES
from hierlearn.pipeline.command import progress
from hierlearn.pipeline.command.early_page import EarlyPage
from hierlearn.pipeline.command.progress import Progress, Work, duration
from hierlearn.pipeline.plan import estimates
from hierlearn.pipeline.plan.configuration import Plan
from hierlearn.pipeline.plan.order import at_a_time, chains
from hierlearn.pipeline.plan.page_context import outcomes
from hierlearn.pipeline.run.job import ERROR, INTERRUPTED, SHOWN

COLOURS = {"for": "green", "against": "red", "open": "yellow", "void": "dim", "none": "dim"}
BAR = 20
# Running jobs that are shown, and how much of the end of their logs is read for it.
JOBS, TAIL, ERRORS = 8, 500, 20_000
# Seconds by which the clock of a node that writes a log may be behind.
CLOCKS = 5.0


def attach(plan: Plan, workflow: Any, handler: Any) -> "Display | None":
    """Show the run by a display of its own, unless the configuration asks for all of Snakemake's log.

    handler: the logger plugin's, None where Snakemake shows its log by another.
    """
    if handler is None or plan.settings["log"] == "snakemake":
        return None
    handler.display = Display(plan, workflow, handler)
    return handler.display


class Display:
    """The display of a run, of a dry run, or of a run without jobs."""

    def __init__(self, plan: Plan, workflow: Any, handler: Any):
        self.plan, self.workflow, self.handler = plan, workflow, handler
        quiet = {one.name for one in handler.common_settings.quiet or ()}
        self.silent, self.is_short = "ALL" in quiet, bool(quiet & {"ALL", "PROGRESS"})
        self.progress = Progress({}, 0.0, 1)
        self.is_begun = False
        self.page: EarlyPage | None = None
        self.planned_jobs: list[Work] = []
        self.rules: Mapping[str, int] = {}
        self.known: dict[str, dict[str, tuple[estimates.Job, float]]] = {}
        self.told: set[str] = set()
        self.ended = threading.Event()

    @property
    def screen(self) -> Any:
        """The terminal."""
        return self.handler.screen

    def begin(self) -> None:
        """Take the jobs of the run, which Snakemake knows now, and say how many there are."""
        if self.workflow.touch:
            # Nothing runs, and Snakemake says what it touches.
            return
        dag = self.workflow.dag
        told = ((dag.jobid(job), self._work(job.rule.name, job.wildcards, job.log)) for job in dag.needrun_jobs())
        jobs = {number: work for number, work in told if work}
        # Records of what came before are still on their way.
        with self.handler.lock:
            local = bool(self.workflow.local_exec)
            self.progress = Progress(jobs, time.monotonic(), at_a_time(self.workflow), is_local=local)
            self.is_begun = True
            os.environ[SHOWN] = "1"
            if jobs:
                self._announce()

    def _announce(self) -> None:
        """Say how many jobs the run has and how long they take, and begin to show how far it is."""
        jobs, studies = self.progress.jobs.values(), self.progress.studies()
        if any(job.rule == "ledger" for job in jobs):
            self.page = EarlyPage(self.plan, set(self.plan.studies) - set(studies), sum(job.cost for job in jobs))
        if self.is_short:
            return
        whole = duration(progress.since_start() + self.progress.left(time.monotonic()))
        named = "study" if len(studies) == 1 else "studies"
        self.screen.say(f"{len(jobs)} jobs of {len(studies)} {named}, about {whole} in all")
        if self.screen.is_live:
            threading.Thread(target=self._redraw, daemon=True).start()

    def started(self, record: LogRecord) -> None:
        """A job begins."""
        self.progress.start(record.jobid, time.monotonic())

    def finished(self, record: LogRecord) -> None:
        """A job has ended well; say what was found of a study all of whose jobs have."""
        self.progress.end(record.job_id, time.monotonic())
        done = self.progress.finished()
        for study in sorted(done - self.told):
            self.told.add(study)
            if not self.is_short:
                self.screen.say(self._of_study(study))
        if self.page:
            # The last page is that of the ledger itself.
            self.page.show(done if len(done) < len(self.progress.studies()) else None)

    def succeed(self) -> None:
        """All jobs have ended well: a quiet run has no events of theirs."""
        if self.is_short:
            self.progress.done.update(self.progress.jobs)

    def failed(self, record: LogRecord) -> bool:
        """A job has failed, or was stopped with the run; say what its own log says. Returns whether it is news."""
        number, log = record.jobid, str(next(iter(record.log), ""))
        if number in self.progress.failed:
            return False
        since = time.time() - (time.monotonic() - self.progress.running.get(number, time.monotonic()))
        text = _end_of(log, ERRORS, since - CLOCKS)
        if re.search(rf"^\S+ \S+ {INTERRUPTED}$", text, flags=re.MULTILINE):
            self.progress.running.pop(number, None)
            return False
        self.progress.end(number, time.monotonic(), failed=True)
        found = re.findall(rf"^\S+ \S+ {ERROR}(.*)$", text, flags=re.MULTILINE)
        if not found and record.indent:
            # Of jobs that were submitted together only those are named that say what went wrong.
            return False
        job = self.progress.jobs.get(number)
        what = f"{job.study} {job.name}".strip() if job else record.rule_name
        reason = found[-1] if found else f"{what} ended without a word, as if it was killed or ran out of memory"
        self._say_error(reason, f"  {what}; log: {log}")
        return True

    def group_failed(self, record: LogRecord) -> None:
        """Jobs that were submitted together ended with one that failed."""
        logs = record.aux_logs or [log for job in record.job_error_info for log in job["log"]]
        self._say_error(f"jobs submitted together ended with one that failed; logs: {', '.join(logs)}")

    def planned(self, record: LogRecord) -> None:
        """A dry run would have a job."""
        if work := self._work(record.rule_name, record.wildcards, record.log):
            self.planned_jobs.append(work)

    def counted(self, record: LogRecord) -> None:
        """A dry run has counted its jobs by rule."""
        self.rules = record.stats

    def idle(self) -> None:
        """There was nothing to be done: say so, and what is there."""
        if not self.silent:
            self.screen.say("Nothing to be done: all that was asked for is there and up to date.")
        if not (self.is_short or self.handler.common_settings.dryrun):
            self._show_answer()
            self._name_page()

    def end(self) -> None:
        """Say what the run has found in all, where it broke off, or what the dry run would do."""
        self.ended.set()
        self.screen.draw(())
        if not self.is_begun:
            self._show_plan()
        elif len(self.progress.done) < len(self.progress.jobs):
            self._break_off()
        elif self.progress.jobs:
            self._conclude()

    def _show_plan(self) -> None:
        """Print the table of a dry run."""
        if self.is_short or not self.planned_jobs:
            rules = {rule: count for rule, count in self.rules.items() if rule != "total"}
            self.screen.say(f"{sum(rules.values())} jobs: {', '.join(f'{n} {rule}' for rule, n in rules.items())}")
        else:
            head, rows = progress.counts(self.planned_jobs)
            if sum(max(map(len, column)) + 2 for column in zip(head, *rows, strict=True)) > self.screen.width:
                # The rules have no room.
                head, rows = [*head[:2], head[-1]], [[*row[:2], row[-1]] for row in rows]
            self.screen.say(self.screen.table(head, rows, words=("study",), cut="study"))
        self.screen.say("This was a dry run; `log=snakemake` lists its jobs.")

    def _break_off(self) -> None:
        state, took = self.progress, duration(time.monotonic() - self.progress.begun)
        left = len(state.jobs) - len(state.done) - len(state.failed)
        text = f"{len(state.done)} of {len(state.jobs)} jobs done in {took}, {len(state.failed)} failed, {left} not"
        if self.page:
            self.page.last(state.finished() if state.failed else ())
        if not self.silent:
            self.screen.say(f"{text} done; the same command goes on from here")
            if self.page and self.page.file.is_file():
                self.screen.say(f"The page so far is {self.page.file}")

    def _conclude(self) -> None:
        state, took = self.progress, duration(time.monotonic() - self.progress.begun)
        if self.page:
            self.page.remove()
        if self.silent:
            return
        is_whole = any(job.rule == "ledger" for job in state.jobs.values())
        rows = tally.read(Path(self.plan.results, "claims.csv")) if is_whole else []
        known = {claim: asked.marked(word) for claim, word in outcomes().items()} if rows else {}
        for lines in (tally.by_kind(rows), tally.unconvincing(rows, known)):
            if marked := list(map(self._marked, lines)):
                self.screen.say("", *marked)
        if not self.is_short:
            self._show_answer()
        self.screen.say(*[""] * bool(rows), f"{len(state.done)} jobs in {took}")
        if not self.is_short:
            self._name_page()

    def _show_answer(self) -> None:
        """Print what a run of one study alone found, as tables."""
        if len(self.plan.studies) != 1:
            return
        from hierlearn.pipeline.command import answer

        (study,) = self.plan.studies.values()
        # What cannot be read is told by the next run.
        with suppress(OSError, ValueError, LookupError):
            for found in answer.tables(study, self.plan.targets):
                rows = [[self._marked(cell) for cell in row] for row in found.rows]
                self.screen.say("", found.title, self.screen.table(found.head, rows, found.words, found.cut))
            self.screen.say("")

    def _name_page(self) -> None:
        """Say where to look: the page of all studies, or those of the studies that were asked for."""
        made = [str(file) for job in self.workflow.dag.jobs for file in job.output if file.endswith("index.html")]
        pages = sorted(file for file in made if Path(file).is_file())
        if len(pages) > 1:
            self.screen.say("The pages are", *(f"  {page}" for page in pages))
        elif pages:
            self.screen.say(f"The page is {pages[0]}")

    def _work(self, rule: str, wildcards: Any, logs: Any) -> Work | None:
        """Return a job by its rule, wildcards and logs; None for one of another workflow, and of the sheet of all
        figures, which is no part of a run."""
        log, top = str(next(iter(logs), "")), f"{self.plan.results}/logs/"
        if not log.startswith(top) or rule == "contact_sheet":
            return None
        study = dict(wildcards.items()).get("study", "")
        name = log.removeprefix(top).removeprefix(f"{study}/").removesuffix(".log")
        work = Work(study, rule, name, log, progress.SECONDS)
        if study in self.plan.studies and study not in self.known:
            own = list(estimates.jobs_of(self.plan.studies[study], self.plan.requests))
            self.known[study] = {job.log: (job, chain) for job, chain in zip(own, chains(own), strict=True)}
        if job_and_chain := self.known.get(study, {}).get(name):
            job, chain = job_and_chain
            cost = job.core_seconds + estimates.OVERHEAD
            work = replace(work, cost=cost, after=chain - job.seconds, cores=job.request.cores)
        return work

    def _of_study(self, study: str) -> Any:
        rows = []
        with suppress(OSError, ValueError, LookupError):
            rows = json.loads(Path(self.plan.targets.file(study, "claims.json")).read_bytes())["rows"]
        total = len(self.progress.studies())
        left = duration(self.progress.left(time.monotonic()))
        rest = f"{len(self.told)} of {total}" + (f", {left} left" if len(self.told) < total else "")
        outcome = tally.outcome(rows) if rows else "finished"
        return self._marked(f"{study}: {outcome}").append(f"  [{rest}]", style="dim")

    def _marked(self, line: str) -> Any:
        """Return a text whose marks have their colours."""
        from rich.text import Text

        text = Text(line)
        for mark, kind in CLASSES.items():
            text.highlight_regex(rf"{re.escape(mark)}(?= )", COLOURS[kind])
            # The light mark, of a draw.
            text.highlight_regex(rf"\({re.escape(mark)}\)(?= )", f"dim {COLOURS[kind]}")
        return text

    def _say_error(self, reason: str, *more: str) -> None:
        from rich.text import Text

        word = ERROR.strip()
        self.screen.say(Text.assemble((word, "red"), f" {reason}"), *more)

    def _redraw(self) -> None:
        while not self.ended.wait(1.0):
            # What cannot be shown now may be in a second.
            with self.handler.lock, suppress(Exception):
                if not self.ended.is_set():
                    self.screen.draw(list(self._live()))

    def _live(self) -> Iterator[Any]:
        """How far the run is, and the jobs that run."""
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        now, state = time.monotonic(), self.progress
        share, left = state.share(now), duration(state.left(now))
        # What is left may be the same for a while; what was taken never is.
        took = timedelta(seconds=int(now - state.begun))
        text = Text(f"{100 * share:3.0f} %, {took}, {left} left, {len(state.done)} of {len(state.jobs)} jobs")
        if state.failed:
            text.append(f", {len(state.failed)} failed", style="red")
        first = Table.grid(padding=(0, 1))
        first.add_column(width=BAR)
        first.add_column(no_wrap=True, overflow="ellipsis")
        first.add_row(ProgressBar(1.0, share, BAR, style="dim", complete_style="green", finished_style="green"), text)
        yield first
        running = sorted(state.running.items(), key=lambda item: item[1])
        for number, since in running[:JOBS]:
            job = state.jobs[number]
            steps = re.findall(r"^\S+ \S+ (\d+/\d+ .*)$", _end_of(job.log, TAIL), flags=re.MULTILINE)
            line = Text(f"  {job.study or 'all studies'} {job.name}  {duration(now - since)}")
            yield line.append(f"  {steps[-1]}", style="dim") if steps else line
        if len(running) > JOBS:
            yield Text(f"  and {len(running) - JOBS} more")


def _end_of(file: str, size: int, since: float = 0.0) -> str:
    """The last bytes of a file as text; "" if it cannot be read, or was not written to since, in seconds since 1970."""
    try:
        with open(file, "rb") as stream:
            found = os.fstat(stream.fileno())
            stream.seek(max(0, found.st_size - size))
            return stream.read().decode(errors="replace") if found.st_mtime > since else ""
    except OSError:
        return ""
