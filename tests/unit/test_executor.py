"""Jobs that are forks of one process end, fail and are killed as jobs by themselves do, and leave nothing behind."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from snakemake.common.tests import TestWorkflowsLocalStorageBase

from hierlearn.pipeline.run import ending, server
from hierlearn.pipeline.run.job import INTERRUPTED

ROOT = Path(__file__).parents[2]
# What a script learns of its job.
TOLD = """
import json, os, sys, module
lists = snakemake.input, snakemake.output, snakemake.log
told = [*map(list, lists), snakemake.resources.mem_mb, snakemake.threads, snakemake.rule, snakemake.params.value]
told += [dict(snakemake.wildcards.items()), snakemake.config, snakemake.scriptdir]
told += [os.getcwd(), os.environ["OWN"], sys.argv[1:], __name__, module.VALUE, os.path.basename(__file__)]
json.dump(told, open(snakemake.output[0], "w"))
"""
# Whether a job's parent is the server.
PARENT = """
import psutil
open(snakemake.output[0], "w").write(str("forkserver" in " ".join(psutil.Process().parent().cmdline())))
"""
DONE = "open(snakemake.output[0], 'w').write('done')\n"
GOOD = {
    "told": TOLD,
    "forked": PARENT,
    "talks": f"print('said')\n{DONE}",
    "exits": f"import sys\n{DONE}sys.exit()",
    "registers": f"import atexit\n{DONE}atexit.register(print, 'last words')",
    "advances": "from hierlearn.pipeline.run import job, monitor\nmonitor.JobMonitor().advance(1, 2)\n"
    + DONE
    + "job.end()",
    "hidden": "import fractions\nopen(snakemake.output[0], 'w').write(str(fractions.Fraction(1, 2)))",
}
# Lines of a rule whose jobs run as Snakemake's own executor runs them; what its environment says is not asked for.
APART = {"threaded": "params: compute_threads=2", "shadowed": "shadow: 'minimal'", "timed": "benchmark: 'timed.tsv'"}
DECLARED = {"declared": "conda: 'environment.yaml'"}
BAD = {
    "numbered": "import sys; sys.exit(3)",
    "worded": "import sys; sys.exit('not so')",
    "raised": "def fail():\n    raise ValueError('broken')\nfail()",
    "unreadable": "this is no Python",
    "left": "import os; os._exit(7)",
    "lost": "import os; os._exit(255)",
    "crashed": "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
    "killed": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
}
WAITS = "import os, time\nopen('{0}.part', 'w').write(str(os.getpid()))\nos.rename('{0}.part', '{0}.pid')\n"
# Jobs that last: one waits, one keeps the interpreter to itself.
LONG = {
    "waiting": f"{WAITS.format('waiting')}try:\n    time.sleep(600)\nfinally:\n    open('put-away', 'w').close()\n",
    "computing": f"{WAITS.format('computing')}sum(range(10**12))\n",
}


def workflow(folder: Path, scripts: dict[str, str], lines: dict[str, str] | None = None) -> Path:
    """A folder with a rule for every script. lines: more of a rule."""
    folder.mkdir(exist_ok=True)
    rules = [f"rule all:\n    input: {[f'{name}.txt' for name in scripts]}\n"]
    rules += ["onstart:\n    assert hasattr(workflow.scheduler, 'job_rate_limiter')\n"]
    for name, script in scripts.items():
        (folder / f"{name}.py").write_text(script)
        own = (lines or {}).get(name, "params: value={'a': [1, None, 'ä']}")
        rules.append(
            f"rule {name}:\n    output: '{name}.txt'\n    log: '{name}.log'\n    resources: mem_mb=17\n"
            f"    {own}\n    script: '{name}.py'\n"
        )
    (folder / "Snakefile").write_text("\n".join(rules))
    (folder / "environment.yaml").write_text("dependencies: []\n")
    (folder / "module.py").write_text("VALUE = 5\n")
    return folder


def start(folder: Path, executor: str, **variables: str) -> subprocess.Popen:
    """A run in a session of its own, which an interrupt can reach."""
    words = ["--executor", executor, "--cores", "4", "--keep-going", "--workflow-profile", "none", "--config", "key=1"]
    return subprocess.Popen(
        [Path(sys.executable).with_name("snakemake"), *words],
        cwd=folder,
        # What is printed is buffered, as it is unless somebody asks for it otherwise.
        env=os.environ | {"OWN": "mine", "PYTHONUNBUFFERED": "", "PYTHONSAFEPATH": "1"} | variables,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def alive(session: int) -> list[psutil.Process]:
    """The processes of a session that have not ended."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, ProcessLookupError):
            if os.getsid(process.pid) == session and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def until(condition: Callable[[], object]) -> bool:
    """Whether something comes to hold."""
    deadline = time.monotonic() + 120
    while not (holds := condition()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return bool(holds)


def end(run: subprocess.Popen) -> None:
    for process in alive(run.pid):
        with suppress(psutil.Error):
            process.kill()
    run.wait()


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[str, tuple[Path, int, str]]:
    """executor -> the folder, the exit status and the words of a run of jobs of all kinds."""
    done = {}
    parents = dict.fromkeys((*APART, *DECLARED), PARENT)
    for executor in ("local", "hierlearn"):
        folder = workflow(tmp_path_factory.mktemp("jobs") / "same", GOOD | BAD | parents, APART | DECLARED)
        # It lies beside the scripts, and hides no library.
        (folder / "fractions.py").write_text("raise RuntimeError('not the library')\n")
        # A socket could not lie in a folder of such a name.
        temporary = folder.with_name("t" * 100)
        temporary.mkdir()
        run = start(folder, executor, TMPDIR=str(temporary))
        text, _ = run.communicate()
        done[executor] = folder, run.returncode, text
        assert not alive(run.pid)
    return done


def outputs(folder: Path) -> dict[str, str]:
    return {file.stem: file.read_text().replace(str(folder), "") for file in sorted(folder.glob("*.txt"))}


def test_the_same_jobs_succeed_and_fail_and_write_the_same(runs):
    local, forked = (outputs(folder) for folder, *_ in runs.values())
    assert forked.pop("forked") == "True" and local.pop("forked") == "False"
    assert forked.pop("declared") == "True" and local.pop("declared") == "False"
    assert local == forked
    assert forked.keys() == (GOOD | APART).keys() - {"forked"}
    assert [status for _, status, _ in runs.values()] == [1, 1]
    assert json.loads(forked["told"])[6] == {"a": [1, None, "ä"]}


@pytest.mark.parametrize("name", APART)
def test_what_needs_a_process_of_its_own_runs_as_in_snakemakes_executor(runs, name):
    assert outputs(runs["hierlearn"][0])[name] == "False"


@pytest.mark.parametrize("text", ["not so\n", "said\n", "last words\n", "ValueError: broken\n", "SyntaxError"])
def test_what_a_job_says_is_on_the_terminal(runs, text):
    assert all(text in said for *_, said in runs.values())


def test_a_job_that_shows_how_far_it_is_leaves_nothing_to_clean_up(runs):
    assert all("leaked" not in said for *_, said in runs.values())


def test_an_error_is_traced_from_the_script_on(runs):
    *_, text = runs["hierlearn"]
    assert text.count("Traceback") == 1 and "raised.py" in text
    assert "runpy" not in text and "fork.py" not in text


@pytest.fixture
def lasting(tmp_path):
    """A run, and its two jobs that last."""
    run = start(workflow(tmp_path, LONG), "hierlearn")
    numbers = [tmp_path / f"{name}.pid" for name in LONG]
    assert until(lambda: all(file.exists() for file in numbers) or run.poll() is not None) and run.poll() is None
    yield run, [psutil.Process(int(file.read_text())) for file in numbers]
    end(run)


def test_nothing_is_left_of_a_run_that_is_killed(lasting):
    run, _ = lasting
    run.kill()
    assert until(lambda: not alive(run.pid))


def test_a_job_that_is_no_fork_ends_with_a_run_that_is_killed(tmp_path):
    script = f"from hierlearn.pipeline.run import ending\nending.end_with_the_run()\n{LONG['computing']}"
    run = start(workflow(tmp_path, {"apart": script}, {"apart": APART["threaded"]}), "hierlearn")
    try:
        assert until((tmp_path / "computing.pid").exists)
        run.kill()
        assert until(lambda: not alive(run.pid))
    finally:
        end(run)


def test_a_main_process_does_not_end_with_what_it_closes(monkeypatch):
    monkeypatch.setenv(ending.RUN, f"{os.getpid()} nowhere")
    ending.end_with_the_run()
    monkeypatch.delenv(ending.RUN)
    ending.end_with_the_run()


@pytest.mark.parametrize("is_open", [True, False], ids=["open", "closed"])
def test_a_job_that_begins_after_its_run_was_killed_ends_at_once(tmp_path, is_open):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    held = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    os.write(held, b"1")
    if not is_open:
        os.close(held)
    code = "from hierlearn.pipeline.run import ending; ending.end_with_the_run(); print('began')"
    environment = os.environ | {ending.RUN: f"1 {pipe}"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == ("began\n" if is_open else "")


def test_an_interrupt_ends_the_jobs_as_an_exception_and_then_the_run(lasting, tmp_path):
    run, jobs = lasting
    # Sum answers no interrupt before it has ended.
    jobs[1].kill()
    os.killpg(run.pid, signal.SIGINT)
    text, _ = run.communicate()
    assert run.returncode == 1 and (tmp_path / "put-away").exists()
    assert not alive(run.pid)
    assert "KeyboardInterrupt" in text and "multiprocessing" not in text


@pytest.mark.parametrize("moment", [0.0, 0.2, 0.5])
def test_an_interrupt_while_the_server_loads_ends_the_run_without_a_trace(moment, tmp_path):
    # Where the server has loaded before the interrupt comes, the job ends by itself.
    script = "import sys, time\ntry:\n    time.sleep(600)\nexcept KeyboardInterrupt:\n    sys.exit(1)\n"
    run = start(workflow(tmp_path, {"job": script}), "hierlearn")
    try:
        assert until(lambda: any("forkserver" in word for one in alive(run.pid) for word in words_of(one)))
        time.sleep(moment)
        os.killpg(run.pid, signal.SIGINT)
        text, _ = run.communicate(timeout=60)
    finally:
        end(run)
    assert run.returncode == 1 and "Traceback" not in text, text
    assert not alive(run.pid) and not (tmp_path / "job.txt").exists()
    # What the job's log says last is for whoever shows how far the run is.
    log = tmp_path / "job.log"
    assert not log.exists() or log.read_text().endswith(f" {INTERRUPTED}\n")


def words_of(process: psutil.Process) -> list[str]:
    """The command line of a process, none where it has ended."""
    with suppress(psutil.Error):
        return process.cmdline()
    return []


def test_jobs_end_with_their_server_and_the_run_goes_on(lasting, tmp_path):
    run, jobs = lasting
    jobs[0].parent().kill()
    text, _ = run.communicate()
    assert run.returncode == 1 and "Traceback" not in text
    assert until(lambda: not alive(run.pid))


def test_the_executor_imports_nothing_of_the_package_before_a_workflow_does():
    code = (
        "import snakemake_executor_plugin_hierlearn, sys; print([n for n in sys.modules if n.startswith('hierlearn')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


LOADED = """
import sys
sys.path[:0] = [{folder!r}]
from hierlearn.pipeline.run import ending, server
server.load("main.py", {names!r})
import os
from matplotlib.mathtext import MathTextParser
print("broken" in sys.modules, "sound" in sys.modules, "module" in sys.modules, os.environ["OMP_NUM_THREADS"])
print(MathTextParser._parse_cached.cache_info().currsize > 0)
"""


def test_the_server_loads_what_can_be_loaded_and_warms_it_up(tmp_path):
    (tmp_path / "broken.py").write_text("1 / 0\n")
    (tmp_path / "sound.py").write_text("")
    (tmp_path / "module.py").write_text("")
    (tmp_path / "script.py").write_text("import module\n")
    names = ["absent", "broken", "sound", str(tmp_path / "script.py"), "hierlearn.pipeline.figures._style"]
    code = LOADED.format(folder=str(tmp_path), names=names)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False True True 1\nTrue\n", done.stdout + done.stderr
    assert server.VARIABLE not in os.environ


class TestAsTheInterfaceAsksForIt(TestWorkflowsLocalStorageBase):
    """Snakemake's own tests of an executor."""

    __test__ = True

    def get_executor(self):
        return "hierlearn"

    def get_executor_settings(self):
        return None

    def teardown_method(self):
        assert ending.RUN not in os.environ
