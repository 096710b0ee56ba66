"""All private attributes of others that this project uses, each with its reason; tests tell when one changes."""

import atexit
from multiprocessing import forkserver, resource_tracker
from typing import Any


def run_exit_functions() -> None:
    """Run what was registered to run at the end of the process, now: `os._exit` and forks skip it."""
    atexit._run_exitfuncs()


def forget_exit_functions() -> None:
    """Unregister what was registered before a fork: it is for the end of the process that was forked."""
    atexit._clear()


def stop_fork_server() -> None:
    """End the standard library's fork server and its helper, and wait for them; else they outlive this process a while.

    Forks that still run are not ended.
    """
    forkserver._forkserver._stop()
    resource_tracker._resource_tracker._stop()


def start_jobs_at_once(workflow: Any) -> None:
    """Let Snakemake start any number of jobs in a time.

    With a limit it looks again at all jobs that wait, every few seconds and once more for every job that has ended,
    which took a tenth of a run. No option has the same effect without a timer that outlives the run.
    """
    if "job_rate_limiter" in vars(workflow.scheduler):
        workflow.scheduler.job_rate_limiter = None
