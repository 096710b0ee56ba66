"""What a run shows: on a terminal how far it is, elsewhere a line per study; a table before it and a tally after it."""

import fcntl
import os
import pty
import re
import struct
import termios

import pytest
from conftest import TOOLS, snakemake

CLAIMS, FIGURE = "results/quick/tiny/claims.json", "results/quick/tiny/figure.svg"
LAST = "The page is results/quick/index.html"
OWN = "results/quick/tiny/index.html"


@pytest.fixture
def behind(changed):
    """The finished tree without what its last jobs made."""
    for name in (CLAIMS, FIGURE):
        (changed / name).unlink(missing_ok=True)
    return changed


def on_a_terminal(tree, *words, columns=90) -> tuple[int, str]:
    """The exit code and what was sent to a terminal of this width."""
    child, descriptor = pty.fork()
    if child == 0:
        fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.chdir(tree)
        os.environ.update(TERM="xterm", PYTHONDONTWRITEBYTECODE="")
        os.execv(TOOLS / "snakemake", ["snakemake", *words])
    sent = b""
    try:
        while part := os.read(descriptor, 65536):
            sent += part
    except OSError:
        pass
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), sent.decode()


def screen(sent: str) -> list[str]:
    """What stays on the terminal: lines that were drawn again are there once, as they were last."""
    lines, at = [""], 0
    for part in re.findall(r"\x1b\[(\d*)([A-Za-z])|([^\x1b]+)", sent):
        count, code, text = part
        if code == "A":
            at -= int(count)
        elif code == "J":
            lines[at:] = [""]
        for sign in re.findall(r"[\r\n]|[^\r\n]+", text):
            if sign == "\n":
                at += 1
                lines += [""] * (at + 1 - len(lines))
            elif sign != "\r":
                lines[at] = sign if lines[at] == "" or text.startswith("\r") else lines[at] + sign
    return [line for line in lines if line]


def test_without_a_terminal_there_is_a_line_for_each_study_then_the_tally_and_the_page_and_a_log(behind):
    before = set((behind / ".snakemake" / "log").iterdir())
    done = snakemake(behind, "--cores", "1")
    assert done.code == 0, done.end
    # Snakemake keeps its own log in a file.
    (log,) = set((behind / ".snakemake" / "log").iterdir()) - before
    assert "rule judge:" in log.read_text() and "(100%) done" in log.read_text()
    lines = done.text.splitlines()
    assert "\x1b" not in done.text
    (told,) = [i for i, line in enumerate(lines) if line.startswith("tiny: ")]
    assert re.search(r"[✓✗?○] \d", lines[told]) and lines[told].endswith("[1 of 1]")
    assert any(re.match(r"(theorem|rate|check) +[✓✗?○] \d+ \w", line) for line in lines[told:])
    assert lines[-2:] == [next(line for line in lines if re.fullmatch(r"3 jobs in \d+ s", line)), LAST]
    assert "3 jobs of 1 study, about " in done.text
    # The answer of a study by itself: a table for each threshold, and one of its claims.
    heads = [line.split() for line in lines if line.startswith(("learner ", "claim "))]
    assert heads[-1][0] == "claim" and heads[:-1] and all("n*" in head for head in heads[:-1])


def test_a_study_that_is_asked_for_by_name_has_a_page_of_its_own_and_leaves_that_of_all(behind):
    whole = {
        name: (behind / "results" / "quick" / name).read_bytes() for name in ("index.html", "claims.csv", "claims.nc")
    }
    page = behind / OWN
    for words in (("tiny",), ("--config", "studies=[tiny]")):
        page.unlink(missing_ok=True)
        done = snakemake(behind, "--cores", "1", *words)
        assert done.code == 0, done.end
        assert done.text.splitlines()[-1] == f"The page is {OWN}"
        text = page.read_text()
        assert "Labelled samples to risk 0.5" in text and 'id="C1-kernel"' in text and "0 rows" not in text
        assert {name: (behind / "results" / "quick" / name).read_bytes() for name in whole} == whole
    assert snakemake(behind, "--cores", "1", "tiny").text.splitlines()[-1] == f"The page is {OWN}"


@pytest.mark.parametrize("target", ["results/quick/index.html", "ledger"])
def test_a_run_of_some_studies_cannot_write_the_page_of_all(finished, target):
    done = snakemake(finished, "--dry-run", target, "--config", "studies=[tiny]")
    (error,) = done.errors
    assert error.startswith(f"error: target '{target}': found no ")


def test_a_terminal_shows_how_far_the_run_is_and_keeps_only_what_was_found(behind):
    code, sent = on_a_terminal(behind, "--cores", "1")
    assert code == 0, sent
    drawn = re.findall(r"━.*? (\d+) %, .* left, (\d) of 3 jobs", sent)
    assert drawn and drawn == sorted(drawn, key=lambda one: int(one[0]))
    assert re.search(r"  tiny (judge|figure)  \d+ s", sent)
    left = screen(re.sub(r"\x1b\[[0-9;]*m", "", sent))
    assert not [line for line in left if "━" in line]
    assert sum(line.startswith("tiny: ") for line in left) == 1 and left[-1] == LAST
    # No line of the answer is wider than the window.
    (claims,) = [at for at, line in enumerate(left) if line.startswith("claim ")]
    assert all(len(line) <= 90 for line in left[left.index("Claims") :]) and "result" in left[claims]


def test_all_of_the_log_is_shown_where_it_is_asked_for_and_little_where_quiet_is(behind):
    assert "rule judge:" in snakemake(behind, "--cores", "1", "--config", "log=snakemake").text
    (behind / CLAIMS).unlink()
    done = snakemake(behind, "--cores", "1", "--quiet", "all")
    assert done.code == 0 and "tiny" not in done.text and LAST not in done.text


def test_a_dry_run_is_a_table_by_study_and_rule(behind):
    done = snakemake(behind, "--dry-run")
    lines = [line.split() for line in done.text.splitlines()]
    head = next(i for i, line in enumerate(lines) if line[:1] == ["study"])
    assert lines[head] == ["study", "jobs", "judge", "figure", "ledger", "core-hours"]
    assert [line[:2] for line in lines[head + 1 :][:3]] == [["(all", "together)"], ["tiny", "2"], ["all", "3"]]
    assert len(lines) < 12 and not (behind / CLAIMS).exists()


def test_a_failed_job_is_told_once_with_its_error_and_its_log(behind):
    script = behind / "workflow" / "scripts" / "judge.py"
    whole = script.read_text()
    assert "claims, judged = outputs" in whole
    try:
        script.write_text(whole.replace("claims, judged = outputs", "raise ValueError('it went wrong')"))
        done = snakemake(behind, "--cores", "1")
    finally:
        script.write_text(whole)
    assert done.code == 1
    assert [line for line in done.errors if "it went wrong" in line] == done.errors and len(done.errors) == 1
    assert "  tiny judge; log: results/quick/logs/tiny/judge.log" in done.text.splitlines()
    assert "1 failed" in done.text and "CalledProcessError" not in done.text
