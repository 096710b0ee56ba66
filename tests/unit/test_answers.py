"""What a component of a user's own says of itself before it is built, where that is wrong: one line with its place."""

from pathlib import Path

import pytest

from hierlearn.core import registry
from hierlearn.pipeline.plan.configuration import configure

STUDY = """
title: A learner of one's own
paper: chen2020
place: Theorem 0
summary: One learner.
problem:
  input: {name: sphere}
  teacher: {name: %s}
axes: {dimension: [3, 4]}
seeds: 2
points: {validation: 30, test: 40}
learners:
  mine: {label: Mine, learner: {name: mine}, select: {ridge: [0.1]}, samples: {at: [16]}}
figure:
  name: panels
  panels:
    - kind: risk
      title: Risk
      x: samples
      lines: [{learner: mine, where: {dimension: 3}}]
"""
LEARNER = """from dataclasses import dataclass

from hierlearn.core.needs import Needs
from hierlearn.learners.linear import Linear


@dataclass(frozen=True, kw_only=True)
class Mine(Linear):
    'Linear regression.'
"""
TEACHER = """import functools
from dataclasses import dataclass

from hierlearn.teachers.ridge_polynomial import RidgePolynomial


@dataclass(frozen=True, kw_only=True)
class Ours(RidgePolynomial):
    'A polynomial.'
"""


@pytest.fixture
def said(tmp_path, monkeypatch):
    """The lines with which a plan ends, of a learner and of a teacher with lines of their own."""
    monkeypatch.chdir(tmp_path)
    Path("config/studies").mkdir(parents=True)

    def lines(learner="", teacher=""):
        files = {
            "learners/mine.py": LEARNER + learner,
            "teachers/ours.py": TEACHER + teacher,
            "studies/my-study.yaml": STUDY % ("ours" if teacher else "ridge_polynomial"),
        }
        for name, text in files.items():
            Path("mine", name).parent.mkdir(parents=True, exist_ok=True)
            Path("mine", name).write_text(text)
        try:
            plan = configure({"own": "mine"}, Path("config/config.yaml"), Path("config/studies"))
            # What is asked of the preset that runs, and after all else.
            assert plan.absent == []
        except SystemExit as end:
            return end.code.splitlines()
        return []

    yield lines
    registry.use(())


def method(head, *body):
    return "\n".join(["", f"    def {head}:", *(f"        {line}" for line in body), ""])


def test_a_sound_learner_and_teacher_are_planned(said):
    needs = method(
        "needs(self, sizes)",
        "import numpy as np",
        'return Needs(memory={"fit": np.prod([9, sizes.features]), "kept": 3}, work={"fit": np.float32(1e6)})',
    )
    validate = method("validate(self, inputs)", "if self.tolerance > 1:", '    yield "tolerance", "much", "less"')
    teacher = """    kind = "regression"
    LAWS = ("sphere", "gaussian")

    @functools.cached_property
    def outputs(self):
        return 1
"""
    assert said(needs + validate, teacher) == []


def test_an_answer_of_a_static_method_has_its_place_too(said):
    body = ["", "    @staticmethod", "    def needs(known, sizes):", "        return 3", ""]
    (found,) = said("\n".join(body))
    assert found == "error: mine/learners/mine.py:11: needs: found 3; expected Needs(...)"


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("1 / 0", "mine/learners/mine.py:12: ZeroDivisionError: division by zero"),
        ("return sizes.feature", "mine/learners/mine.py:12: AttributeError: 'Sizes' object has no attribute 'feature'"),
        ("Needs()", "mine/learners/mine.py:11: needs: found None; expected Needs(...)"),
        ('return Needs(memory={"fit": "much"})', "needs: found 'much' for memory of 'fit'; expected a number that is"),
        ('return Needs(work={"fit": float("inf")})', "needs: found inf for work of 'fit'; expected a number that is"),
        ('return Needs(work={"fit": -1})', "needs: found -1 for work of 'fit'; expected a number that is"),
        ('return Needs(work={"fitt": 1})', "needs: found work of 'fitt'; expected one of fit, model, predict, kept"),
        ("return Needs(memory=5)", "needs: found memory 5; expected a mapping of stages to numbers"),
        ("return Needs(parallel=2)", "needs: found parallel 2; expected a share from 0 to 1"),
        ('return Needs(gpus=float("inf"))', "needs: found gpus inf; expected their number"),
        ('return Needs(gpus="one")', "needs: found gpus 'one'; expected their number"),
    ],
)
def test_a_wrong_answer_on_what_it_needs_is_one_line(said, body, line):
    (found,) = said(method("needs(self, sizes)", body))
    assert found.startswith("error: mine/learners/mine.py:") and line in found


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("raise KeyError('depth')", "mine/learners/mine.py:12: KeyError: 'depth'"),
        ("return 3", "mine/learners/mine.py:11: validate: 'int' object is not iterable; expected (parameter, what"),
        ("pass", "mine/learners/mine.py:11: validate: 'NoneType' object is not iterable; expected (parameter, what"),
        ('yield "tolerance", "much"', "validate: found ('tolerance', 'much'); expected (parameter, what was found"),
    ],
)
def test_a_wrong_answer_on_what_cannot_be_is_one_line(said, body, line):
    (found,) = said(method("validate(self, inputs)", body))
    assert line in found


@pytest.mark.parametrize(
    ("declared", "line"),
    [
        ('kind = "regresion"', "kind: found 'regresion'; expected one of regression, classes"),
        ('outputs = "two"', "outputs: found 'two'; expected a number of outputs, at least 1"),
        ("outputs = property(lambda self: 0)", "outputs: found 0; expected a number of outputs, at least 1"),
        ("LAWS = (['sphere'],)", "LAWS: found (['sphere'],); expected a tuple of"),
        ('LAWS = "gaussian"', "LAWS: found 'gaussian'; expected a tuple of"),
        ('LAWS = ("gausian",)', "LAWS: found ('gausian',); expected a tuple of"),
    ],
)
def test_what_the_class_of_a_teacher_declares_is_one_of_what_there_is(said, declared, line):
    (found,) = said(teacher=f"    {declared}\n")
    assert found.startswith(f"error: mine/teachers/ours.py:7: {line}")


@pytest.mark.parametrize(
    ("end", "line"),
    [
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("raise SystemExit", "SystemExit"),
        ("raise GeneratorExit('late')", "GeneratorExit: late"),
        ("raise BaseException('two\\nlines')", "BaseException: two"),
        ("class Stop(BaseException): ...\nraise Stop", "Stop"),
    ],
)
def test_a_file_that_ends_the_program_as_it_is_imported_is_named(said, end, line):
    (found,) = said(f"\n{end}\n")
    assert found == f"error: mine/learners/mine.py:{11 + end.count(chr(10))}: {line}"


@pytest.mark.parametrize("asked", ["missing_inputs(self)", "warnings(self, inputs)"])
@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("raise KeyError('depth')", "mine/teachers/ours.py:12: KeyError: 'depth'"),
        ("return 1 / 0", "mine/teachers/ours.py:12: ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)", "mine/teachers/ours.py:12: SystemExit: 3"),
        ("raise BaseException", "mine/teachers/ours.py:12: BaseException"),
        ("return 3", "'int' object is not iterable; expected (parameter, what was found, what is allowed) each time"),
        ('yield "degree"', "found 'degree'; expected (parameter, what was found, what is allowed) each time"),
    ],
)
def test_a_wrong_answer_on_missing_inputs_and_warnings_is_one_line(said, asked, body, line):
    (found,) = said(teacher=method(asked, body))
    assert found.startswith("error: mine/teachers/ours.py:") and line in found


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("raise KeyError('depth')", "mine/learners/mine.py:12: KeyError: 'depth'"),
        ("return 3", "mine/learners/mine.py:11: validate_data: 'int' object is not iterable; expected (parameter"),
        (
            'yield "tolerance", "much"',
            "validate_data: found ('tolerance', 'much'); expected (parameter",
        ),
        ('yield "name", "no target", "another"', "learners.mine.learner.name: found no target; expected another"),
    ],
)
def test_what_a_learner_says_of_targets_is_asked_before_any_job(said, body, line):
    (found,) = said(method("validate_data(self, teacher, representation)", body))
    assert line in found
