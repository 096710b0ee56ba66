"""Jobs in copies of one process end, fail and are killed as jobs by themselves do, and leave nothing behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from hierlearn.core import folders
from hierlearn.run import forkserver, handover

pytestmark = pytest.mark.skipif(not forkserver.is_possible(), reason="pidfd_open is Linux's alone")
JOB = "import sys; from hierlearn.run import handover; handover.hand_over(sys.argv[1]); print('by itself')"
# A run: it starts a server, says what it is called, and lives until its input ends.
RUN = """
import os, sys
from hierlearn.run import forkserver, handover
server = forkserver.start({"HIERLEARN_MARK": "set"})
print(os.environ[handover.ADDRESS], server.pid, flush=True)
sys.stdin.read()
"""
# Another thread takes the signals: what waits is not woken, as it is not by one that comes just before.
ELSEWHERE = """import signal, threading
threading.Thread(target=threading.Event().wait, daemon=True).start()
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM])"""
# The script is sent, and no signal caught yet.
INTERRUPTED = """import os, signal
wake = signal.set_wakeup_fd
signal.set_wakeup_fd = lambda fd, **more: print("sent", flush=True) or os.kill(os.getpid(), 2) or wake(fd, **more)"""
WAIT = "import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(60)\n"


class Run:
    """A process with a server, and jobs that are handed over to it."""

    def __init__(self, folder: Path, **variables: str) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        paths = filter(None, (os.environ.get("PYTHONPATH"), variables.pop("PYTHONPATH", None)))
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", RUN],
            # What is printed is buffered, as it is unless somebody asks for it otherwise.
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths), "PYTHONUNBUFFERED": ""} | variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.address, python, number = self.process.stdout.readline().split()
        assert python == sys.executable
        self.server = psutil.Process(int(number))
        _until(lambda: f"@{self.address}" in Path("/proc/net/unix").read_text())

    def job(self, script: str, before: str = "", python: str = sys.executable, **variables: str) -> subprocess.Popen:
        """A job. python: that of the run; before: what the job does first."""
        file = self.folder / "script.py"
        file.write_text(script)
        return subprocess.Popen(
            [sys.executable, "-c", f"{before}\n{JOB}", str(file)],
            env=os.environ | variables | {handover.ADDRESS: f"{self.address} {python}"},
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def early(self, script: str, python_path: str = "") -> str:
        """What a script prints that Snakemake has copied, run as the run's jobs are."""
        file = self.folder / ".snakemake" / "scripts" / "tmp.script.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(script)
        paths = os.pathsep.join(filter(None, (str(forkserver.EARLY), python_path, os.environ.get("PYTHONPATH"))))
        variables = {"PYTHONPATH": paths, handover.ADDRESS: f"{self.address} {sys.executable}"}
        return subprocess.run(
            [sys.executable, file],
            env=os.environ | variables,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout

    def end(self) -> None:
        with self.process:
            self.process.kill()

    def copy_of(self, job: subprocess.Popen) -> psutil.Process:
        """The copy of a job that says its number first."""
        return psutil.Process(int(job.stdout.readline()))


@pytest.fixture(autouse=True)
def interruptible():
    """What a shell has put into the background ignores interrupts, and so would all that it starts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def run(tmp_path):
    made = Run(tmp_path)
    yield made
    made.end()


def _until(condition: Callable[[], object]) -> bool:
    """Whether something comes to hold."""
    deadline = time.monotonic() + 60
    while not (found := condition()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return bool(found)


def _is_gone(process: psutil.Process) -> bool:
    """Whether a process ends; a killed one whose parent has not asked for it counts."""
    return _until(lambda: not process.is_running() or process.status() == psutil.STATUS_ZOMBIE)


# A script of this workflow with what Snakemake puts before it.
PREAMBLE = "from hierlearn.run import handover, job\nprint('preamble', handover.is_copy)\n"
BEGIN = "\nsnakemake = job.start(globals())\n"
ASKED = """import types
__real_file__ = __file__
snakemake = types.SimpleNamespace(params={{'compute_threads': {}}}, log=[])
"""


def test_a_script_of_this_workflow_is_handed_over_before_it_begins(run):
    assert run.early(f"{PREAMBLE}{BEGIN}") == "preamble True\n"


def test_a_script_of_another_workflow_runs_by_itself(run):
    assert run.early(PREAMBLE) == "preamble False\n"


def test_a_job_with_more_threads_goes_on_by_itself(run):
    """Its libraries have to read the number as they load."""
    script = f"{PREAMBLE}{ASKED.format(2)}{BEGIN}import os\nprint(os.environ['OMP_NUM_THREADS'])\n"
    assert run.early(script) == "preamble True\npreamble False\n2\n"
    assert run.early(script.replace("'compute_threads': 2", "'compute_threads': 1")) == "preamble True\n1\n"


def test_what_python_would_have_loaded_as_it_starts_is_loaded(run):
    (run.folder / "sitecustomize.py").write_text("print('mine')\n")
    assert run.early(PREAMBLE, str(run.folder)) == "mine\npreamble False\n"


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


def test_our_modules_warm_up_once_for_all_copies(run):
    script = (
        "import hierlearn.figures._style\n"
        "from matplotlib.mathtext import MathTextParser\n"
        "print(MathTextParser._parse_cached.cache_info().currsize > 0)\n"
    )
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
@pytest.mark.parametrize("before", ["", ELSEWHERE])
def test_a_signal_reaches_the_copy(run, before, number):
    script = f"try:\n{''.join(f'    {line}' + chr(10) for line in WAIT.splitlines())}finally:\n    print('put away')\n"
    job = run.job(script, before)
    copy = run.copy_of(job)
    # It catches them a moment after its script is sent.
    words = Path(f"/proc/{job.pid}/status")
    assert _until(lambda: int(words.read_text().split("SigCgt:")[1].split()[0], 16) >> (number - 1) & 1)
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


def test_a_run_ends_after_its_server(tmp_path):
    # What it has to load takes longer than the run.
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(1)\n")
    run = Run(tmp_path, PYTHONPATH=str(tmp_path))
    assert run.job("import slow").wait() == 0
    run.process.stdin.close()
    run.process.wait()
    assert not psutil.pid_exists(run.server.pid)
    run.end()


def test_without_a_server_a_job_runs_by_itself(run):
    run.server.kill()
    assert _is_gone(run.server)
    assert run.job("print('handed over')").communicate()[0] == "by itself\n"


def test_the_server_has_the_variables_that_are_read_when_a_library_loads(run):
    assert run.server.environ()["HIERLEARN_MARK"] == "set"


def test_a_job_with_another_python_runs_by_itself(run):
    """Snakemake runs it in an environment of its own."""
    assert run.job("print('handed over')", python="/another/python").communicate()[0] == "by itself\n"


def test_what_a_job_ignores_does_not_reach_the_copy(run):
    """As under nohup, when the terminal closes."""
    job = run.job(WAIT, before="import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)")
    copy = run.copy_of(job)
    job.send_signal(signal.SIGHUP)
    # What comes after it is a sign that it was not forwarded.
    job.send_signal(signal.SIGTERM)
    assert job.wait() == -signal.SIGTERM
    assert _is_gone(copy)


def test_a_stopped_job_stops_its_copy_until_it_goes_on(run):
    job = run.job(WAIT)
    copy = run.copy_of(job)
    job.send_signal(signal.SIGTSTP)
    assert _until(lambda: {copy.status(), psutil.Process(job.pid).status()} == {psutil.STATUS_STOPPED})
    job.send_signal(signal.SIGCONT)
    assert _until(lambda: copy.status() != psutil.STATUS_STOPPED)
    job.send_signal(signal.SIGTERM)
    assert job.wait() == -signal.SIGTERM


def test_an_interrupt_that_comes_before_the_copy_is_not_lost(run):
    run.server.suspend()
    job = run.job(WAIT, INTERRUPTED)
    assert job.stdout.readline() == "sent\n"
    run.server.resume()
    assert "handover.py" not in job.communicate()[1] and job.returncode == -signal.SIGINT


def test_files_of_the_working_folder_hide_no_library(tmp_path, monkeypatch):
    (tmp_path / "fractions.py").write_text("raise RuntimeError('not the library')\n")
    monkeypatch.chdir(tmp_path)
    made = Run(tmp_path / "jobs")
    try:
        assert made.job("import fractions; print(fractions.Fraction(1, 2))").communicate()[0] == "1/2\n"
    finally:
        made.end()


def test_own_components_are_loaded_by_every_job(tmp_path, monkeypatch):
    """Jobs must not share what one holds, such as how far a file has been read."""
    own = tmp_path / "own"
    (own / "kernels").mkdir(parents=True)
    (own / "values.txt").write_text("AAAABBBB")
    (own / "kernels" / "reading.py").write_text(f"FILE = open({str(own / 'values.txt')!r})\n")
    monkeypatch.setenv(folders.VARIABLE, str(own))
    made = Run(tmp_path / "jobs")
    try:
        script = "from hierlearn.core import folders\nfrom hierlearn.kernels.reading import FILE\nprint(FILE.read(4))\n"
        assert [made.job(script).communicate()[0] for _ in range(3)] == ["AAAA\n"] * 3
    finally:
        made.end()


def test_an_error_is_traced_from_the_script_on(run):
    _, errors = run.job("import no_such_library").communicate()
    assert "no_such_library" in errors
    assert "forkserver.py" not in errors
    assert "runpy" not in errors


def test_exit_functions_of_the_server_are_not_those_of_a_job(run):
    (run.folder / "tidy.py").write_text("import atexit\natexit.register(print, 'tidied')\n")
    run_with = Run(run.folder / "jobs", PYTHONPATH=f"{run.folder}")
    try:
        assert [run_with.job("import tidy").communicate()[0] for _ in range(2)] == ["tidied\n", ""]
    finally:
        run_with.end()
