"""Work on many items that copies of this process share, one copy for every further core.

A plan is read before Snakemake starts a thread; in a process that has some, which may hold what a copy waits for, there
are no copies. What a copy did not find, since it was killed or raised an error, is found here, where errors are told.
"""

import os
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from hierlearn.files import pickles
from hierlearn.plan.cache import part_of_a_plan

# So many items are worth a copy.
LEAST = 8


def shared(function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    """function(item) of every item, in their order.

    Results are plain values and dataclasses of hierlearn.plan (`part_of_a_plan` refuses others). Side effects of the
    function, such as caches that it fills, stay in the copies.
    """
    parts = _parts(items)
    children = [_child(function, part) for part in parts[1:]]
    try:
        found = [[function(item) for item in part] for part in parts[:1]]
    finally:
        theirs = [_result(*child) for child in children]
    for part, results in zip(parts[1:], theirs, strict=True):
        found.append([function(item) for item in part] if results is None else results)
    return [found[place % len(parts)][place // len(parts)] for place in range(len(items))]


def _parts(items: Sequence[Any]) -> list[Sequence[Any]]:
    """The items dealt out, a part for each process."""
    may_copy = sys.platform == "linux" and threading.active_count() == 1
    cores = len(os.sched_getaffinity(0)) if may_copy else 1
    processes = max(1, min(cores, len(items) // LEAST))
    return [items[first::processes] for first in range(processes)] if items else []


def _child(function: Callable[[Any], Any], part: Sequence[Any]) -> tuple[int, int]:
    """A copy that works on a part: its process, and where its results can be read."""
    reading, writing = os.pipe()
    process = os.fork()
    if process:
        os.close(writing)
        return process, reading
    status = 1
    with suppress(BaseException):
        os.close(reading)
        # An error is met again, and told, by the process that asked; it tells its own warnings too.
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        results = pickles.dumps([function(item) for item in part])
        with os.fdopen(writing, "wb") as stream:
            stream.write(results)
        status = 0
    os._exit(status)


def _result(process: int, reading: int) -> list[Any] | None:
    """What a copy found; None if it ended before."""
    with os.fdopen(reading, "rb") as stream:
        results = stream.read()
    _, status = os.waitpid(process, 0)
    return pickles.loads(results, part_of_a_plan) if results and status == 0 else None
