"""The page while a run goes on: made again as studies end, in a process of its own, too seldom to cost anything."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

import psutil

from hierlearn.pipeline.files import checksums
from hierlearn.pipeline.plan.configuration import Plan

MODULE = "hierlearn.pipeline.claims.page.contents"
# Seconds between two pages, at least, and in CPU seconds of one. Core-seconds of a run that is worth one: a page takes
# half a second, so that all of them take less than a hundredth of the run.
APART, RARE, WORTH = 20.0, 200.0, 100.0
# Seconds that the last one may take.
PATIENCE = 60.0


class EarlyPage:
    """The pages of a run. present: studies that it finds finished; work: what it is estimated to take, in
    core-seconds."""

    def __init__(self, plan: Plan, present: Collection[str], work: float):
        self.plan, self.present, self.work = plan, set(present), work
        self.process: subprocess.Popen | None = None
        self.begun, self.shown = float("-inf"), 0
        self.log = Path(plan.targets.file("logs", "early_page.log"))
        # Not that of the ledger's job, which the run ends with.
        self.file = Path(plan.targets.file("so-far.html"))

    def show(self, done: Collection[str] | None) -> None:
        """Makes the page with the studies that are done, if it is time to and there are new ones; None: no more."""
        if done is None:
            self.end()
            self.begun = float("inf")
        elif len(done) > self.shown and time.monotonic() >= self.begun + APART and self._is_time():
            self._start(done)

    def last(self, done: Collection[str]) -> None:
        """The page at the end of a run that broke off: of all studies that are done."""
        self.end()
        if len(done) > self.shown:
            self._start(done)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(PATIENCE)
            self.end()

    def remove(self) -> None:
        """Removes the page, as the ledger's job has made that of all studies."""
        for file in (self.file, checksums.beside(self.file)):
            file.unlink(missing_ok=True)

    def _is_time(self) -> bool:
        """Whether the run is worth a page, and the last one was made long enough ago for the CPU seconds it took."""
        if self.process is None:
            return self.work >= WORTH
        spent = 0.0
        with suppress(OSError, ValueError):
            spent = float(self.log.read_text(encoding="utf-8"))
        return self.process.poll() is not None and time.monotonic() >= self.begun + RARE * spent

    def end(self) -> None:
        """Ends the process that makes a page, if there is one."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def _start(self, done: Collection[str]) -> None:
        studies = self.present | set(done)
        self.begun, self.shown = time.monotonic(), len(done)
        targets, inputs = self.plan.targets, self.plan.inputs
        parameters, code = inputs.job("ledger")
        told = {name: study | {"present": name in studies} for name, study in parameters["studies"].items()}
        claims = [targets.file(name, "claims.json") for name in self.plan.studies if name in studies]
        given = {
            "page": str(self.file),
            "claims": claims,
            "figures": [file.replace("claims.json", "figure.svg") for file in claims],
            "expected": {file: inputs.identity(file) for file in claims},
            "parameters": parameters | {"studies": told, "partial": True},
            "code": code,
            "parent": os.getpid(),
        }
        self.log.parent.mkdir(parents=True, exist_ok=True)
        # From a file: a pipe holds less than this, and the run would wait for a process that others go before.
        with self.log.open("wb") as file, tempfile.TemporaryFile() as asked:
            asked.write(json.dumps(given).encode())
            asked.seek(0)
            self.process = subprocess.Popen([sys.executable, "-P", "-m", MODULE], stdin=asked, stdout=file, stderr=file)
        with suppress(psutil.Error):
            psutil.Process(self.process.pid).nice(19)
