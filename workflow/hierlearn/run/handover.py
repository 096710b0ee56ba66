"""A job's side of the fork server: its script is handed over as Python starts, and it ends as the copy does.

Imports little: every job comes by here, and what it imports it pays for itself.
"""

import os
import resource
import select
import signal
import socket
import struct
import sys

# Where jobs find the address of the server, a name in Linux's abstract space of sockets.
ADDRESS = "HIERLEARN_FORKSERVER"
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# What a job acts on while its copy runs: a keyboard's stop too, which the copy gets as one that cannot be ignored.
CAUGHT = (*FORWARDED, signal.SIGTSTP)
# Of a request and of a status, in bytes.
LENGTH, STATUS = struct.Struct("I"), struct.Struct("i")
# Whether this process is a job that was handed over.
is_copy = False


def hand_over(file: str) -> None:
    """Have the server run a job's script, and end as it does; returns if there is no server.

    file: the script, as Python runs it here.
    """
    # An environment of a job's own has another Python.
    address, _, python = os.environ.pop(ADDRESS, "").partition(" ")
    if not address or python != sys.executable:
        return
    connection = socket.socket(socket.AF_UNIX)
    # Until all of them are passed on: one that came between would end this process alone.
    blocked_before = signal.pthread_sigmask(signal.SIG_BLOCK, CAUGHT)
    try:
        # Their numbers come to be read here. A handler that sent them would run too late where a signal comes just
        # before this process waits: nothing would wake it.
        come, written = socket.socketpair()
        written.setblocking(False)
        connection.connect(f"\0{address}")
        used = resource.getrusage(resource.RUSAGE_SELF)
        spent = f"{used.ru_utime + used.ru_stime}".encode()
        # None of these holds a zero; no library is loaded to pack them.
        variables = (b"=".join(pair) for pair in os.environb.items())
        content = b"\0".join([os.fsencode(file), os.fsencode(os.getcwd()), spent, *variables])
        socket.send_fds(connection, [LENGTH.pack(len(content))], [0, 1, 2])
        connection.sendall(content)
        signal.set_wakeup_fd(written.fileno(), warn_on_full_buffer=False)
        for number in CAUGHT:
            # What is ignored, as under nohup, stays so.
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, lambda *_: None)
    except OSError:
        return
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked_before)
    try:
        while connection not in select.select([connection, come], [], [])[0]:
            _forward(come.recv(64), connection)
        if answer := connection.recv(STATUS.size):
            end_as(*STATUS.unpack(answer))
    except OSError:
        pass
    # No exception: Python may have only begun to start.
    print("error: the process that this job ran in was killed", file=sys.stderr, flush=True)
    os._exit(1)


def _forward(signals: bytes, connection: socket.socket) -> None:
    for number in signals:
        try:
            if number == signal.SIGTSTP:
                connection.send(bytes([signal.SIGSTOP]))
                os.kill(os.getpid(), signal.SIGSTOP)
                number = signal.SIGCONT
            connection.send(bytes([number]))
        except OSError:
            # The copy has just ended; how is there to be read.
            return


def end_as(status: int) -> None:
    """End this process as another one did; never returns.

    status: what it returned, or minus the signal that ended it.
    """
    if status < 0:
        signal.signal(-status, signal.SIG_DFL) if -status != signal.SIGKILL else None
        os.kill(os.getpid(), -status)
    os._exit(status)
