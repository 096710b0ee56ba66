"""What every script does first: compute threads, a log, and errors that end as one line."""

import atexit
import logging
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from importlib import import_module
from typing import Any

from hierlearn.core import process
from hierlearn.pipeline.run import ending, insides

THREAD_VARIABLES = (
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"),
    *("VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS", "OMP_THREAD_LIMIT"),
)
# What a user may have set for other programs, as a job has it: no library may take fewer threads, none reads a
# matplotlibrc, and a warning of one that is loaded is no error.
SETTINGS = {
    **{"OMP_DYNAMIC": "false", "MKL_DYNAMIC": "false"},
    **{"MPLBACKEND": "agg", "MATPLOTLIBRC": os.devnull, "PYTHONWARNINGS": ""},
}
# glibc would give every large array back to the system when it is freed, and a tenth of the time of kernels goes into
# getting the next one's pages again. Where the system leaves it to programs, it asks for huge pages: a process whose
# heap lies in these is copied in half the time. It reads these variables when a process starts.
MEMORY_VARIABLES = {
    **{limit: str(2**32) for limit in ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_")},
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}
# Set where the run itself says on the terminal what its jobs do.
SHOWN = "HIERLEARN_PROGRESS"
# What the last line of a failed job's log begins with, after the time.
ERROR = "error: "
# The last word in the log of a job that was stopped with the run.
INTERRUPTED = "interrupted"
log = logging.getLogger("hierlearn")


def is_shown() -> bool:
    """Whether the run that this job is of tells on the terminal what is in the log."""
    return SHOWN in os.environ


def variables(threads: str = "1") -> dict[str, str]:
    """What a job sets before a library loads."""
    return dict.fromkeys(THREAD_VARIABLES, threads) | SETTINGS


def start(script: Mapping[str, Any]) -> Any:
    """Begin a job if `script` (a script's globals) runs under Snakemake, and return what Snakemake says of it.

    None otherwise, so that a script can be imported. Must run before numpy loads, but in a fork of the server: its
    libraries read the number of threads once.
    """
    snakemake = script.get("snakemake")
    if snakemake is None:
        return None
    threads = str(snakemake.params.get("compute_threads", 1))
    os.environ.update(variables(threads))
    ending.end_with_the_run()
    process.restore()
    process.replace_letters()
    handler = (
        logging.FileHandler(snakemake.log[0], mode="w", encoding="utf-8") if snakemake.log else logging.StreamHandler()
    )
    # On a full disk a log ends early: a trace of that for each line would hide why the job fails.
    logging.raiseExceptions = False
    logging.basicConfig(level=logging.INFO, handlers=[handler], format="%(asctime)s %(message)s", force=True)
    # What a PDF's fonts leave out, letter by letter.
    logging.getLogger("fontTools").setLevel(logging.WARNING)
    # Before the first long import: whoever stops the run then sees no trace.
    sys.excepthook = _report
    if threads != "1":
        _exactly(int(threads))
        log.info("%s threads", threads)
    atexit.register(_spent)
    return snakemake


def interrupt(logs: Sequence[str]) -> None:
    """Let the log of a job that has not begun say that it was stopped with the run."""
    for file in logs:
        with suppress(OSError), open(file, "a", encoding="utf-8") as log_file:
            print(f"{datetime.now():%Y-%m-%d %H:%M:%S} {INTERRUPTED}", file=log_file)


def _exactly(threads: int) -> None:
    """As many threads of BLAS on every machine, for bytes hang on them; alone it takes no more than it has cores."""
    # numpy and scipy have threads each, which would wait for work on each other's cores.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
    # By name, since no job with one thread should pay for them.
    for library in ("numpy", "scipy.linalg"):
        import_module(library)
    import_module("threadpoolctl").threadpool_limits(threads, "blas")


def _spent() -> None:
    """What the whole process has cost, imports included: Snakemake's own samples miss the last seconds."""
    # Imported where a job ends: only POSIX has it, and studies are read anywhere.
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    # Linux counts kilobytes, macOS bytes.
    unit = 2**20 if sys.platform == "darwin" else 2**10
    log.info("%.2f s of CPU, %d MB at the peak", used.ru_utime + used.ru_stime, used.ru_maxrss / unit)


def end() -> None:
    """End a job whose work is done and whose files are closed, as the last line of a script.

    To give back every object that the libraries have made takes a quarter of the time of their import, in every job.
    """
    insides.run_exit_functions()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _report(kind, error, trace) -> None:
    """The whole trace to the log; to the terminal one line, which is what a user of the workflow can act on."""
    log.error("%s", "".join(traceback.format_exception(kind, error, trace)))
    if issubclass(kind, KeyboardInterrupt):
        # Whoever stopped the run knows.
        log.info(INTERRUPTED)
        return
    # By name, since no job that ends well should pay for them.
    broken = import_module("hierlearn.core.provenance").BrokenSource
    failure = import_module("hierlearn.core.registry").failure
    line = next((line for line in str(error).splitlines() if line.strip()), kind.__name__)
    if not isinstance(error, ValueError):
        line = f"{kind.__name__}: {line}"
    # What the workflow says itself names its file; what a component's lines raise is found by them.
    if isinstance(error, Exception) and not isinstance(error, broken):
        line = failure(error.with_traceback(trace)) or line
    log.error("%s%s", ERROR, line)
    if not is_shown():
        print(f"{ERROR}{line}", file=sys.stderr)
