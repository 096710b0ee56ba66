"""The wheel in a fresh environment that has the library's own dependencies alone."""

import json
import os
import subprocess
import sys
import sysconfig
import time
import tomllib
from importlib.metadata import PathDistribution, distribution
from pathlib import Path

import pytest
from conftest import ROOT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

NEEDED = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
# The first example of the manual.
EXAMPLE = """
from hierlearn.datasets import make_ridge_polynomial
from hierlearn.estimators import NeuralRepresentation, NTKRegressor, TaylorRegressor
from sklearn.pipeline import make_pipeline

X, y = make_ridge_polynomial(512, n_features=10, degree=4, random_state=0)
quad_neural = make_pipeline(NeuralRepresentation(256, n_directions=65), TaylorRegressor(order=2))
quad = quad_neural.fit(X[:400], y[:400]).score(X[400:], y[400:])
ntk = NTKRegressor(depth=2).fit(X[:400], y[:400]).score(X[400:], y[400:])
print(quad, ntk)
"""
LISTED = """
import importlib.metadata, json
print(json.dumps(sorted(one.metadata["Name"] for one in importlib.metadata.distributions())))
"""


def with_needs(names: list[str]) -> list[PathDistribution]:
    """Distributions by name, and all that they need here."""
    found: dict[str, PathDistribution] = {}
    waiting = [Requirement(line) for line in names]
    while waiting:
        one = waiting.pop()
        if (one.marker is None or one.marker.evaluate({"extra": ""})) and canonicalize_name(one.name) not in found:
            found[canonicalize_name(one.name)] = here = distribution(one.name)
            waiting += [Requirement(line) for line in here.requires or ()]
    return list(found.values())


@pytest.fixture(scope="module")
def python(tmp_path_factory) -> Path:
    """Python of an environment with the wheel and links to what it needs: nothing is asked of any registry."""
    folder = tmp_path_factory.mktemp("wheel")
    words = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    done = subprocess.run([*words, "-w", folder, ROOT], text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("hierlearn-*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], check=True)
    paths = sysconfig.get_paths("venv", vars={"base": str(folder / "env"), "platbase": str(folder / "env")})
    site = Path(paths["purelib"])
    pip = [sys.executable, "-m", "pip", "--python", folder / "env", "install", "--quiet", "--no-deps", "--no-index"]
    done = subprocess.run([*pip, wheel], text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    for one in with_needs(NEEDED):
        for name in {file.parts[0] for file in one.files or () if file.parts[0] not in ("..", "__pycache__")}:
            if not (site / name).exists():
                (site / name).symlink_to(one.locate_file(name))
    return folder / "env" / "bin" / "python"


def run(python: Path, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """What a program ends with, in an environment without this one's variables."""
    environment = {key: text for key, text in os.environ.items() if not key.startswith("PYTHON")}
    return subprocess.run([python, *words], env=environment, cwd=cwd, text=True, capture_output=True, check=False)


@pytest.mark.slow
def test_the_first_example_runs_on_the_librarys_dependencies_alone(python, tmp_path):
    names = {canonicalize_name(name) for name in json.loads(run(python, "-c", LISTED).stdout)}
    asked = {canonicalize_name(Requirement(line).name) for line in NEEDED}
    assert asked | {"hierlearn"} <= names and not names & {"torch", "snakemake", "pyyaml", "xarray", "matplotlib"}
    before, began = os.times(), time.perf_counter()
    done = run(python, "-W", "ignore", "-c", EXAMPLE, cwd=tmp_path)
    after = os.times()
    assert done.returncode == 0, done.stderr
    # Without random_state every run draws other features and gates: quad is from 0.2 to 0.5, ntk always -0.05.
    quad, ntk = map(float, done.stdout.split())
    assert quad > ntk
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    print(f"first example, imports included: {spent:.1f} CPU-seconds, {time.perf_counter() - began:.1f} s by the clock")


@pytest.mark.slow
def test_a_table_is_compared_without_the_workflow(python, tmp_path):
    lines = ["age,size,price", *(f"{i % 7},{i % 5},{i % 7 + 2 * (i % 5) + 0.01 * i}" for i in range(60))]
    (tmp_path / "mine.csv").write_text("\n".join(lines) + "\n")
    words = ["compare", "mine.csv", "--target", "price", "--learners", "ntk", "ridge", "--splits", "2"]
    done = run(python, str(python.with_name("hierlearn")), *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "mine: 60 rows, 2 columns" in done.stdout and "found no matplotlib" in done.stderr
    assert (tmp_path / "mine-comparison.csv").is_file()
