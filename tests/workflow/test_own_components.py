"""A user's own components, right and wrong, through the jobs of a study: data, training and scores."""

import re
import subprocess
import sys

import netCDF4
import pytest
import yaml
from conftest import copied

JOBS = """
import sys
from pathlib import Path
tree, output = map(Path, sys.argv[1:])
sys.path[:0] = [str(tree / "workflow"), str(tree / "workflow" / "scripts")]
from hierlearn.pipeline.plan.configuration import configure
from hierlearn.pipeline.plan import jobs
from hierlearn.pipeline.run import job
study = configure({}, Path("none"), tree / "config" / "studies").studies["tiny"]
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

from hierlearn.core.protocols import Fit, Learner

PARAMETERS = {}


@dataclass(frozen=True)
class Mine(Learner):
    """f(x) = mean of y."""

    batch_seeds: ClassVar[bool] = True

    def fit(self, sample, monitor, cache) -> Fit:
        """State: mean (S, k)."""
        labels = sample.data.draw("training", sample.n).labels
        mean = labels.mean(axis=1)
        risk = np.mean(np.sum((labels - mean[:, None]) ** 2, axis=-1), axis=-1)
        return Fit({"mean": mean}, np.zeros(len(mean), np.int8), risk, risk, flops=np.ones(len(mean)))

    def predict(self, state, features, role, count, cache) -> np.ndarray:
        """(S, count, k) float64."""
        return np.repeat(state["mean"][:, None], count, axis=1)
'''


IMAGES = '''"""Square images of independent pixels; only tests use it."""

from dataclasses import dataclass
from math import isqrt
from typing import ClassVar

import numpy as np

from hierlearn.core.protocols import Input

PARAMETERS = {}


@dataclass(frozen=True)
class Images(Input):
    """Pixels N(0, 1), d of them."""

    dimension: int
    law: ClassVar[str] = "images"

    def sample(self, streams, role, start, count) -> np.ndarray:
        """(S, count, side, side) float32."""
        side = isqrt(self.dimension)
        return streams.rows(start, count, lambda g, rows: g.standard_normal((rows, side, side), np.float32))
'''
STRIPES = '''"""The sum of the first row of an image; only tests use it."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hierlearn.core.protocols import Teacher

LAWS = ("images",)
PARAMETERS = {}


@dataclass(frozen=True)
class Stripes(Teacher):
    """f(x) = sum_j x_1j."""

    kind: ClassVar[str] = "regression"
    outputs: ClassVar[int] = 1

    def draw(self, streams, inputs):
        """side (S,)."""
        return {"side": np.full(len(streams.seeds), inputs.dimension**0.5)}

    def target(self, state, x) -> np.ndarray:
        """(S, n, side, side) -> (S, n, 1) float64."""
        assert x.ndim == 4
        return x[:, :, 0].astype(np.float64).sum(axis=-1, keepdims=True)

    def norm(self, state, inputs) -> np.ndarray:
        """The root of the side."""
        return state["side"] ** 0.5

    def degrees(self):
        """1."""
        return (1,)

    def bases(self, state, x) -> np.ndarray:
        """The target."""
        return self.target(state, x)
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
    "learner",
    [
        {"learner": {"name": "kernel_ridge", "kernel": {"name": "rbf"}}, "select": {"ridge": [0.01], "bandwidth": [4]}},
        {"learner": {"name": "linear"}, "select": {"ridge": [0.001]}},
        {"learner": {"name": "network", "width": 30, "steps": 300}, "select": {"learning_rate": [0.02]}},
        {"learner": {"name": "mine"}},
    ],
    ids=lambda learner: learner["learner"]["name"],
)
def test_points_may_be_images(tree, tmp_path, learner):
    (tree / "workflow/hierlearn/inputs/images.py").write_text(IMAGES)
    (tree / "workflow/hierlearn/teachers/stripes.py").write_text(STRIPES)
    study = STUDY | {
        "problem": {"input": {"name": "images"}, "teacher": {"name": "stripes"}},
        "axes": {"dimension": [9]},
        "learners": {"mine": {"label": "Mine", "samples": {"at": [60]}} | learner},
    }
    (tree / "config/studies/tiny.yaml").write_text(yaml.safe_dump(study))
    code, (status, risks), errors = run(tree, tmp_path)
    assert (code, errors) == (0, "")
    assert yaml.safe_load(status) == [0, 0]
    bound = 2.0 if learner["learner"]["name"] == "mine" else 0.7
    assert all(risk < bound for risk in yaml.safe_load(risks))
    with netCDF4.Dataset(tmp_path / "data.nc") as data:
        assert next(iter(data.groups.values()))["test_x"].shape == (2, 40, 3, 3)


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
            "return x / np.linalg.norm(x, axis=1, keepdims=True)",
            "return x[:-1]",
            "found float32 of shape (1, 8184, 4); expected float32 of shape (1, 8192, d, ...)",
        ),
        (
            "teachers/ridge_polynomial.py",
            'return np.sqrt(np.einsum("sr,srt,st->s", alpha, self._means(inputs, gram), alpha))',
            'return 4 * np.sqrt(np.einsum("sr,srt,st->s", alpha, self._means(inputs, gram), alpha))',
            "norm: found 4 for seed 0; expected 0.9",
        ),
    ],
)
def test_a_wrong_component_ends_its_job_with_one_line(tree, tmp_path, file, old, new, line):
    change(tree / "workflow/hierlearn" / file, old, new)
    code, _, errors = run(tree, tmp_path)
    *logged, last = errors.splitlines()
    assert code == 1
    assert re.match(rf"error: workflow/hierlearn/{file}:\d+: (sample: )?{re.escape(line)}", last), last
    # The log, which is not a file here, says the same and no more.
    assert {text for text in logged if text.startswith("error:")} <= {last}


def test_a_syntax_error_in_a_component_is_one_line_before_any_job(tree, tmp_path):
    file = tree / "workflow/hierlearn/learners/mine.py"
    file.write_text(file.read_text() + "def (\n")
    code, _, errors = run(tree, tmp_path)
    assert (code, errors) == (1, "error: workflow/hierlearn/learners/mine.py:29: SyntaxError: invalid syntax\n")
