"""What a fork of the server does: it runs one script as Snakemake would in a process of its own."""

import multiprocessing
import os
import runpy
import signal
import sys
from typing import Any

from hierlearn.pipeline.run import ending, insides, job

# As the server began: what Snakemake has put before it is not for scripts.
SEARCHED = tuple(sys.path)


def run(script: str, snakemake: Any) -> None:
    """Run a script with what Snakemake says of its job; the process ends as one of the script's own would.

    script: its absolute path.
    """
    ending.end_with(multiprocessing.parent_process().sentinel)
    # One way is enough.
    os.environ.pop(ending.RUN, None)
    # The libraries' own are the server's.
    insides.forget_exit_functions()
    sys.path[:], sys.argv[:] = [*SEARCHED, os.path.dirname(script)], [script]
    status: object = 0
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        runpy.run_path(script, {"snakemake": snakemake}, "__main__")
    except SystemExit as end:
        status = end.code
    except BaseException as error:
        status = 1
        # From the script on, as where it runs by itself.
        trace = error.__traceback__
        while trace and trace.tb_frame.f_code.co_filename != script:
            trace = trace.tb_next
        if isinstance(error, KeyboardInterrupt) and trace is None:
            # It came before the script's first line.
            job.interrupt(snakemake.log)
        else:
            sys.excepthook(type(error), error.with_traceback(trace), trace)
    insides.run_exit_functions()
    sys.exit(status)
