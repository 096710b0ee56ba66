"""The library is typed: mypy's strict rules hold in its rooms."""

import subprocess
import sys
import tomllib

from hierlearn.core.registry import PACKAGE

ROOT = PACKAGE.parents[1]
TYPED = ("core", "theory", "statistics", "kernels", "inputs", "teachers", "representations", "solvers", "learners")


def test_the_rooms_of_the_library_are_typed(tmp_path):
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]
    assert settings["strict"] and settings["packages"] == [f"hierlearn.{room}" for room in TYPED]
    words = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path)]
    done = subprocess.run(words, cwd=ROOT, text=True, capture_output=True, check=False)
    assert done.stdout.startswith("Success: no issues found"), done.stdout + done.stderr


def test_no_line_is_left_unchecked():
    marked = [
        file.name for room in TYPED for file in (PACKAGE / room).rglob("*.py") if "type: ignore" in file.read_text()
    ]
    assert marked == []
