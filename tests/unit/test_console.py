"""What redraws the terminal: it ends with the run, and outlives what it cannot show."""

import io
import logging
import threading
import time
from types import SimpleNamespace

import pytest

from hierlearn.plan.console import Console
from hierlearn.plan.progress import Progress, Work


class Moments(threading.Event):
    """An event that nobody waits for. before: what happens between two looks at it."""

    def __init__(self, *before):
        super().__init__()
        self.before = list(before)

    def wait(self, timeout=None):
        """Whether it has come; what happens next comes just after."""
        has_come = self.is_set()
        if self.before:
            self.before.pop(0)()
        return has_come


@pytest.fixture
def console():
    settings = SimpleNamespace(quiet=None, nocolor=True)
    found = Console(logging.NullHandler(), None, SimpleNamespace(output_settings=settings))
    found.terminal.stream, found.terminal.is_live = io.StringIO(), True
    return found


def test_nothing_is_drawn_once_a_run_has_said_its_last_words(console, monkeypatch):
    monkeypatch.setattr(console, "_live", lambda: ["50 %"])
    console.ended = Moments(lambda: None, console._last_words)
    console._redraw()
    # One draw, and the line is cleared.
    assert console.terminal.stream.getvalue().count("50 %") == 1 and console.terminal.live == []


def test_what_cannot_be_shown_once_is_shown_the_next_time(console, monkeypatch):
    answers = [OSError("a log that is gone"), ["60 %"]]

    def live():
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(console, "_live", live)
    console.ended = Moments(lambda: None, lambda: None, console._last_words)
    console._redraw()
    assert "60 %" in console.terminal.stream.getvalue() and answers == []


@pytest.mark.parametrize(("last", "failed"), [("error: no more memory", {0}), ("interrupted", set())])
def test_a_job_that_is_stopped_with_the_run_has_not_failed(console, tmp_path, last, failed):
    log = tmp_path / "train.log"
    log.write_text(f"2026-01-01 00:00:00,000 step 1\n2026-01-01 00:00:01,000 {last}\n")
    console.progress = Progress({0: Work("small", "train", "all/kernel", str(log), 1.0)}, time.monotonic(), 1)
    console.progress.start(0, time.monotonic())
    console._failure(SimpleNamespace(jobid=0, log=[str(log)], indent=False, rule_name="train"))
    assert console.progress.failed == failed and console.progress.running == {}
    assert ("no more memory" in console.terminal.stream.getvalue()) == bool(failed)
    assert bool(console.terminal.stream.getvalue()) == bool(failed)
