"""What a job that fails says to the terminal."""

import pytest

from hierlearn.run import job


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
    job._report(type(error), error, None)
    assert capsys.readouterr().err == f"{line}\n"
