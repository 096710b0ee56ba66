"""The docstring of a public function of the library begins with a verb, that of a module's function is there at all.

A property may be a noun phrase (PEP 257). Ruff's D401 knows nouns and verbs in the third person; this knows verbs.
"""

import ast
import re

import pytest

from hierlearn.core.registry import PACKAGE

ROOMS = (
    "core",
    "theory",
    "statistics",
    "solvers",
    "kernels",
    "inputs",
    "teachers",
    "representations",
    "learners",
    "datasets",
    "estimators",
    "comparison",
    "../templates",  # what authors of components begin with
)
VERBS = """
    Add Adjust Bound Build Certify Change Check Clear Collect Compare Correlate Count Cut Descend Distil Do Draw
    Embed Encode Estimate Expand Fill Find Fit Flatten Forget Go Join Keep Let Look Make Map Measure Minimise Move
    Name Object Predict Raise Recompute Refit Repeat Report Reshape Return Say Simulate Solve Stack Sum Take
    Train Undo Warn Widen Write Yield
"""


def refused(text: str) -> list[str]:
    """Return the public functions of a module that have no docstring or one that begins with another word."""

    def walk(body, qualifier=""):
        for node in body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield from walk(node.body, f"{node.name}.")
            elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
                # A method may leave its words to the protocol that it belongs to.
                words = ast.get_docstring(node) or ("Return" if qualifier else "nothing")
                first = re.match(r"\w*", words).group()
                if first not in VERBS.split() and not any("property" in decorator for decorator in decorators):
                    yield f"{node.lineno}: {qualifier}{node.name}: {first!r}"

    return list(walk(ast.parse(text).body))


@pytest.mark.parametrize("room", ROOMS)
def test_docstrings_begin_with_a_verb(room):
    files = {file.relative_to(PACKAGE): file.read_text() for file in sorted((PACKAGE / room).rglob("*.py"))}
    public = {name: text for name, text in files.items() if not re.search(r"/_(?!_init__)", name.as_posix())}
    assert public
    assert not [f"{name}:{found}" for name, text in public.items() for found in refused(text)]


@pytest.mark.parametrize("words", ["The norm of x.", "Norm of x.", "Returns the norm.", "(S,) float64.", ""])
def test_another_first_word_is_refused(words):
    function = f'def norm(x):\n    """{words}"""\n'
    method = "class Law:\n    " + function.replace("\n    ", "\n        ")
    assert refused(function) and (refused(method) or not words)
    assert not refused(f"@property\n{function}") or not words
    assert not refused(function.replace(words, "Return the norm.") if words else method)
    assert not refused(function.replace("norm(", "_norm("))
