"""The time that is left follows the estimates first and then what jobs took; a study is finished with its last job."""

import io
from dataclasses import replace

import pytest

from hierlearn.plan.progress import NEARLY, Progress, Work, duration, table
from hierlearn.plan.terminal import CLEAR, Terminal, cut


def run(costs, parallel=1):
    """Jobs of one study each, with estimated core-seconds."""
    jobs = {i: Work(f"study-{i}", "train", "all/kernel.train", "a.log", cost) for i, cost in enumerate(costs)}
    return Progress(jobs, 100.0, parallel)


def test_before_anything_has_run_the_estimates_are_all_there_is():
    assert run([60.0, 30.0]).left(100.0) == pytest.approx(90.0)
    assert run([60.0, 30.0], parallel=3).left(100.0) == pytest.approx(30.0)


def test_where_jobs_take_twice_as_long_so_will_the_others():
    state = run([5000.0, 1000.0])
    state.start(0, 100.0)
    state.end(0)
    assert state.left(100.0 + 10_000.0) == pytest.approx(2000.0, rel=0.01)


def test_a_job_that_outruns_its_estimate_is_nearly_done_and_no_more():
    state = run([100.0, 100.0])
    state.start(0, 100.0)
    assert state.share(100.0 + 1e6) == NEARLY / 2
    state.end(0)
    assert state.share(100.0 + 1e6) == 0.5


def test_a_job_that_waits_in_a_queue_has_done_nothing_until_it_ends():
    state = replace(run([100.0, 100.0]), is_local=False)
    state.start(0, 100.0)
    assert state.share(100.0 + 1e6) == 0.0
    state.end(0)
    assert state.share(100.0 + 1e6) == 0.5


def test_a_study_is_finished_when_all_its_jobs_have_ended_well_and_a_second_try_counts():
    jobs = {1: Work("a", "judge", "judge", "", 1.0), 2: Work("a", "figure", "figure", "", 1.0)}
    state = Progress(jobs | {3: Work("", "ledger", "ledger", "", 1.0)}, 0.0, 1)
    state.end(1)
    state.end(2, failed=True)
    assert state.studies() == ["a"] and state.finished() == set() and state.failed == {2}
    state.start(2, 5.0)
    state.end(2)
    assert state.finished() == {"a"} and state.failed == set()


def test_jobs_of_no_run_are_no_concern():
    state = run([1.0])
    state.start(7, 100.0)
    state.end(7)
    assert state.share(101.0) == 0.0


def test_a_plan_counts_jobs_by_study_and_rule_and_adds_core_hours():
    jobs = [Work("b", "train", "x", "", 3600.0), Work("b", "train", "y", "", 1800.0), Work("a", "probe", "p", "", 0.0)]
    assert [line.split() for line in table(jobs)] == [
        ["study", "jobs", "train", "probe", "core-hours"],
        ["a", "1", "1", "0"],
        ["b", "2", "2", "1.5"],
        ["all", "3", "2", "1", "1.5"],
    ]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-1, "0 s"), (59.4, "59 s"), (61, "1 min"), (3600 * 2 + 300, "2 h 5 min"), (3600 * 100, "4 days 4 h")],
)
def test_times_are_for_people(seconds, text):
    assert duration(seconds) == text


class Screen(io.StringIO):
    def isatty(self):
        return True


def test_without_a_terminal_nothing_is_drawn_again():
    stream = io.StringIO()
    terminal = Terminal(stream)
    terminal.draw(["bar"])
    terminal.say(terminal.paint("done", "green"))
    terminal.clear()
    assert stream.getvalue() == "done\n"


def test_lines_that_stay_are_said_above_those_that_are_drawn_again(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    stream = Screen()
    terminal = Terminal(stream)
    terminal.draw(["bar", "job"])
    terminal.say("done")
    assert stream.getvalue() == f"{CLEAR}bar\njob\r\x1b[1A" + f"{CLEAR}done\nbar\njob\r\x1b[1A"
    assert terminal.paint("x", "red") == "\x1b[31mx\x1b[0m"


def test_a_line_is_cut_to_the_window_by_what_is_seen_of_it():
    assert cut("\x1b[32mabc\x1b[0m", 3) == "\x1b[32mabc\x1b[0m"
    assert cut("\x1b[32mabcd\x1b[0m", 3) == "ab…"
