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
    """function(item) of every item, in their order: parts of a plan. What else it does may be lost."""
    parts = _parts(items)
    children = [_child(function, part) for part in parts[1:]]
    found = [[function(item) for item in parts[0]]] if parts else []
    for part, child in zip(parts[1:], children, strict=True):
        theirs = _result(*child)
        found.append([function(item) for item in part] if theirs is None else theirs)
    return [found[place % len(parts)][place // len(parts)] for place in range(len(items))]


def _parts(items: Sequence[Any]) -> list[Sequence[Any]]:
    """The items dealt out, one hand for each process."""
    alone = sys.platform == "linux" and threading.active_count() == 1
    cores = len(os.sched_getaffinity(0)) if alone else 1
    hands = max(1, min(cores, len(items) // LEAST))
    return [items[first::hands] for first in range(hands)] if items else []


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
        # An error is told by who asked, which meets it again.
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
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
