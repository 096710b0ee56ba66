"""How a job ends with its run, whatever kills that: none writes beside the jobs of the next one."""

import os
import select
import signal
import socket
import sys
from contextlib import suppress

# The name of the socket that the main process holds open, hierlearn-<its number>-<any word>; the executor sets it.
RUN = "HIERLEARN_ALIVE"


def end_with(file: int) -> None:
    """Have the kernel end this process as soon as the other end of a pipe or a socket is closed.

    A thread that waited for it could not act while a library computes and keeps the interpreter to itself.
    """
    # Imported where a job begins: only POSIX has it, and studies are read anywhere.
    import fcntl

    if sys.platform == "darwin":
        # Ignored there unless somebody handles it; on Linux it ends a process.
        signal.signal(signal.SIGIO, lambda *_: os._exit(1))
    fcntl.fcntl(file, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(file, fcntl.F_SETFL, fcntl.fcntl(file, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([file], [], [], 0)[0]:
        # It was closed before.
        os._exit(1)


def end_with_the_run() -> socket.socket | None:
    """Let this process end with the main process of a run on this machine; returns what must stay open for it.

    None where no run on this machine says how to reach it, and in its main process.
    """
    name = os.environ.get(RUN, "")
    # The main process itself may begin a job, as tests do, and must not end with what it closes.
    if not name or name.split("-")[1] == str(os.getpid()):
        return None
    run = socket.socket(socket.AF_UNIX)
    run.setblocking(False)
    # One that is gone has ended its jobs, or the next run does.
    with suppress(OSError):
        run.connect(f"\0{name}")
        end_with(run.fileno())
    return run
