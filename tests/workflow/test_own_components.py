"""A user's own components, right and wrong, through the jobs of a study: data, training and scores."""

import re
import subprocess
import sys

import pytest
import yaml
from conftest import copied

JOBS = """
import sys
from pathlib import Path
tree, output = map(Path, sys.argv[1:])
sys.path[:0] = [str(tree / "workflow"), str(tree / "workflow" / "scripts")]
from hierlearn.plan.configuration import configured
from hierlearn.plan import jobs
from hierlearn.run import job
study = configured({}, Path("none"), tree / "config" / "studies").studies["tiny"]
sys.excepthook = job._report
task = study.tasks["all"]
import evaluate, generate, train
generate.generate(output / "data.nc", jobs.generate(study, task), "")
train.train(output / "data.nc", None, output / "model.nc", jobs.train(study, task, "mine"), "")
files = {name: output / f"{name}.nc" for name in ("scores", "traces")}
evaluate.evaluate(
    output / "data.nc", {"mine": None}, {"mine": output / "model.nc"}, files, jobs.evaluate(study, task), ""
)
import netCDF4
with netCDF4.Dataset(files["scores"]) as scores:
    print(scores["status"][:].ravel().tolist())
    print(scores["test_risk"][:].filled(float("nan")).ravel().tolist())
"""
STUDY = {
    "title": "One learner",
    "paper": "chen2020",
    "place": "Theorem 0",
    "summary": "It means nothing.",
    "problem": {"input": {"name": "sphere"}, "teacher": {"name": "ridge_polynomial", "degree": 2}},
    "axes": {"dimension": [4]},
    "seeds": 2,
    "points": {"validation": 30, "test": 40},
    "samples": {"thresholds": []},
    "learners": {"mine": {"label": "Mine", "learner": {"name": "mine"}, "samples": {"at": [16]}}},
    "figure": {"name": "sample_complexity"},
    "claims": {},
}
LEARNER = '''"""The mean of the labels; only tests use it."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hierlearn.core.protocols import STATUS, Fit

PARAMETERS = {}


@dataclass(frozen=True)
class Mine:
    """f(x) = mean of y."""

    together: ClassVar[bool] = True

    def fit(self, problem, features, samples, choices, streams, monitor, memory) -> Fit:
        """State: mean (S, k)."""
        labels = problem.draw("training", samples).labels
        mean = labels.mean(axis=1)
        risk = np.mean(np.sum((labels - mean[:, None]) ** 2, axis=-1), axis=-1)
        return Fit({"mean": mean}, np.zeros(len(mean), np.int8), risk, risk, flops=np.ones(len(mean)))

    def predict(self, state, features, role, count, memory) -> np.ndarray:
        """(S, count, k) float64."""
        return np.repeat(state["mean"][:, None], count, axis=1)
'''


@pytest.fixture
def tree(tmp_path):
    """A tree whose only study trains the learner `mine`."""
    folder = copied(tmp_path / "tree")
    (folder / "config" / "studies" / "tiny.yaml").write_text(yaml.safe_dump(STUDY))
    (folder / "workflow" / "hierlearn" / "learners" / "mine.py").write_text(LEARNER)
    return folder


def run(tree, tmp_path):
    """Exit code, output and the lines of errors of all jobs one after the other."""
    done = subprocess.run(
        [sys.executable, "-c", JOBS, str(tree), str(tmp_path)], cwd=tree, text=True, capture_output=True, check=False
    )
    return done.returncode, done.stdout.splitlines(), done.stderr


def change(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def test_a_sound_learner_is_scored(tree, tmp_path):
    code, (status, risks), errors = run(tree, tmp_path)
    assert (code, errors) == (0, "")
    assert yaml.safe_load(status) == [0, 0]
    assert all(0.5 < risk < 2 for risk in yaml.safe_load(risks))


def test_predictions_that_are_not_finite_make_a_diverged_cell_and_no_failed_job(tree, tmp_path):
    change(
        tree / "workflow/hierlearn/learners/mine.py",
        "return np.repeat(state",
        "return np.where(role == 'test', np.nan, 1.0) * np.repeat(state",
    )
    code, (status, risks), errors = run(tree, tmp_path)
    assert (code, errors) == (0, "")
    assert yaml.safe_load(status) == [5, 5]
    assert risks == "[nan, nan]"


@pytest.mark.parametrize(
    ("file", "old", "new", "line"),
    [
        (
            "learners/mine.py",
            "count, axis=1)",
            "count, axis=1)[..., 0]",
            "predict: found float64 of shape (1, 40); expected float of shape (1, 40, 1)",
        ),
        (
            "learners/mine.py",
            'Fit({"mean": mean}, np.zeros(len(mean), np.int8)',
            'Fit({"mean": mean}, np.zeros(1, np.int8)',
            "fit: found status int8 of shape (1,); expected integers of shape (2,)",
        ),
        (
            "learners/mine.py",
            "mean = labels.mean(axis=1)",
            "mean = labels.mean(axis=1) @ np.ones(7)",
            "ValueError: matmul: Input operand 1 has a mismatch",
        ),
        (
            "learners/mine.py",
            "import numpy as np",
            "import numpy as np\nimport a_module_that_nobody_has",
            "ModuleNotFoundError: No module named 'a_module_that_nobody_has'",
        ),
        (
            "inputs/sphere.py",
            "return streams.rows(start, count, draw)",
            "return streams.rows(start, count, draw).astype(float)",
            "found float64 of shape (1, 1, 4); expected float32 of shape (1, 1, d, ...)",
        ),
        (
            "teachers/ridge_polynomial.py",
            'return np.sqrt(np.einsum("sr,srt,st->s", alpha, means, alpha))',
            'return 4 * np.sqrt(np.einsum("sr,srt,st->s", alpha, means, alpha))',
            "norm: found 4 for seed 0; expected 0.99",
        ),
    ],
)
def test_a_wrong_component_ends_its_job_with_one_line(tree, tmp_path, file, old, new, line):
    change(tree / "workflow/hierlearn" / file, old, new)
    code, _, errors = run(tree, tmp_path)
    *logged, last = errors.splitlines()
    assert code == 1
    assert re.match(rf"error: workflow/hierlearn/{file}:\d+: (sample: )?{re.escape(line)}", last), last
    assert [text for text in logged if text.startswith("error:")] == []


def test_a_syntax_error_in_a_component_is_one_line_before_any_job(tree, tmp_path):
    file = tree / "workflow/hierlearn/learners/mine.py"
    file.write_text(file.read_text() + "def (\n")
    code, _, errors = run(tree, tmp_path)
    assert (code, errors) == (1, "error: workflow/hierlearn/learners/mine.py:29: SyntaxError: invalid syntax\n")
