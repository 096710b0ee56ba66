"""What a random number hangs on: words that a component keeps when it, or one of its parameters, is renamed."""

import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from hierlearn.core import registry
from hierlearn.core.problem import streams_of
from hierlearn.core.protocols import NullMonitor
from hierlearn.core.registry import available, implementation
from hierlearn.learners.linear import Linear
from hierlearn.pipeline.files import problems
from hierlearn.pipeline.run.sample_sizes import train_curve
from hierlearn.teachers.ridge_polynomial import RidgePolynomial

POINT = {
    "name": "degree-2",
    "problem": {
        "scale": "unit",
        "label_noise": 0.2,
        "dimension": 4,
        "input": {"name": "sphere"},
        "teacher": {"name": "ridge_polynomial", "degree": 2},
    },
    "seeds": [0, 3],
}


@pytest.mark.parametrize(
    ("kind", "name"), [(k, n) for k in ("inputs", "teachers", "representations", "learners") for n in available(k)]
)
def test_a_component_that_draws_has_a_literal_key(kind, name):
    found = implementation(kind, name)
    assert found.stream_key == (found.__name__ if kind == "learners" else name)
    assert "stream_key" in vars(found)


@dataclass(frozen=True)
class Renamed(RidgePolynomial):
    """The teacher under another name, its parameter `degree` as `power`."""

    stream_words: ClassVar[dict[str, str]] = {"power": "degree"}


def test_a_renamed_component_and_parameter_draw_the_same(monkeypatch):
    before = problems.problem_of(POINT)
    of = {"inputs": implementation("inputs", "sphere"), "teachers": Renamed}
    monkeypatch.setattr(registry, "implementation", lambda kind, name: of[kind])
    monkeypatch.setattr(registry, "defaults", lambda kind, name: {})
    renamed = POINT["problem"] | {"teacher": {"name": "renamed", "power": 2}}
    assert problems.essential(renamed) == POINT["problem"]
    assert streams_of(problems.essential(renamed), (0, 3)) == before.streams


def test_the_key_of_a_problem_is_the_text_that_it_has_always_been():
    teacher = {"degree": 3, "name": "ridge_polynomial"}
    content = POINT["problem"] | {"teacher": teacher | {"basis": "gegenbauer"}}
    expected = json.dumps(POINT["problem"] | {"teacher": teacher}, sort_keys=True, separators=(",", ":"))
    assert problems.problem_of(POINT | {"problem": content}).streams.key == (expected,)


def test_a_draw_is_a_word_of_its_own_and_the_first_one_has_none():
    assert streams_of({"a": 1}, (0,)) == streams_of({"a": 1}, (0,), "")
    assert streams_of({"a": 1}, (0,), "pilot").key == (*streams_of({"a": 1}, (0,)).key, "pilot")
    first, same, pilot = (problems.problem_of(POINT | more) for more in ({}, {"draw": ""}, {"draw": "pilot"}))
    assert np.array_equal(first.draw("test", 5).x, same.draw("test", 5).x)
    assert not np.array_equal(first.draw("test", 5).x, pilot.draw("test", 5).x)
    assert not np.array_equal(first.state["directions"], pilot.state["directions"])


def test_a_renamed_learner_is_given_the_same_numbers():
    given = []

    class Noted(Linear):
        def fit(self, sample, monitor, cache):
            given.append(sample.streams)
            return super().fit(sample, monitor, cache)

    class Unnamed(Noted):
        stream_key = ""

    problem = problems.problem_of(POINT | {"validation": 10})
    features = problems.features(problem, registry.build("representations", {"name": "raw"}), None)
    for learner in (Noted(), Unnamed()):
        train_curve(learner, problem, features, [8], None, {"ridge": [0.1]}, NullMonitor())
    keys = [streams.key[-2:] for streams in given]
    assert keys == [("learner", "Linear")] * 2 + [("learner", "Unnamed")] * 2
