"""What a job that fails says to the terminal."""

import pytest

from hierlearn.core import registry
from hierlearn.core.provenance import BrokenSource
from hierlearn.run import job


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


def raised(source, *place):
    """The error of running the lines of a function `fit` that a file of the package might have."""
    scope = {}
    try:
        exec(compile(source, str(registry.PACKAGE.joinpath(*place)), "exec"), scope)
        scope["fit"]()
    except BaseException as error:
        return error


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
def test_an_exception_in_a_component_is_said_with_file_and_line(statement, line, capsys, caplog, monkeypatch):
    monkeypatch.chdir(registry.PACKAGE.parents[1])
    error = raised(f"def fit():\n    pass\n    {statement}\n", "learners", "mine.py")
    text = reported(error, capsys, error.__traceback__)
    assert text.count("\n") == 1
    assert text == f"error: workflow/hierlearn/learners/mine.py:3: {line}\n"
    assert "Traceback" in caplog.text
    assert "mine.py" in caplog.text


def test_the_innermost_component_is_the_one_that_is_named(capsys):
    kernel = "def kernel():\n    [][1]\n"
    scope = {}
    exec(compile(kernel, str(registry.PACKAGE / "kernels" / "mine.py"), "exec"), scope)
    exec(compile("def fit():\n    kernel()\n", str(registry.PACKAGE / "learners" / "mine.py"), "exec"), scope)
    with pytest.raises(IndexError) as caught:
        scope["fit"]()
    assert "kernels/mine.py:2: IndexError: list index out of range" in reported(caught.value, capsys, caught.tb)


def test_an_exception_of_the_workflow_itself_is_said_as_before(capsys):
    error = raised("def fit():\n    raise ValueError('no')\n", "files", "mine.py")
    assert reported(error, capsys, error.__traceback__) == "error: no\n"


def test_a_broken_file_is_said_in_its_own_words(capsys):
    error = raised("def fit():\n    error('teachers/a.py:3: no')\n", "learners", "mine.py")
    error = BrokenSource("teachers/a.py:3: no").with_traceback(error.__traceback__)
    assert reported(error, capsys, error.__traceback__) == "error: teachers/a.py:3: no\n"


def test_an_interruption_is_no_fault_of_a_component(capsys):
    error = raised("def fit():\n    raise KeyboardInterrupt\n", "learners", "mine.py")
    assert reported(error, capsys, error.__traceback__) == "error: KeyboardInterrupt: KeyboardInterrupt\n"
