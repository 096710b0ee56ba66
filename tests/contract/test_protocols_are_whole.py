"""Everything that a component may be asked stands in the protocol of its kind, with a default if it may be left out."""

import ast
import re
import sys

import pytest

import hierlearn.kernels
from hierlearn.core import registry
from hierlearn.core.protocols import PROTOCOLS, Component
from hierlearn.core.provenance import BrokenSource
from hierlearn.core.registry import KINDS, PACKAGE, available, implementation, path
from hierlearn.inputs import UNIT_LAWS

# Attributes that are looked for on what is no component: the package's own names, a file's lines, an error of YAML,
# the comments of a file that is rewritten, the parts of a study.
NO_COMPONENTS = {
    "__init__.py",
    "comparison/data.py",
    "comparison/figure.py",
    "comparison/learners.py",
    "pipeline/command/convert.py",
    "pipeline/command/older_claims.py",
    "pipeline/command/publication.py",
    "pipeline/command/yaml_text.py",
    "core/provenance.py",
    "pipeline/files/load.py",
    "pipeline/plan/claim_checks.py",
    "pipeline/plan/references.py",
    "pipeline/plan/study.py",
    "solvers/densenets/distilled_training.py",
    "statistics/complexity.py",
}
ASKED = {"hasattr", "getattr"}
# Snakemake's own object, a row of the ledger, what a thread keeps, modules.
OWN = {"snakemake.output", "row", "scratch", "jobs", "resources", "module"}
FILES = [*PACKAGE.rglob("*.py"), *(PACKAGE.parent / "scripts").glob("*.py")]


def test_there_is_a_protocol_of_every_kind():
    assert list(PROTOCOLS) == list(KINDS)
    assert all(Component in protocol.__mro__ for protocol in PROTOCOLS.values())


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in KINDS for name in available(kind)])
def test_a_component_is_of_its_kind(kind, name):
    found = implementation(kind, name)
    assert PROTOCOLS[kind] in found.__mro__
    assert not found.__abstractmethods__


def questions(file):
    """The lines on which a file asks whether something has an attribute, with what is asked."""
    for node in ast.walk(ast.parse(file.read_text())):
        asked = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ASKED
        if asked and ast.unparse(node.args[0]) not in OWN:
            yield f"{file.name}:{node.lineno}: {ast.unparse(node)}"


def test_no_component_is_asked_whether_it_has_something():
    kept = {PACKAGE / name for name in NO_COMPONENTS}
    assert [line for file in FILES if file not in kept for line in questions(file)] == []
    assert [file.name for file in kept if not list(questions(file))] == []


def test_laws_of_points_of_norm_1_say_so():
    for name in available("inputs"):
        assert name not in UNIT_LAWS or implementation("inputs", name).norm == "unit"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("class Other:\n    pass\n", r"mine\.py:1: found no class Mine; expected it to be named as the file is"),
        ("x = 1\nclass Mine:\n    pass\n", r"mine\.py:2: found class Mine; expected class Mine\(Kernel\)"),
        (
            "from hierlearn.core.protocols import Kernel\nclass Mine(Kernel):\n    pass\n",
            r"mine\.py:2: found no method __call__, profile; expected all of Kernel",
        ),
        (
            "from dataclasses import dataclass\nfrom hierlearn.core.protocols import Kernel\n\n\n"
            "@dataclass\nclass Mine(Kernel):\n    width: int\n",
            r"mine\.py:6: found the field width without a default; expected one, or a description of the parameter",
        ),
        ("import a_module_that_nobody_has\n", r"mine\.py:1: ModuleNotFoundError: No module named"),
        ("def (\n", r"mine\.py:1: SyntaxError: invalid syntax"),
    ],
)
def test_a_class_that_is_no_component_is_refused_in_one_line(source, message, tmp_path, monkeypatch):
    folder = tmp_path / "kernels"
    folder.mkdir()
    (folder / "mine.py").write_text(source)
    monkeypatch.setattr(hierlearn.kernels, "__path__", [*hierlearn.kernels.__path__, str(folder)])
    monkeypatch.setattr(registry, "path", lambda kind, name: folder / "mine.py")
    monkeypatch.setenv("HIERLEARN_OWN", str(tmp_path))
    monkeypatch.delitem(sys.modules, "hierlearn.kernels.mine", raising=False)
    with pytest.raises(BrokenSource, match=message):
        registry.implementation("kernels", "mine")


def test_a_probe_trains_nothing_and_an_experiment_does():
    def trains(file):
        return bool(re.search("fit_path|contracts\\.fit|train\\(", file.read_text()))

    for name in available("probes"):
        assert implementation("probes", name).trains == trains(path("probes", name)), name
