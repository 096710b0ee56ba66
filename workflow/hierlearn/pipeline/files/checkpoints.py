"""Checkpoints: what a job has reached, kept beside its target so that a killed job goes on where it was."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from hierlearn.core.folders import UnreadableFile
from hierlearn.pipeline.files import netcdf, results
from hierlearn.pipeline.files.netcdf import Variable

# A kill costs at most this much work. A save takes tens of milliseconds, so many short trainings wait for one time.
SECONDS_BETWEEN_SAVES = 20.0
# What may wait, in bytes.
MOST_WAITING = 1 << 24


class Checkpoints:
    """Files in a hidden folder beside a target: what a job has reached, one file per training.

    identity: attributes that tell this very job (code and parameters); files of any other are ignored.
    """

    def __init__(self, target: str, identity: dict[str, str]):
        target = Path(target)
        self.folder, self.identity = target.with_name(f".{target.name}.checkpoints"), dict(identity)
        self.last, self.waiting = time.monotonic(), {}

    def restore(self, key: str) -> dict[str, np.ndarray] | None:
        """The arrays kept under a key, None if there are none of this job or if the file is damaged."""
        try:
            kept = netcdf.read(self._file(key), self.identity)[""]
            return {name: variable.values for name, variable in kept.items()}
        except UnreadableFile:
            return None

    def save(self, key: str, state: Callable[[], dict[str, np.ndarray]], final: bool) -> None:
        """Keep state() if it is time; if it is final, when it is time next, at the latest."""
        due = time.monotonic() - self.last >= SECONDS_BETWEEN_SAVES
        if not (due or final):
            return
        self.waiting[key] = state()
        if due or sum(values.nbytes for kept in self.waiting.values() for values in kept.values()) > MOST_WAITING:
            for name, kept in self.waiting.items():
                group = {
                    part: Variable(tuple(f"{part}_{i}" for i in range(values.ndim)), values)
                    for part, values in kept.items()
                }
                results.write(self._file(name), {"": group}, self.identity)
            self.last, self.waiting = time.monotonic(), {}

    def clear(self) -> None:
        """Remove everything; the target is there."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _file(self, key: str) -> Path:
        return self.folder / f"{key.replace('/', '__')}.nc"
