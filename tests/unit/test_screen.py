"""What rich prints: codes on a terminal alone, lines above those that are drawn again, tables of any width."""

import io
import re

import pytest
from rich.text import Text

from snakemake_logger_plugin_hierlearn.screen import ERASE, Screen

RED = Text("x", style="red")


class Window(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def surroundings(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)


def printed(stream, monkeypatch, columns=80, lines=24, coloured=True):
    """A screen of a size, and its stream."""
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("LINES", str(lines))
    return Screen(stream, coloured), stream


@pytest.mark.parametrize("forced", ["FORCE_COLOR", "TTY_COMPATIBLE"])
def test_without_a_terminal_nothing_is_drawn_again_and_no_line_is_cut(monkeypatch, forced):
    monkeypatch.setenv(forced, "1")
    screen, stream = printed(io.StringIO(), monkeypatch)
    screen.draw(["bar"])
    screen.say(RED, "word " * 60)
    screen.draw(())
    assert stream.getvalue() == "x\n" + "word " * 60 + "\n"


def test_lines_that_stay_are_said_above_those_that_are_drawn_again(monkeypatch):
    screen, stream = printed(Window(), monkeypatch)
    screen.draw(["bar", "job"])
    screen.say("done")
    assert stream.getvalue() == f"bar\njob\n\x1b[2A\r{ERASE}done\nbar\njob\n\x1b[2A"
    screen.draw(())
    assert stream.getvalue().endswith(f"\r{ERASE}") and screen.drawn == []


def test_a_terminal_has_colours_unless_it_is_told_not_to(monkeypatch):
    screen, stream = printed(Window(), monkeypatch)
    screen.say(RED)
    assert stream.getvalue() == "\x1b[31mx\x1b[0m\n"
    screen, stream = printed(Window(), monkeypatch, coloured=False)
    screen.say(RED)
    monkeypatch.setenv("NO_COLOR", "1")
    for_all, other = printed(Window(), monkeypatch)
    for_all.say(RED)
    assert stream.getvalue() == other.getvalue() == "x\n"


def test_a_terminal_that_knows_no_codes_gets_none(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    screen, stream = printed(Window(), monkeypatch)
    screen.draw(["bar"])
    screen.say(RED)
    assert stream.getvalue() == "x\n"


def test_lines_that_are_drawn_again_are_cut_to_the_window_and_leave_a_line_of_it(monkeypatch):
    screen, stream = printed(Window(), monkeypatch, columns=10, lines=4)
    screen.draw(["a line that is too long", "two", "three", "four", "five"])
    assert stream.getvalue() == "a line th…\ntwo\nthree\n\x1b[3A"


def test_words_in_brackets_are_no_markup(monkeypatch):
    screen, stream = printed(io.StringIO(), monkeypatch)
    screen.say("[bold]risk[/bold] :tada: [0.25]")
    assert stream.getvalue() == "[bold]risk[/bold] :tada: [0.25]\n"


def table(screen, stream, *sentence):
    """A table's lines as printed."""
    named = ["statement"] * len(sentence)
    rows = [["Taylor model of the network", "1234", *sentence], ["NTK", "7", *sentence]]
    cut = "statement" if sentence else "learner"
    screen.say(screen.table(["learner", "n*", *named], rows, words=("learner", "statement"), cut=cut))
    return [line.rstrip() for line in stream.getvalue().splitlines()]


def test_numbers_of_a_table_stay_whole_in_any_window(monkeypatch):
    wide = table(*printed(io.StringIO(), monkeypatch))
    assert wide == [
        "learner                        n*",
        "Taylor model of the network  1234",
        "NTK                             7",
    ]
    narrow = table(*printed(Window(), monkeypatch, columns=20, coloured=False))
    assert narrow[1:] == ["Taylor model …  1234", "NTK                7"]


def test_the_words_of_a_head_stand_below_one_another_where_they_have_no_room(monkeypatch):
    screen, stream = printed(Window(), monkeypatch, columns=24, coloured=False)
    rows = [["a learner of some name", "96.6", "68.3 to 181"]]
    screen.say(screen.table(["learner", "n*", "95 % interval"], rows, words=("learner",), cut="learner"))
    lines = [line.rstrip() for line in stream.getvalue().splitlines()]
    assert [line.split() for line in lines[:2]] == [["95", "%"], ["lear…", "n*", "interval"]]
    assert lines[2] == "a le…  96.6  68.3 to 181"


def test_a_last_column_is_cut_or_left_out_where_it_has_no_room(monkeypatch):
    sentence = "a sentence that goes on and on and on"
    cut = table(*printed(Window(), monkeypatch, columns=64, coloured=False), sentence)
    assert cut[1] == "Taylor model of the network  1234  a sentence that goes on and …"
    gone = table(*printed(Window(), monkeypatch, columns=50, coloured=False), sentence)
    assert gone == [
        "learner                        n*",
        "Taylor model of the network  1234",
        "NTK                             7",
    ]


@pytest.mark.parametrize("error", [BrokenPipeError, OSError(5, "the terminal is gone"), ValueError("closed file")])
def test_a_run_goes_on_where_nobody_reads(monkeypatch, error):
    screen, stream = printed(Window(), monkeypatch)

    def fail(text):
        raise error

    monkeypatch.setattr(stream, "write", fail)
    for _ in range(2):
        screen.say("done")
        screen.draw(["bar"])
    assert screen.quiet and not re.search("done", stream.getvalue())
