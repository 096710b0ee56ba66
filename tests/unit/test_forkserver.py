"""Jobs in copies of one process end, fail and are killed as jobs by themselves do, and leave nothing behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from hierlearn.run import forkserver

pytestmark = pytest.mark.skipif(not forkserver.is_possible(), reason="pidfd_open is Linux's alone")
JOB = "import sys; from hierlearn.run import forkserver; forkserver.hand_over(sys.argv[1]); print('by itself')"
# A run: it starts a server, says what it is called, and lives until its input ends.
RUN = """
import os, sys
from hierlearn.run import forkserver
server = forkserver.start({"HIERLEARN_MARK": "set"})
print(os.environ[forkserver.ADDRESS], server.pid, flush=True)
sys.stdin.read()
"""
WAIT = "import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(60)\n"


class Run:
    """A process with a server, and jobs that are handed over to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-c", RUN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.address, number = self.process.stdout.readline().split()
        self.server = psutil.Process(int(number))
        deadline = time.monotonic() + 60
        while f"@{self.address}" not in Path("/proc/net/unix").read_text() and time.monotonic() < deadline:
            time.sleep(0.01)

    def job(self, script: str, **variables: str) -> subprocess.Popen:
        file = self.folder / "script.py"
        file.write_text(script)
        return subprocess.Popen(
            [sys.executable, "-c", JOB, str(file)],
            env=os.environ | variables | {forkserver.ADDRESS: self.address},
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def copy_of(self, job: subprocess.Popen) -> psutil.Process:
        """The copy in which a job waits that says its number first."""
        return psutil.Process(int(job.stdout.readline()))


@pytest.fixture
def run(tmp_path):
    made = Run(tmp_path)
    yield made
    made.process.kill()
    made.process.stdout.close()
    made.process.wait()


def _is_gone(process: psutil.Process) -> bool:
    """Whether a process ends; a killed one whose parent has not asked for it counts."""
    deadline = time.monotonic() + 60
    while process.is_running() and process.status() != psutil.STATUS_ZOMBIE and time.monotonic() < deadline:
        time.sleep(0.01)
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def test_a_copy_has_the_files_the_folder_and_the_variables_of_its_job(run):
    script = "import os, sys\nprint(os.getcwd(), os.environ['OWN'], sys.argv, __name__)\nprint('no', file=sys.stderr)\n"
    job = run.job(script, OWN="mine")
    printed, errors = job.communicate()
    assert (printed, errors, job.returncode) == (
        f"{run.folder} mine {[str(run.folder / 'script.py')]} __main__\n",
        "no\n",
        0,
    )


@pytest.mark.parametrize(
    ("script", "status", "said"),
    [
        ("import sys; sys.exit(3)", 3, ""),
        ("import sys; sys.exit('not so')", 1, "not so"),
        ("import sys; sys.exit()", 0, ""),
        ("raise ValueError('broken')", 1, "ValueError: broken"),
        ("this is no Python", 1, "SyntaxError"),
        ("import os; os._exit(7)", 7, ""),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", -signal.SIGSEGV, ""),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL, ""),
        ("import atexit; atexit.register(print, 'last')", 0, ""),
    ],
)
def test_a_job_ends_as_its_copy_does(run, script, status, said):
    job = run.job(script)
    printed, errors = job.communicate()
    assert job.returncode == status
    assert said in errors
    assert printed == ("last\n" if "last" in script else "")


def test_what_a_copy_had_to_import_is_there_for_the_next(run):
    script = "import sys\nprint('fractions' in sys.modules)\nimport fractions\n"
    assert [run.job(script).communicate()[0] for _ in range(2)] == ["False\n", "True\n"]


def test_what_is_found_in_a_job_alone_stays_there(run):
    (run.folder / "own_part.py").write_text("print('loaded')\n")
    script = "import sys\nsys.path.insert(0, '.')\nprint('own_part' in sys.modules)\nimport own_part\n"
    assert [run.job(script).communicate()[0] for _ in range(2)] == ["False\nloaded\n"] * 2


def test_jobs_run_beside_each_other(run):
    first = run.job(WAIT)
    copy = run.copy_of(first)
    assert run.job("print('done')").communicate()[0] == "done\n"
    copy.kill()
    first.communicate()
    assert first.returncode == -signal.SIGKILL


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_reaches_the_copy(run, number):
    script = f"try:\n{''.join(f'    {line}' + chr(10) for line in WAIT.splitlines())}finally:\n    print('put away')\n"
    job = run.job(script)
    copy = run.copy_of(job)
    job.send_signal(number)
    printed, _ = job.communicate()
    assert job.returncode == -number
    assert _is_gone(copy)
    # As in a process of its own: an interrupt is an exception, the other signal ends it.
    assert printed == ("put away\n" if number == signal.SIGINT else "")


def test_a_killed_job_takes_its_copy_along(run):
    job = run.job(WAIT)
    copy = run.copy_of(job)
    job.kill()
    assert _is_gone(copy)
    job.communicate()
    assert run.job("print('still here')").communicate()[0] == "still here\n"


@pytest.mark.parametrize("victim", ["run", "server", "end"])
def test_nothing_is_left_of_a_run_that_ends(run, victim):
    job = run.job(WAIT)
    copy = run.copy_of(job)
    if victim == "end":
        run.process.stdin.close()
    else:
        {"run": run.process, "server": run.server}[victim].kill()
    _, errors = job.communicate()
    assert job.returncode in (1, -signal.SIGKILL)
    assert errors in ("", "error: the process that this job ran in was killed\n")
    assert _is_gone(copy)
    assert _is_gone(run.server)


def test_without_a_server_a_job_runs_by_itself(run):
    run.server.kill()
    assert _is_gone(run.server)
    assert run.job("print('handed over')").communicate()[0] == "by itself\n"


def test_the_server_has_the_variables_that_are_read_when_a_library_loads(run):
    assert run.server.environ()["HIERLEARN_MARK"] == "set"
