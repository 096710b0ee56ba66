"""How a long training tells how far it is, and what it keeps so that a killed job goes on where it was."""

import fcntl
import shutil
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
from tqdm import tqdm

from hierlearn import store
from hierlearn.job import log
from hierlearn.store import Variable

# A kill costs at most this much work; a save takes milliseconds.
SECONDS_BETWEEN_SAVES = 20.0
# The name of what is trained follows: a narrow terminal cuts what stands last.
BAR = "{bar:20}{percentage:4.0f}%, {remaining} left: "
# Bars that a terminal shows at most, one below the other.
BARS = 32


class Checkpoints:
    """Files in a hidden folder beside a target: what a job has reached, one file per training.

    identity: attributes that tell this very job (code and parameters); files of any other are ignored.
    """

    def __init__(self, target: str, identity: dict[str, str]):
        target = Path(target)
        self.folder, self.identity = target.with_name(f".{target.name}.checkpoints"), dict(identity)
        self.last = time.monotonic()

    def restore(self, key: str) -> dict[str, np.ndarray] | None:
        """The arrays kept under a key, None if there are none of this job or if the file is damaged."""
        file = self._file(key)
        try:
            if not file.exists() or store.attributes(file) != self.identity:
                return None
            return {name: variable.values for name, variable in store.read(file)[""].items()}
        except (store.UnreadableFile, OSError, RuntimeError):
            return None

    def save(self, key: str, state: Callable[[], dict[str, np.ndarray]], final: bool) -> None:
        """Keep state() if it is time, or if it is final."""
        if not final and time.monotonic() - self.last < SECONDS_BETWEEN_SAVES:
            return
        group = {
            name: Variable(tuple(f"{name}_{i}" for i in range(values.ndim)), values) for name, values in state().items()
        }
        store.write(self._file(key), {"": group}, self.identity)
        self.last = time.monotonic()

    def clear(self) -> None:
        """Remove everything; the target is there."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _file(self, key: str) -> Path:
        return self.folder / f"{key.replace('/', '__')}.nc"


class JobMonitor:
    """Lines for the log, a bar with the time left where a terminal is attached, checkpoints where there is a place.

    title: what the bar calls the job; prefix: the part of it.
    """

    def __init__(self, checkpoints: Checkpoints | None = None, title: str = "", prefix: str = ""):
        self.checkpoints, self.title, self.prefix, self.bar = checkpoints, title, prefix, None

    def within(self, name: str) -> "JobMonitor":
        """A monitor for a part of the job, whose keys are its own."""
        return JobMonitor(self.checkpoints, self.title, f"{self.prefix}{name}/")

    def report(self, done: int, total: int, text: str) -> None:
        """done of total parts of what `text` says."""
        log.info("%d/%d %s", done, total, text)

    def advance(self, done: int, total: int) -> None:
        """done of total steps of the present training."""
        if self.bar is None or self.bar.total != total or done < self.bar.n:
            # disable=None: no bar without a terminal.
            shown = BAR + f"{self.title} {self.prefix.rstrip('/')}".strip()
            self.bar = tqdm(total=total, bar_format=shown, position=_line(), leave=False, disable=None)
        self.bar.update(done - self.bar.n)
        if done >= total:
            self.bar.close()
            self.bar = None

    def restore(self, key: str) -> dict[str, np.ndarray] | None:
        """What was kept under a key by an earlier run of this job, or None."""
        return self.checkpoints.restore(self.prefix + key) if self.checkpoints else None

    def save(self, key: str, state: Callable[[], dict[str, np.ndarray]], final: bool = False) -> None:
        """Keep state() now and then, and at the end of a training."""
        if self.checkpoints:
            self.checkpoints.save(self.prefix + key, state, final)


def _line() -> int:
    """The first line of the terminal on which no other job draws its bar; that of this job until its process ends."""
    for line in range(BARS if sys.stderr.isatty() else 0):
        with suppress(OSError):
            fcntl.lockf(sys.stderr, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, line)
            return line
    return 0
