"""A comparison asked from Python: what its arguments may be, and what of them the workflow is given."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

import hierlearn
from hierlearn.files import cubes

TEACHER = {"name": "ridge_polynomial", "degree": np.int64(2)}


@pytest.fixture
def given(monkeypatch):
    """The configuration that a comparison hands to the workflow."""
    calls = []

    def ran(words, **options):
        calls.append(dict(word.split("=", 1) for word in words[words.index("--config") + 1 :]))
        return subprocess.CompletedProcess(words, 0, "")

    monkeypatch.setattr(subprocess, "run", ran)
    monkeypatch.setattr(cubes, "load", lambda file: None)

    def asked(*given, **named):
        hierlearn.compare(*given, **named)
        return {key: json.loads(text) for key, text in calls[-1].items()}

    return asked


@pytest.mark.parametrize("learners", ["ntk", ["ntk"], ("ntk",), np.array(["ntk"]), iter(["ntk"]), {"ntk": 1}.keys()])
def test_learners_are_one_or_several(given, learners):
    assert given(TEACHER, learners, [4])["question"]["learners"] == ["ntk"]


def test_a_single_learner_may_have_parameters(given):
    learner = {"name": "taylor", "width": np.int32(8), "select": {"ridge": (np.float64(0.5),)}}
    expected = {"name": "taylor", "width": 8, "select": {"ridge": [0.5]}}
    assert given(TEACHER, learner, 4)["question"]["learners"] == [expected]


@pytest.mark.parametrize(
    "dimension", [[4, 6], (4, 6), np.arange(4, 7, 2), range(4, 7, 2), (d for d in (4, 6)), [np.int64(4), np.uint8(6)]]
)
def test_dimensions_are_numbers_of_any_kind(given, dimension):
    assert given(TEACHER, "ntk", dimension)["question"]["dimension"] == [4, 6]


@pytest.mark.parametrize("dimension", [4, np.int64(4), np.array(4)])
def test_a_single_dimension_needs_no_list(given, dimension):
    assert given(TEACHER, "ntk", dimension)["question"]["dimension"] == [4]


def test_numbers_of_numpy_are_numbers_anywhere(given):
    more = {"seeds": np.int64(1), "threshold": np.float32(0.25), "cap": np.uint16(60)}
    question = given(TEACHER, "ntk", 4, input={"name": "gaussian"}, **more)["question"]
    assert question["teacher"] == {"name": "ridge_polynomial", "degree": 2}
    assert (question["seeds"], question["threshold"], question["cap"]) == (1, 0.25, 60)


@pytest.mark.parametrize("own", ["mine", Path("mine"), ["mine"], (Path("mine"),)])
def test_folders_of_ones_own_are_one_or_several(given, own):
    assert given(TEACHER, "ntk", 4, own=own)["own"] == ["mine"]


@pytest.mark.parametrize("wrong", [{"threshold": float("nan")}, {"learners": b"ntk"}, {"cores": 0}], ids=str)
def test_what_no_file_can_say_is_one_line(wrong):
    asked = {"teacher": {"name": "parity"}, "learners": "ntk", "dimension": 4} | wrong
    with pytest.raises(ValueError, match="found") as error:
        hierlearn.compare(**asked)
    assert "\n" not in str(error.value)
