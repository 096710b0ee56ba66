"""A question asked from Python: what its arguments may be, and what of them the workflow is given."""

import json
import re
import subprocess
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from hierlearn.pipeline import ask
from hierlearn.pipeline.files import cubes

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
        ask(*given, **named)
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


@pytest.mark.parametrize("own", ["mine", b"mine", Path("mine"), ["mine"], (Path("mine"),)])
def test_folders_of_ones_own_are_one_or_several(given, own):
    assert given(TEACHER, "ntk", 4, own=own)["own"] == ["mine"]


@pytest.mark.parametrize("whole", [12.0, np.float64(12), np.float32(12), Fraction(12)], ids=repr)
def test_whole_numbers_count_whatever_arithmetic_made_them(given, whole):
    more = {"cap": whole, "seeds": np.float64(2), "threshold": np.float64(1)}
    question = given(TEACHER, "ntk", np.linspace(4, 8, 3), **more)["question"]
    assert json.dumps([question[key] for key in ("dimension", "cap", "seeds")]) == "[[4, 6, 8], 12, 2]"
    assert json.dumps(question["threshold"]) == "1.0"


class Unit:
    """What no file can say."""

    def __repr__(self):
        return "Unit()"


SAYABLE = "; expected what a file can say: texts, finite numbers, lists"
COUNTED = "; expected an integer of at least 1, or None for all"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"threshold": float("nan")}, f"question.threshold: found nan{SAYABLE}"),
        ({"cap": float("inf")}, f"question.cap: found inf{SAYABLE}"),
        ({"threshold": Decimal("0.5")}, f"question.threshold: found Decimal('0.5'){SAYABLE}"),
        ({"learners": b"ntk"}, f"question.learners[0]: found b'ntk'{SAYABLE}"),
        ({"learners": [{"name": "ntk", "label": "\udcff"}]}, f"question.learners[0].label: found '\\udcff'{SAYABLE}"),
        ({"teacher": Unit()}, f"question.teacher: found Unit(){SAYABLE}"),
        ({"teacher": {"name": "parity", (1, 2): 3}}, f"question.teacher: found (1, 2){SAYABLE}"),
        *(({"cores": cores}, f"cores: found {cores!r}{COUNTED}") for cores in (0, -1, 2.5, True, "2", [2])),
        *(({"own": own}, f"own: found {own!r}; expected a path") for own in (3, None, True)),
        ({"own": ["mine", {}]}, "own: found {}; expected a path"),
    ],
    ids=str,
)
def test_what_no_file_can_say_is_one_line(wrong, said):
    asked = {"teacher": {"name": "parity"}, "learners": "ntk", "dimension": 4} | wrong
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        ask(**asked)
