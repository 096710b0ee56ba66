"""Checks of names and values that become coordinates of the results."""

import pytest

from hierlearn.core import registry

OF_WORDS = """
from dataclasses import dataclass
from typing import Annotated, Literal

from hierlearn.learners.linear import Linear


@dataclass(frozen=True, kw_only=True)
class Worded(Linear):
    'Linear, with a word.'

    kind: Annotated[Literal["plain", {word!r}], "A word."] = "plain"
"""


def lines(check, content):
    return [str(fault) for fault in check(content)[1]]


def test_what_is_swept_has_another_name_than_an_axis(content, check):
    """The teacher's degree is an axis here; that of the learner would share its coordinate."""
    learner = {"label": "P", "learner": {"name": "polynomial_network"}, "samples": {"at": [4]}}
    content["learners"]["p"] = learner | {"select": {"learning_rate": [0.1]}, "sweep": {"degree": [2, 4]}}
    found = lines(check, content)
    assert any("learners.p.sweep.degree: found the name of an axis of the results" in one for one in found), found


@pytest.mark.parametrize("values", [[None, 0.1], [[1.0, 0.2], [1.0, 0.5]]])
def test_what_is_swept_are_numbers_or_words(content, check, values):
    content["learners"]["linear"]["sweep"] = {"width": values}
    assert any("learners.linear.sweep.width[0]: found" in one for one in lines(check, content))


def test_a_score_that_the_teacher_never_has_is_unknown(content, check):
    of_classes = {"name": "score_difference", "above": "kernel", "below": "linear", "samples": 4}
    content["claims"]["C1-kernel"]["quantity"] = of_classes | {"where": {"dimension": 3, "degree": 1, "width": 4}}
    found = lines(check, content)
    assert any("quantity.variable: found 'test_accuracy'; expected one of" in one for one in found), found


@pytest.mark.parametrize("word", ["a/b", "a{b", "a\nb"])
def test_words_that_are_coordinates_can_name_files(content, check, tmp_path, word):
    (tmp_path / "learners").mkdir()
    (tmp_path / "learners" / "worded.py").write_text(OF_WORDS.format(word=word))
    registry.use([tmp_path])
    content["learners"]["linear"] |= {"learner": {"name": "worded"}, "sweep": {"kind": ["plain", word]}}
    try:
        found = lines(check, content)
    finally:
        registry.use(())
    assert any("learners.linear.sweep.kind[1]: found" in one and "as it names files" in one for one in found), found
    assert not any("kind[0]" in one for one in found)
