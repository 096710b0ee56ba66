"""How a long training tells how far it is."""

import fcntl
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

import numpy as np
from tqdm import tqdm

from hierlearn.pipeline.files.checkpoints import Checkpoints
from hierlearn.pipeline.run.job import is_shown, log

# The name of what is trained follows: a narrow terminal cuts what stands last.
BAR = "{bar:20}{percentage:4.0f}%, {remaining} left: "
# Bars that a terminal shows at most, one below the other.
BARS = 32


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
            # None: no bar without a terminal; the run may show on it how far its jobs are.
            hidden = True if is_shown() else None
            shown = BAR + f"{self.title} {self.prefix.rstrip('/')}".strip()
            # Its own is shared among processes, though these bars are not, and stays behind with a fork.
            tqdm.set_lock(threading.RLock())
            self.bar = tqdm(total=total, bar_format=shown, position=_line(), leave=False, disable=hidden)
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
