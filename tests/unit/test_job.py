"""What a job that fails says to the terminal."""

import runpy
import subprocess
import sys

import pytest

from hierlearn.core import folders
from hierlearn.core.provenance import BrokenSource
from hierlearn.pipeline.run import job


def reported(error, capsys, trace=None):
    job._report(type(error), error, trace)
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("one\ntwo"), "error: one"),
        (ValueError("\n\n  one\ntwo"), "error:   one"),
        (ValueError(" \n"), "error: ValueError"),
        (OSError("one"), "error: OSError: one"),
        (OSError(), "error: OSError: OSError"),
    ],
)
def test_an_error_is_one_line_that_says_something(error, line, capsys):
    assert reported(error, capsys) == f"{line}\n"


def test_a_job_that_is_stopped_among_its_first_imports_shows_no_trace(tmp_path):
    code = """
from types import SimpleNamespace
from hierlearn.pipeline.run import job

def stop(threads):
    raise KeyboardInterrupt

job._exactly = stop
job.start({"snakemake": SimpleNamespace(params={"compute_threads": 2}, log=["log"])})
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, text=True, capture_output=True, check=False)
    assert done.returncode != 0 and done.stderr == ""
    assert (tmp_path / "log").read_text().splitlines()[-1].endswith(job.INTERRUPTED)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A function: the lines of a file and its place in a package -> what the file defines."""
    monkeypatch.setattr(folders, "PACKAGE", tmp_path / "workflow" / "hierlearn")
    monkeypatch.chdir(tmp_path)

    def defined(source, *place):
        file = folders.PACKAGE.joinpath(*place)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source)
        return runpy.run_path(str(file))

    return defined


def raised(package, source, *place):
    """The error of running a function `fit` that a file of the package might have."""
    with pytest.raises(BaseException) as caught:
        package(source, *place)["fit"]()
    return caught.value


@pytest.mark.parametrize(
    ("statement", "line"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("raise ValueError('one\\ntwo')", "ValueError: one"),
        ("assert False", "AssertionError"),
        ("import a_module_that_nobody_has", "ModuleNotFoundError: No module named 'a_module_that_nobody_has'"),
        ("(", "SyntaxError: '(' was never closed"),
    ],
)
def test_an_exception_in_a_component_is_said_with_file_and_line(statement, line, capsys, caplog, package):
    error = raised(package, f"def fit():\n    pass\n    {statement}\n", "learners", "mine.py")
    text = reported(error, capsys, error.__traceback__)
    assert text.count("\n") == 1
    assert text == f"error: workflow/hierlearn/learners/mine.py:3: {line}\n"
    assert "Traceback" in caplog.text
    assert "mine.py" in caplog.text


def test_the_innermost_component_is_the_one_that_is_named(capsys, package):
    kernel = package("def kernel():\n    [][1]\n", "kernels", "mine.py")["kernel"]
    fit = package("def fit(kernel):\n    kernel()\n", "learners", "mine.py")["fit"]
    with pytest.raises(IndexError) as caught:
        fit(kernel)
    assert "kernels/mine.py:2: IndexError: list index out of range" in reported(caught.value, capsys, caught.tb)


def test_an_exception_of_the_workflow_itself_is_said_as_before(capsys, package):
    error = raised(package, "def fit():\n    raise ValueError('no')\n", "files", "mine.py")
    assert reported(error, capsys, error.__traceback__) == "error: no\n"


def test_a_broken_file_is_said_in_its_own_words(capsys, package):
    error = raised(package, "def fit():\n    error('teachers/a.py:3: no')\n", "learners", "mine.py")
    error = BrokenSource("teachers/a.py:3: no").with_traceback(error.__traceback__)
    assert reported(error, capsys, error.__traceback__) == "error: teachers/a.py:3: no\n"


def test_an_interruption_is_no_fault_of_a_component_and_whoever_stops_the_run_knows(capsys, caplog, package):
    caplog.set_level("INFO")
    error = raised(package, "def fit():\n    raise KeyboardInterrupt\n", "learners", "mine.py")
    assert reported(error, capsys, error.__traceback__) == ""
    assert caplog.messages[-1] == job.INTERRUPTED and job.ERROR not in caplog.text


SCRIPT = """
import atexit, sys
from pathlib import Path
from types import SimpleNamespace
snakemake = SimpleNamespace(params={}, log=["job.log"])
from hierlearn.pipeline.run import job
job.start(globals())
atexit.register(Path("closed").touch)
print("said", end="")
%s
job.end()
Path("beyond").touch()
"""


@pytest.mark.parametrize(("statement", "code"), [("", 0), ("1 / 0", 1), ("sys.exit(3)", 3)])
def test_a_job_ends_with_its_log_whole_and_its_own_exit_code(statement, code, tmp_path):
    done = subprocess.run([sys.executable, "-c", SCRIPT % statement], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (code, "said")
    assert "s of CPU" in (tmp_path / "job.log").read_text()
    assert (tmp_path / "closed").exists() and not (tmp_path / "beyond").exists()
