"""The command `hierlearn`: what its words start, and what it says of wrong ones."""

import json
import os
import re
import subprocess
import sys

import pytest

from hierlearn.core.registry import PACKAGE
from hierlearn.pipeline.command import runs
from hierlearn.pipeline.command.__main__ import main, parser

ROOT = PACKAGE.parents[1]
ASKED = ("--learners", "ntk", "--dimension", "4")


@pytest.fixture
def started(monkeypatch):
    """The command lines that would have replaced this process."""
    lines = []
    monkeypatch.setattr(os, "execv", lambda program, words: lines.append(words))
    return lines


def ended(*words):
    """The status and the message with which the command ends."""
    with pytest.raises(SystemExit) as end:
        main(words)
    return end.value.code


def test_a_run_is_snakemake_with_this_workflow(started):
    ended("run", "chen2020", "--preset", "standard", "--own", "../mine", "--config", "replicate=1", "--", "--dry-run")
    (words,) = started
    assert words[:5] == [sys.executable, "-P", "-m", "snakemake", "chen2020"]
    assert words[words.index("--snakefile") + 1] == str(ROOT / "Snakefile")
    at = words.index("--config")
    assert words[at + 1 : at + 4] == ["preset=standard", 'own=["../mine"]', "replicate=1"]
    assert words[-3:] == ["--cores", "all", "--dry-run"]


def test_a_question_is_asked_as_the_configuration_takes_it(started):
    words = ["parity", "order=1", "--input", "hypercube", "--learners", "ntk", "{name: taylor, order: 2}"]
    ended("ask", *words, "--dimension", "4", "6", "--threshold", "0.2")
    (question,) = [word for word in started[0] if word.startswith("question=")]
    assert json.loads(question.removeprefix("question=")) == {
        "teacher": {"name": "parity", "order": 1},
        "learners": ["ntk", {"name": "taylor", "order": 2}],
        "dimension": [4, 6],
        "input": {"name": "hypercube"},
        "threshold": 0.2,
    }


def test_a_question_about_a_table_has_neither_teacher_nor_dimension(started):
    ended("ask", "--input", "table", "file=mine.csv", "target=price", "--learners", "ntk")
    (question,) = [word for word in started[0] if word.startswith("question=")]
    assert json.loads(question.removeprefix("question=")) == {
        "learners": ["ntk"],
        "input": {"name": "table", "file": "mine.csv", "target": "price"},
    }


def test_an_option_of_several_words_may_be_given_again(started):
    words = ["--own", "a", "--own", "b", "--config", "pilot=true", "--config", "results=x=y"]
    ended("run", *words)
    at = started[0].index("--config")
    assert started[0][at + 1 : at + 4] == ['own=["a", "b"]', "pilot=true", "results=x=y"]
    ended("ask", "parity", "--learners", "ntk", "--learners", "linear", "--dimension", "4", "--dimension", "6")
    (question,) = [word for word in started[1] if word.startswith("question=")]
    asked = json.loads(question.removeprefix("question="))
    assert (asked["learners"], asked["dimension"]) == (["ntk", "linear"], [4, 6])


@pytest.mark.parametrize(
    "about",
    [
        ["parity", "order=1", "--input", "hypercube", "--dimension", "4"],
        ["--input", "table", f"file={ROOT / 'examples' / 'own-table' / 'wine.csv'}", "target=cultivar"],
    ],
    ids=["teacher", "table"],
)
def test_what_a_question_is_asked_reaches_its_plan(about, tmp_path):
    words = ["ask", *about, "--learners", "linear", "--cores", "1", "--", "--dry-run"]
    command = [sys.executable, "-m", "hierlearn.pipeline.command", *words]
    done = subprocess.run(command, cwd=tmp_path, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "my-question" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["taly"], "hierlearn: found 'taly'; expected a command, one of ask,"),
        (["taly"], "(nearest: tally)"),
        ([], "hierlearn: found nothing; expected a command, one of ask,"),
        ([""], "hierlearn: found ''; expected a command, one of ask,"),
        (["--versoin"], "found the option '--versoin'; expected one of --help, --version, -h (nearest: --version)"),
        (["run", "--prest", "quick"], "hierlearn run: found the option '--prest'; expected one of --config, --cores"),
        (["run", "--prest=quick"], "(nearest: --preset)"),
        # No abbreviations: they change their meaning with every new option.
        (["run", "--res", "x"], "hierlearn run: found the option '--res'"),
        (
            ["run", "a", "--preset", "smoke", "b"],
            "hierlearn run: found 'b', which nothing takes; expected names together",
        ),
        (
            ["run", "--preset", "huge"],
            "argument --preset: found 'huge'; expected one of full, paper, quick, smoke, standard",
        ),
        (["run", "--preset", "QUICK"], "(nearest: quick)"),
        (["run", "--preset", ""], "argument --preset: found ''; expected one of"),
        (["run", "--preset"], "argument --preset: expected one argument"),
        (["run", "--preset", "smoke", "--preset", "quick"], "argument --preset: found twice; expected once"),
        (["run", "--results", ""], "argument --results: found ''; expected a name"),
        (["run", "--own", ""], "argument --own: found ''; expected a name"),
        (["convert", ""], "argument FILE: found ''; expected a name"),
        (["run", "-"], "argument STUDY: found '-'; expected a name"),
        (["run", ""], "argument STUDY: found ''; expected a name"),
        (["run", "--cores", "none"], "argument --cores: found 'none'; expected all, or a number above 0"),
        (["run", "--cores", "0"], "argument --cores: found '0'; expected all, or a number above 0"),
        (["new", "learner", "mine", "--folder", ""], "argument --folder: found ''; expected a name"),
        (["ask", "parity", "--dimension", "4"], "the following arguments are required: --learners"),
        (["ask", "parity", "--learners", "ntk", "--dimension", "4.0"], "found '4.0'; expected a whole number"),
        (["ask", "parity", "--learners", "ntk", "--dimension", "9" * 5000], "...; expected a whole number"),
        (
            ["ask", "parity", "--learners", "ntk", "--dimension", "4", "--threshold", "nan"],
            "found 'nan'; expected a number",
        ),
    ],
)
def test_a_wrong_command_line_is_one_line(words, said, capsys):
    assert ended(*words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ") and said in line


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ask", "parity", "order", "--learners", "ntk", "--dimension", "4"], "parity: found 'order'; expected"),
        (["ask", "parity", "order={", "--learners", "ntk", "--dimension", "4"], "parity: found 'order={'; expected"),
        (["ask", "parity", "order=*x", *ASKED], "parity: found 'order=*x'; it has undefined alias 'x'; expected"),
        (["ask", "parity", "order=2026-01-01", *ASKED], "parity: found 'order=2026-01-01'; it has 2026-01-01, which"),
        (
            ["ask", "parity", "order=!!set {a}", *ASKED],
            "parity: found 'order=!!set {a}'; it has the tag !!set; expected values without a tag",
        ),
        (["ask", "parity", "order=.inf", *ASKED], "parity: found 'order=.inf'; it has inf; expected a finite number"),
        (["ask", "parity", f"order={'[' * 5000}", *ASKED], "parity: found 'order=[[["),
        (["ask", "parity", "order=1", "order=2", *ASKED], "parity: found order again in 'order=2'; expected it once"),
        (["ask", "parity", "=1", *ASKED], "parity: found '=1'; expected parameters as KEY=VALUE"),
        (
            ["ask", "parity", *ASKED, "--config", "question={}"],
            "ask: found the setting question twice; expected it once",
        ),
        (["run", "--config", ""], "--config: found ''; expected KEY=VALUE"),
        (["run", "--config", "=x"], "--config: found '=x'; expected KEY=VALUE"),
        (["run", "--preset", "smoke", "--config", "preset=quick"], "run: found the setting preset twice; expected it"),
        (
            ["run", "--config", "pilot=true", "--config", "pilot=false"],
            "run: found the setting pilot twice; expected it",
        ),
        (["run", "--", "-Cpilot=true"], "run: found --config behind --; expected the settings before it"),
        (["run", "--", "--config", "pilot=true"], "run: found --config behind --; expected the settings before it"),
        (["tally", "--", "--dry-run"], "tally: found '--dry-run' behind --"),
        (["plan", "--config", "replicate"], "--config: found 'replicate'; expected KEY=VALUE"),
        (["new", "learnr", "mine", "--folder", "mine"], "kind: found 'learnr'; expected one of"),
        (["new", "learner", "none", "--folder", "mine"], "name: found 'none'; expected one whose class"),
        (["new", "learner", "mine", "--folder", "taken"], "--folder: found 'taken', where "),
        (["new", "learner", "mine", "--folder", "taken/below"], "--folder: found 'taken/below', where "),
        (["new", "learner", "mine", "--folder", "own"], "--folder: found 'own', where "),
        (
            ["new", "learner", "mine", "--folder", "loop"],
            "--folder: found 'loop', which leads nowhere; expected a folder",
        ),
        (["new", "learner", "mine", "--folder", "x" * 300], "--folder: found 'xxx"),
        (["tally", "chen202"], "tally: found 'chen202'; expected one of"),
    ],
)
def test_wrong_words_are_one_line(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").write_text("")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "learners").write_text("")
    before = sorted(tmp_path.rglob("*"))
    message = ended(*words)
    assert message.startswith(f"error: {said}") and "\n" not in message
    assert sorted(tmp_path.rglob("*")) == before


def test_a_preset_is_planned_for_the_studies_of_a_paper(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert ended("plan", "bai2020", "--preset", "smoke") == 0
    names = [
        line.split()[0] for line in capsys.readouterr().out.splitlines() if line.startswith(("bai", "chen", "all"))
    ]
    assert names[-1] == "all" and len(names) > 3
    assert all(name.startswith("bai2020-") for name in names[:-1])
    assert list(tmp_path.iterdir()) == []


def test_a_new_file_is_written_and_the_next_step_named(tmp_path, capsys):
    ended("new", "learner", "mine", "--folder", str(tmp_path / "own"))
    assert (tmp_path / "own" / "learners" / "mine.py").is_file()
    assert "hierlearn check mine --folder" in capsys.readouterr().out


def test_every_command_has_help(capsys):
    with pytest.raises(SystemExit):
        parser().parse_args(["--help"])
    listed = capsys.readouterr().out
    names = re.findall(r"^    ([a-z-]+)(?: |$)", listed, re.MULTILINE)
    assert len(names) == 15
    for name in names:
        with pytest.raises(SystemExit) as end:
            parser().parse_args([name, "--help"])
        assert end.value.code == 0 and name in capsys.readouterr().out


def test_help_is_there_before_any_library_is_loaded():
    code = "import sys; from hierlearn.pipeline.command.__main__ import parser; parser(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True)
    assert not {"numpy", "snakemake", "matplotlib", "scipy"} & set(done.stdout.split())


def test_settings_of_a_command_are_words_of_the_configuration():
    asked = parser().parse_args(["plan", "--preset", "full", "--results", "elsewhere", "--config", "pilot=true"])
    assert runs.settings(asked) == ["preset=full", "results=elsewhere", "pilot=true"]
