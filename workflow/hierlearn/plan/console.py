"""What the terminal shows of a run: how far it is, what was found of each study as it ends, and what failed.

A handler of Snakemake's log in the place of the one that prints it; the file of the log has all in any case. It is
put there by the Snakefile, not named in a profile as a plugin, which would keep Snakemake from starting where the
package is not installed.
"""

import json
import logging
import os
import re
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from hierlearn.claims import tally
from hierlearn.claims.verdicts import CLASSES
from hierlearn.plan import estimates, progress
from hierlearn.plan.configuration import Plan
from hierlearn.plan.early_page import EarlyPage
from hierlearn.plan.order import chains
from hierlearn.plan.progress import Progress, Work, duration
from hierlearn.plan.terminal import Terminal
from hierlearn.run.job import ERROR, INTERRUPTED, SHOWN

COLOURS = {"for": "green", "against": "red", "open": "yellow", "void": "dim", "none": "dim"}
BAR = 24
# Running jobs that are shown, and how much of the end of their logs is read for it.
JOBS, TAIL, ERRORS = 8, 500, 20_000
# Seconds by which the clock of a node that writes a log may be behind.
CLOCKS = 5.0
NOTHING = "Nothing to be done"
# What Snakemake says of a failed job beside the job's own error.
AGAIN = ("CalledProcessError", "Exiting because a job execution failed", "At least one job did not complete")


def attach(plan: Plan, workflow: Any) -> None:
    """Puts the handler in the place of Snakemake's own, unless the configuration or a flag asks for all of its log, or
    another logger was chosen."""
    asked, logger = workflow.output_settings, logging.getLogger("snakemake.logging")
    own = [handler for handler in logger.handlers if handler.name == "DefaultStreamHandler"]
    if not own or plan.settings["log"] == "snakemake" or asked.verbose or asked.debug_dag or asked.printshellcmds:
        return
    logger.removeHandler(own[0])
    logger.addHandler(Console(own[0], plan, workflow))


class Console(logging.Handler):
    """The handler. behind: Snakemake's own, for what is said before a run and for warnings."""

    def __init__(self, behind: logging.Handler, plan: Plan, workflow: Any):
        super().__init__()
        self.behind, self.plan, self.workflow = behind, plan, workflow
        quiet = {one.name for one in workflow.output_settings.quiet or ()}
        self.silent, self.is_short = "ALL" in quiet, bool(quiet & {"ALL", "PROGRESS"})
        self.terminal = Terminal(sys.stderr, not workflow.output_settings.nocolor)
        self.progress: Progress | None = None
        self.page: EarlyPage | None = None
        self.before: list[logging.LogRecord] = []
        self.said: set[str] = set()
        self.told: set[str] = set()
        self.ended = threading.Event()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._take(record)
        except Exception:
            self.handleError(record)

    def _take(self, record: logging.LogRecord) -> None:
        event, text = str(getattr(record, "event", "")), (record.getMessage() if record.msg else "")
        if self.workflow.touch:
            # Nothing runs.
            self.before.clear()
            self.behind.handle(record)
            return
        if record.levelno >= logging.WARNING:
            self._trouble(record, event, text)
        elif event == "run_info":
            self._begin()
        elif text.startswith(NOTHING):
            self.before.clear()
            self.behind.handle(record)
            self._ready()
        elif self.progress is None:
            # Held until it is clear whether this is a run.
            self.before.append(record)
        elif event == "job_info":
            self.progress.start(record.jobid, time.monotonic())
        elif event == "job_finished":
            self._end(record.job_id)

    def _begin(self) -> None:
        """Snakemake knows the jobs of the run."""
        if self.progress is not None:
            return
        self.before.clear()
        jobs = dict(self._jobs())
        parallel = progress.at_a_time(self.workflow)
        self.progress = Progress(jobs, time.monotonic(), parallel, is_local=bool(self.workflow.local_exec))
        if self.workflow.dryrun:
            lines = list(progress.table(jobs.values()))
            print(*(lines[:1] + lines[-1:] if self.is_short else lines), sep="\n")
            print("This was a dry run; `log=snakemake` lists its jobs.", flush=True)
            self.progress.jobs = {}
            return
        os.environ[SHOWN] = "1"
        if not self.is_short:
            count, studies = len(jobs), len(self.progress.studies())
            whole = duration(progress.since_start() + self.progress.left(time.monotonic()))
            self.terminal.say(
                f"{count} jobs of {studies} {'study' if studies == 1 else 'studies'}, about {whole} in all"
            )
        if any(job.rule == "ledger" for job in jobs.values()):
            present = set(self.plan.studies) - set(self.progress.studies())
            self.page = EarlyPage(self.plan, present, sum(job.cost for job in jobs.values()))
        if self.terminal.is_live and not self.is_short:
            threading.Thread(target=self._redraw, daemon=True).start()

    def _jobs(self) -> Iterator[tuple[int, Work]]:
        """The jobs that Snakemake is to run, by number."""
        dag, top = self.workflow.dag, f"{self.plan.results}/logs/"
        # A module's other rules keep their logs elsewhere; the sheet of all figures is no part of a run.
        logged = [job for job in dag.needrun_jobs() if job.log and str(job.log[0]).startswith(top)]
        wanted = [(job, job.wildcards.get("study") or "") for job in logged if job.rule.name != "contact_sheet"]
        known: dict[tuple[str, str], tuple[estimates.Job, float]] = {}
        for name in {study for _, study in wanted} & self.plan.studies.keys():
            own = list(estimates.jobs_of(self.plan.studies[name], self.plan.requests))
            known |= {(name, one.log): (one, chain) for one, chain in zip(own, chains(own), strict=True)}
        for job, study in wanted:
            log = str(job.log[0])
            name = log.removeprefix(top).removeprefix(f"{study}/").removesuffix(".log")
            work = Work(study, job.rule.name, name, log, progress.SECONDS)
            if (study, name) in known:
                one, chain = known[study, name]
                cost = one.core_seconds + estimates.OVERHEAD
                work = replace(work, cost=cost, after=chain - one.seconds, cores=one.request.cores)
            yield dag.jobid(job), work

    def _end(self, number: int) -> None:
        """A job has ended well; says what was found of a study all of whose jobs have."""
        self.progress.end(number, time.monotonic())
        done = self.progress.finished()
        for study in sorted(done - self.told):
            self.told.add(study)
            if not self.is_short:
                self.terminal.say(self._of_study(study))
        if self.page:
            # The last page is that of the ledger itself.
            self.page.show(done if len(done) < len(self.progress.studies()) else None)

    def _of_study(self, study: str) -> str:
        rows = []
        with suppress(OSError, ValueError, LookupError):
            rows = json.loads(Path(self.plan.targets.file(study, "claims.json")).read_bytes())["rows"]
        total = len(self.progress.studies())
        left = duration(self.progress.left(time.monotonic()))
        rest = f"{len(self.told)} of {total}" + (f", {left} left" if len(self.told) < total else "")
        text = f"{study}: {tally.outcome(rows)}"
        return f"{self._marked(text)}  {self.terminal.paint(f'[{rest}]', 'dim')}"

    def _marked(self, text: str) -> str:
        """A text whose marks have their colours."""
        for mark, kind in CLASSES.items():
            text = text.replace(f"{mark} ", f"{self.terminal.paint(mark, COLOURS[kind])} ")
        return text

    def _trouble(self, record: logging.LogRecord, event: str, text: str) -> None:
        """An error or a warning, each of which is said once; of a job what its own log says."""
        if event == "job_error":
            if self.progress is not None:
                self._failure(record)
            return
        if event == "group_error":
            named = ", ".join(record.aux_logs) or ", ".join(log for one in record.job_error_info for log in one["log"])
            self.terminal.say(f"{ERROR}jobs submitted together ended with one that failed; logs: {named}")
            return
        known = self.progress is not None and any(word in text for word in AGAIN)
        if known or text in self.said or (self.page and self.page.explains(text)):
            return
        self.said.add(text)
        live = self.terminal.live
        self.terminal.clear()
        self.behind.handle(record)
        self.terminal.draw(live)

    def _failure(self, record: logging.LogRecord) -> None:
        number, log = record.jobid, str(next(iter(record.log), ""))
        if number in self.progress.failed:
            return
        since = time.time() - (time.monotonic() - self.progress.running.get(number, time.monotonic()))
        text = _end_of(log, ERRORS, since - CLOCKS)
        if re.search(rf"^\S+ \S+ {INTERRUPTED}$", text, flags=re.MULTILINE):
            self.progress.running.pop(number, None)
            return
        self.progress.end(number, time.monotonic(), failed=True)
        found = re.findall(rf"^\S+ \S+ {ERROR}(.*)$", text, flags=re.MULTILINE)
        if not found and getattr(record, "indent", False):
            # Of jobs that were submitted together only those are named that say what went wrong.
            return
        job = self.progress.jobs.get(number)
        what = f"{job.study} {job.name}".strip() if job else record.rule_name
        reason = found[-1] if found else f"{what} ended without a word, as if it was killed or ran out of memory"
        self.terminal.say(f"{self.terminal.paint('error:', 'red')} {reason}", f"  {what}; log: {log}")

    def _redraw(self) -> None:
        while not self.ended.wait(1.0):
            # What cannot be shown now may be in a second.
            with self.lock, suppress(Exception):
                if not self.ended.is_set():
                    self.terminal.draw(list(self._live()))

    def _live(self) -> Iterator[str]:
        """How far the run is, and the jobs that run."""
        now, state = time.monotonic(), self.progress
        share, paint = state.share(now), self.terminal.paint
        filled = round(BAR * share)
        bar = paint("━" * filled, "green") + paint("━" * (BAR - filled), "dim")
        count = f"{len(state.done)} of {len(state.jobs)} jobs"
        failed = paint(f", {len(state.failed)} failed", "red") if state.failed else ""
        yield f"{bar} {100 * share:3.0f} %, {duration(state.left(now))} left, {count}{failed}"
        running = sorted(state.running.items(), key=lambda one: one[1])
        for number, since in running[:JOBS]:
            job = state.jobs[number]
            steps = re.findall(r"^\S+ \S+ (\d+/\d+ .*)$", _end_of(job.log, TAIL), flags=re.MULTILINE)
            detail = paint(f"  {steps[-1]}", "dim") if steps else ""
            yield f"  {job.study or 'all studies'} {job.name}  {duration(now - since)}{detail}"
        if len(running) > JOBS:
            yield f"  and {len(running) - JOBS} more"

    def _ready(self) -> None:
        """Where to look: the page of all studies, or those of the studies that were asked for."""
        if self.is_short or self.workflow.dryrun:
            return
        made = [str(file) for job in self.workflow.dag.jobs for file in job.output if file.endswith("index.html")]
        pages = sorted(file for file in made if Path(file).is_file())
        if len(pages) > 1:
            self.terminal.say("The pages are", *(f"  {page}" for page in pages))
        elif pages:
            self.terminal.say(f"The page is {pages[0]}")

    def close(self) -> None:
        """What the run has found in all, or where it broke off."""
        with suppress(Exception):
            self._last_words()
        super().close()

    def _last_words(self) -> None:
        with self.lock:
            if self.ended.is_set():
                return
            self.ended.set()
            self.terminal.clear()
        for record in self.before:
            self.behind.handle(record)
        self.before.clear()
        self.behind.close()
        if self.progress is None or not self.progress.jobs:
            return
        state, took = self.progress, duration(time.monotonic() - self.progress.begun)
        if len(state.done) < len(state.jobs):
            left = len(state.jobs) - len(state.done) - len(state.failed)
            text = f"{len(state.done)} of {len(state.jobs)} jobs done in {took}, {len(state.failed)} failed, {left} not"
            if self.page:
                self.page.last(state.finished() if state.failed else ())
            if not self.silent:
                self.terminal.say(f"{text} done; the same command goes on from here")
            return
        if self.silent:
            return
        if any(job.rule == "ledger" for job in state.jobs.values()):
            rows = tally.read(Path(self.plan.results, "claims.csv"))
            self.terminal.say("", *map(self._marked, tally.by_kind(rows)))
            if doubtful := list(tally.unconvincing(rows)):
                self.terminal.say("", "Primary rows that failed or are open:", *map(self._marked, doubtful))
            self.terminal.say("")
        self.terminal.say(f"{len(state.done)} jobs in {took}")
        self._ready()


def _end_of(file: str, size: int, since: float = 0.0) -> str:
    """The last bytes of a file as text; "" if it cannot be read, or was not written to since, in seconds since 1970."""
    try:
        with open(file, "rb") as stream:
            found = os.fstat(stream.fileno())
            stream.seek(max(0, found.st_size - size))
            return stream.read().decode(errors="replace") if found.st_mtime > since else ""
    except OSError:
        return ""
