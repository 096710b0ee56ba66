"""Private attributes of others do what they are used for; one that has changed is told here."""

import subprocess
import sys
from types import SimpleNamespace

from hierlearn.pipeline.run import insides

EXITS = """
import atexit
from hierlearn.pipeline.run import insides
atexit.register(print, "forgotten")
insides.forget_exit_functions()
atexit.register(print, "run")
insides.run_exit_functions()
print("once")
"""
SERVED = """
import multiprocessing, time
from hierlearn.pipeline.run import insides
process = multiprocessing.get_context("forkserver").Process(target=time.sleep, args=(0,))
process.start()
process.join()
insides.stop_fork_server()
"""


def test_exit_functions_are_forgotten_and_run():
    done = subprocess.run([sys.executable, "-c", EXITS], capture_output=True, text=True, check=True)
    assert done.stdout == "run\nonce\n"


def test_a_server_that_is_stopped_leaves_no_process():
    code = f"{SERVED}\nimport psutil; print(psutil.Process().children(recursive=True))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_jobs_are_started_at_once_where_snakemake_has_the_limit():
    limited, other = (SimpleNamespace(scheduler=SimpleNamespace(**own)) for own in ({"job_rate_limiter": 1}, {}))
    for workflow in (limited, other):
        insides.start_jobs_at_once(workflow)
    assert limited.scheduler.job_rate_limiter is None and vars(other.scheduler) == {}
