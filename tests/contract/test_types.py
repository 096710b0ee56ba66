"""The models of the papers are typed: mypy's strict rules hold in their rooms."""

import subprocess
import sys
import tomllib

from hierlearn.core.registry import PACKAGE

ROOT = PACKAGE.parents[1]
TOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
# Every room but the workflow's.
LIBRARY = [f"hierlearn.{file.parent.name}" for file in PACKAGE.glob("*/__init__.py") if file.parent.name != "pipeline"]


def test_the_rooms_of_the_library_are_typed():
    assert TOOLS["mypy"]["strict"] and sorted(TOOLS["mypy"]["packages"]) == sorted(LIBRARY)
    # It keeps beside the project what it read of others: twenty seconds.
    done = subprocess.run([sys.executable, "-m", "mypy"], cwd=ROOT, text=True, capture_output=True, check=False)
    assert done.stdout.startswith("Success: no issues found"), done.stdout + done.stderr


def test_no_line_is_left_unchecked():
    rooms = [PACKAGE / name.rpartition(".")[2] for name in LIBRARY]
    assert [file.name for room in rooms for file in room.rglob("*.py") if "type: ignore" in file.read_text()] == []
