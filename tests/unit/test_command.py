"""The command `hierlearn`: what its words start, and what it says of wrong ones."""

import json
import os
import re
import subprocess
import sys

import pytest

from hierlearn.command import runs
from hierlearn.command.__main__ import LATER, main, parser
from hierlearn.core.registry import PACKAGE

ROOT = PACKAGE.parents[1]


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


def test_what_a_question_is_asked_reaches_its_plan(tmp_path):
    words = ["ask", "parity", "order=1", "--input", "hypercube", "--learners", "linear", "--dimension", "4"]
    command = [sys.executable, "-m", "hierlearn.command", *words, "--cores", "1", "--", "--dry-run"]
    done = subprocess.run(command, cwd=tmp_path, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "my-question" in done.stdout


@pytest.mark.parametrize("name", LATER)
def test_what_is_not_there_yet_says_so(name):
    assert ended(name, "anything") == f"error: hierlearn {name} is not there yet; it {LATER[name]}"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["taly"], "invalid choice: 'taly'"),
        (["run", "--preset", "huge"], "invalid choice: 'huge'"),
        (["ask", "parity", "--dimension", "4"], "the following arguments are required: --learners"),
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
        (["run", "--", "--config", "pilot=true"], "run: found --config behind --; expected the settings before it"),
        (["tally", "--", "--dry-run"], "tally: found '--dry-run' behind --"),
        (["plan", "--config", "replicate"], "--config: found 'replicate'; expected KEY=VALUE"),
        (["new", "learnr", "mine", "--folder", "mine"], "kind: found 'learnr'; expected one of"),
        (["tally", "chen202"], "tally: found 'chen202'; expected one of"),
    ],
)
def test_wrong_words_are_one_line(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    message = ended(*words)
    assert message.startswith(f"error: {said}") and "\n" not in message


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
    assert len(names) == 14
    for name in names:
        with pytest.raises(SystemExit) as end:
            parser().parse_args([name, "--help"])
        assert end.value.code == 0 and name in capsys.readouterr().out


def test_help_is_there_before_any_library_is_loaded():
    code = "import sys; from hierlearn.command.__main__ import parser; parser(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True)
    assert not {"numpy", "snakemake", "matplotlib", "scipy"} & set(done.stdout.split())


def test_settings_of_a_command_are_words_of_the_configuration():
    asked = parser().parse_args(["plan", "--preset", "full", "--results", "elsewhere", "--config", "pilot=true"])
    assert runs.settings(asked) == ["preset=full", "results=elsewhere", "pilot=true"]
