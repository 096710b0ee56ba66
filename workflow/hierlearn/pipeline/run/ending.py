"""How a job ends with its run, whatever kills that: none writes beside the jobs of the next one."""

import os
import select
import signal
import sys

# The main process's number and a named pipe, which that process holds open: a byte lies in it meanwhile.
RUN = "HIERLEARN_ALIVE"


def end_with(pipe: int) -> None:
    """Have the kernel end this process as soon as the other end of a pipe is closed.

    A thread that waited for it could not act while a library computes and keeps the interpreter to itself.
    """
    _signal_me(pipe)
    if select.select([pipe], [], [], 0)[0]:
        # It was closed before.
        os._exit(1)


def end_with_the_run() -> None:
    """Let this process end with the main process of a run on this machine, if one says how to reach it."""
    number, _, path = os.environ.get(RUN, "").partition(" ")
    # The main process itself may begin a job, as tests do, and must not end with what it closes.
    if not path or number == str(os.getpid()):
        return
    try:
        pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        # The run has ended, and its jobs with it.
        os._exit(1)
    _signal_me(pipe)
    if not select.select([pipe], [], [], 0)[0]:
        os._exit(1)


def _signal_me(pipe: int) -> None:
    """Let the kernel send the signal that ends this process when something happens to a pipe."""
    # Imported where a job begins: only POSIX has it, and studies are read anywhere.
    import fcntl

    if sys.platform == "darwin":
        # Ignored there unless somebody handles it; on Linux it ends a process.
        signal.signal(signal.SIGIO, lambda *_: os._exit(1))
    fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)
