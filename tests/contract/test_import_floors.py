"""Each floor of the package imports only from floors below it."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from hierlearn.core.registry import KINDS, PACKAGE, rooms

ROOMS = [room for kind in KINDS for room in rooms(kind)]
SCRIPTS = PACKAGE.parent / "scripts"
# From the ground up; rooms on one floor do not know each other.
FLOORS = (
    ("core", "theory"),
    ("statistics", "solvers", "files"),
    (*ROOMS, "claims", "run"),
    ("plan", "estimators", "datasets"),
    ("command", "scripts"),
)
FLOOR = {room: number for number, floor in enumerate(FLOORS) for room in floor}
# A quantity reads the same tables as the figure that draws it and the page that prints them; an experiment has
# parameters that probes have.
SHARED = {("figures", "quantities"), ("experiments", "probes"), ("claims", "quantities")}
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


def test_every_room_is_on_a_floor():
    rooms = {name_of(file).split(".")[0] for file in MODULES} - {"hierlearn"}
    assert rooms == set(FLOOR)


@pytest.mark.parametrize("file", [f for f in MODULES if name_of(f) != "hierlearn"], ids=name_of)
def test_a_module_imports_only_from_below(file):
    room = name_of(file).split(".")[0]
    for other in imported(file):
        below = other.split(".")[0]
        assert room == below or FLOOR[below] < FLOOR[room] or (room, below) in SHARED, (
            f"{name_of(file)} imports {other}"
        )


def test_there_are_no_circles():
    waiting = {name_of(file): imported(file) - {name_of(file)} for file in MODULES}
    while waiting:
        free = [name for name, needed in waiting.items() if not needed & set(waiting)]
        assert free, f"a circle among {sorted(waiting)}"
        for name in free:
            del waiting[name]


@pytest.mark.parametrize("file", sorted(SCRIPTS.glob("*.py")), ids=lambda file: file.stem)
def test_no_script_imports_another(file):
    others = "|".join(other.stem for other in SCRIPTS.glob("*.py"))
    assert not re.search(rf"^\s*(from|import) ({others})\b", file.read_text(), flags=re.MULTILINE)


@pytest.mark.parametrize("kind", ROOMS)
def test_components_of_a_kind_share_only_what_is_marked_as_shared(kind):
    """A component may use the helper modules of its room, in a folder or with a name that begins with _, and not its
    neighbours."""
    for file in (PACKAGE / kind).glob("*.py"):
        inside = {other for other in imported(file) if other.startswith(f"{kind}.")}
        assert all(other.count(".") == 2 or other.split(".")[1].startswith("_") for other in inside), file.name


def test_mathematics_knows_no_files_and_no_studies():
    for room in ("solvers", "statistics", "theory"):
        for file in (PACKAGE / room).glob("*.py"):
            assert {name.split(".")[0] for name in imported(file)} <= {"solvers", "statistics", "theory"}, file.name


def test_there_are_five_floors_and_no_module_beside_the_rooms():
    assert len(FLOORS) <= 5
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
