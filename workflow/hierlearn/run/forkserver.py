"""Jobs of a run as copies of one process, which loads once what each of them would have to load.

A third of a small run would go into imports. The run keeps a server; a job that has begun hands its script over, the
server forks, and the copy runs the script while the job waits for its status. What a copy had to import after all the
server imports for the next ones, so it holds what this run needs and no list of libraries is kept anywhere.

A copy ends with its job, with the server and with the run: none is left behind by whatever is killed. Where there is no
server, or a job needs other threads, jobs run by themselves, and give the same bytes.
"""

import atexit
import ctypes
import gc
import os
import runpy
import selectors
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

from hierlearn.run import handover
from hierlearn.run.handover import ADDRESS, FORWARDED, LENGTH, STATUS

# Seconds that a server has to end in; it may be loading a library.
PATIENCE = 10.0
# Of prctl: the signal that a process gets when its parent ends.
PARENT_ENDS = 1
# Of what jobs import before all else.
EARLY = Path(__file__).parent / "early"


def is_possible() -> bool:
    """Whether this system has what the server needs."""
    try:
        # An old kernel, or a container, refuses it.
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):
        return False
    return sys.platform == "linux"


def start(variables: dict[str, str]) -> subprocess.Popen | None:
    """A server that lives as long as this process, known to its jobs; None where there can be none.

    variables: what jobs set before a library loads.
    """
    if not is_possible():
        return None
    address = f"hierlearn-{os.getpid()}-{os.urandom(8).hex()}"
    command = [sys.executable, "-P", "-c", f"from {__name__} import serve; serve({address!r})"]
    # What it reads ends with this process. In a session of its own, since the keyboard interrupts jobs, not the server.
    server = subprocess.Popen(command, env=os.environ | variables, stdin=subprocess.PIPE, start_new_session=True)
    atexit.register(_end, server)
    os.environ[ADDRESS] = f"{address} {sys.executable}"
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(EARLY), os.environ.get("PYTHONPATH"))))
    return server


def _end(server: subprocess.Popen) -> None:
    """Have nothing run that a run has started once it has ended."""
    server.stdin.close()
    try:
        server.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


class Copy:
    """A job that runs in a copy of the server."""

    def __init__(self, process: int, connection: socket.socket, report: int) -> None:
        self.process, self.connection, self.report = process, connection, report
        self.handle = os.pidfd_open(process)

    def kill(self, number: int) -> None:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.handle, number)

    def end(self) -> list[str]:
        """Tell the job the status; the modules that it had to import."""
        _, status = os.waitpid(self.process, 0)
        with suppress(OSError):
            self.connection.sendall(STATUS.pack(os.waitstatus_to_exitcode(status)))
        with open(self.report, "rb") as file:
            modules = file.read().decode().split("\n")
        self.connection.close()
        os.close(self.handle)
        return modules


def serve(address: str) -> None:
    """Run jobs until the process ends that holds the other end of the standard input."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"\0{address}")
    listener.listen(128)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    copies: dict[int, Copy] = {}
    waiting = selectors.DefaultSelector()
    waiting.register(0, selectors.EVENT_READ)
    waiting.register(listener, selectors.EVENT_READ)

    def forget(file: int) -> None:
        if copies.pop(file, None):
            waiting.unregister(file)

    while True:
        new: list[str] = []
        for key, _ in waiting.select():
            copy: Copy | None = key.data
            if key.fd == 0:
                for one in copies.values():
                    one.kill(signal.SIGKILL)
                atexit._run_exitfuncs()
                os._exit(0)
            if key.fileobj is listener:
                if started := _accepted(listener, copies):
                    # Under both of its files: one says that it ended, the other what is to be sent to it.
                    for file in (started.handle, started.connection.fileno()):
                        copies[file] = started
                        waiting.register(file, selectors.EVENT_READ, started)
            elif copies.get(key.fd) is not copy:
                # It ended in this very round.
                continue
            elif key.fd == copy.handle:
                forget(copy.handle)
                forget(copy.connection.fileno())
                new += copy.end()
            elif signals := _received(copy.connection):
                for signum in signals:
                    copy.kill(signum)
            else:
                # The job was killed.
                forget(key.fd)
                copy.kill(signal.SIGKILL)
        _import(new)


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(64)
    except OSError:
        return b""


def _accepted(listener: socket.socket, others: Iterable[int]) -> Copy | None:
    """The copy that runs the next job; None if it cannot be had. others: files of the other copies."""
    connection, _ = listener.accept()
    _, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    if user != os.getuid():
        connection.close()
        return None
    try:
        size, files, _, _ = socket.recv_fds(connection, LENGTH.size, 3)
        content = b""
        while size and len(content) < LENGTH.unpack(size)[0]:
            part = connection.recv(LENGTH.unpack(size)[0] - len(content))
            size = size if part else b""
            content += part
    except OSError:
        size, files = b"", []
    if not size:
        for file in files:
            os.close(file)
        connection.close()
        return None
    read, write = os.pipe()
    # One that comes before the copy can take it would be lost.
    signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED)
    try:
        process = os.fork()
    except OSError:
        # No room for one more: this job fails, those that run do not.
        process = None
    if process == 0:
        for mine in (read, connection.detach(), listener.detach(), *others):
            os.close(mine)
        _run(content, files, write)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED)
    os.close(write)
    for file in files:
        os.close(file)
    if process is None:
        os.close(read)
        connection.close()
        return None
    return Copy(process, connection, read)


def _run(request: bytes, files: list[int], report: int) -> NoReturn:
    """What a copy does: the job, and its end. request: as `hand_over` sends it."""
    handover.is_copy, server = True, os.getppid()
    ctypes.CDLL(None).prctl(PARENT_ENDS, signal.SIGKILL)
    if os.getppid() != server:
        os._exit(1)
    for number in FORWARDED:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for i, file in enumerate(files):
        os.dup2(file, i)
        os.close(file)
    script, folder, spent, *variables = request.split(b"\0")
    os.environ.clear()
    os.environb.update(variable.split(b"=", 1) for variable in variables)
    os.chdir(folder)
    before = set(sys.modules)

    def tell() -> None:
        # A component of an own folder may hold what no two jobs should share, such as an open file.
        is_own = import_module("hierlearn.core.folders").is_own
        modules = [name for name, module in sys.modules.items() if name not in before and not is_own(module)]
        with suppress(OSError):
            os.write(report, "\n".join(modules).encode()[: 2**16 - 1])

    # Libraries' own are the server's.
    atexit._clear()
    atexit.register(tell)
    job = import_module("hierlearn.run.job")
    job.spent_before, script, status = float(spent), os.fsdecode(script), 0
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED)
        sys.argv = [script]
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException as error:
        status = -signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
        # From the script on, as where it runs by itself.
        trace = error.__traceback__
        while trace and trace.tb_frame.f_code.co_filename != script:
            trace = trace.tb_next
        sys.excepthook(type(error), error.with_traceback(trace or error.__traceback__), error.__traceback__)
    with suppress(BaseException):
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    handover.end_as(status)


def _import(names: list[str]) -> None:
    """Load what copies had to import, if it is found under its name here, and let our modules warm up."""
    new = [name for name in names if name and not name.startswith("_") and name not in sys.modules]
    for name in new:
        with suppress(Exception):
            if find_spec(name):
                import_module(name)
    own = __name__.partition(".")[0]
    for name in new:
        module = sys.modules.get(name)
        if name.partition(".")[0] == own and module and "warm_up" in vars(module):
            # If this fails, each copy does that work itself, later.
            with suppress(Exception):
                module.warm_up()
    if new:
        # What is there stays: a copy that looked for garbage in it would copy its pages.
        gc.collect()
        gc.freeze()
