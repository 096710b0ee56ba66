"""Each floor of the package imports only from floors below it."""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from hierlearn.core.folders import ROOMS
from hierlearn.core.registry import PACKAGE

SHELVES = sorted(set(ROOMS.values()))
SCRIPTS = PACKAGE.parent / "scripts"
MODULES = sorted([*PACKAGE.rglob("*.py"), *SCRIPTS.glob("*.py")])


def name_of(file: Path) -> str:
    if file.parent == SCRIPTS:
        return f"scripts.{file.stem}"
    parts = file.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts) or "hierlearn"


NAMES = {name_of(file) for file in MODULES}


@cache
def imported(file: Path) -> frozenset[str]:
    """Modules of the package that a file imports, wherever in it, without the package's name.

    What is imported for annotations alone is not imported when the workflow runs.
    """
    found, tree = set(), ast.parse(file.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = [ast.Pass()]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{file.name}: a relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name.startswith("hierlearn."):
                found.add(module(name.removeprefix("hierlearn.")))
    return frozenset(found)


def module(name: str) -> str:
    """The module that a dotted name lies in."""
    while name and name not in NAMES:
        name = name.rpartition(".")[0]
    assert name, "a name of the package itself, which stands on no floor"
    return name


def test_a_room_imports_only_from_below():
    """The contracts of the import linter, in pyproject.toml."""
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache"]
    done = subprocess.run(command, cwd=PACKAGE.parents[1], text=True, capture_output=True, check=False)
    assert done.returncode == 0 and " 0 broken" in done.stdout, done.stdout + done.stderr


def test_there_are_no_circles():
    waiting = {name_of(file): imported(file) - {name_of(file)} for file in MODULES}
    while waiting:
        free = [name for name, needed in waiting.items() if not needed & set(waiting)]
        assert free, f"a circle among {sorted(waiting)}"
        for name in free:
            del waiting[name]


def test_no_script_imports_another():
    others = "|".join(other.stem for other in SCRIPTS.glob("*.py"))
    for file in SCRIPTS.glob("*.py"):
        assert not re.search(rf"^\s*(from|import) ({others})\b", file.read_text(), flags=re.MULTILINE), file.name


@pytest.mark.parametrize("shelf", SHELVES)
def test_components_of_a_kind_share_only_what_is_marked_as_shared(shelf):
    """A component may use the helper modules of its room, in a folder or with a name that begins with _, and not its
    neighbours."""
    room = f"{shelf.replace('/', '.')}."
    for file in (PACKAGE / shelf).glob("*.py"):
        inside = [other.removeprefix(room) for other in imported(file) if other.startswith(room)]
        assert all("." in other or other.startswith("_") for other in inside), file.name


def test_there_is_no_module_beside_the_rooms():
    assert [file.name for file in PACKAGE.glob("*.py")] == ["__init__.py"]


def test_a_function_is_short_enough_to_be_read_at_once():
    folders = ("workflow", "tests", "benchmarks", "docs", "envs")
    files = [file for folder in folders for file in (PACKAGE.parents[1] / folder).rglob("*.py")]
    long = {
        f"{file.name}: {node.name}": node.end_lineno - node.lineno + 1
        for file in files
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef) and node.end_lineno - node.lineno >= 80
    }
    assert long == {}
