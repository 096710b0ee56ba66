"""The list of odd but legal inputs names tests that exist."""

import ast
from pathlib import Path

import pytest
import yaml

TESTS = Path(__file__).parents[1]
KINDS = yaml.safe_load((TESTS / "odd_but_legal.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind["kind"])
def test_a_kind_says_its_inputs_what_is_right_and_where_they_are_tried(kind):
    assert kind.keys() == {"kind", "inputs", "right", "tests"}
    assert kind["inputs"] and all(isinstance(words, str) for words in (*kind["inputs"], kind["right"]))
    assert kind["tests"] and [name for name in kind["tests"] if not defines(*name.split("::"))] == []


def defines(name, test):
    """Whether the one test file of a name has a test."""
    (file,) = TESTS.rglob(name)
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return any(isinstance(part, ast.FunctionDef) and part.name == test for part in tree.body)
