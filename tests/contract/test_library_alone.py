"""The library needs what pyproject.toml says it needs, and no part of the workflow."""

import os
import subprocess
import sys
import tomllib
from importlib.metadata import distribution, packages_distributions

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from hierlearn.core.registry import PACKAGE

PROJECT = tomllib.loads((PACKAGE.parents[1] / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
MODULES = sorted(
    ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for file in PACKAGE.rglob("*.py")
    if not file.is_relative_to(PACKAGE / "pipeline")
)
BLOCKED = """
import importlib, importlib.abc, importlib.metadata, sys

# Torch needs jinja2, and imports it where it compiles.
workflow = {{"snakemake", "yaml", "jsonschema", "xarray", "netCDF4", "matplotlib", "jinja2"}}
others = set(importlib.metadata.packages_distributions()) - set({allowed}) | workflow

class OnlyTheLibrarys(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in others or name.startswith("hierlearn.pipeline"):
            raise ImportError(f"{{name}} is not among what the library needs")

sys.meta_path.insert(0, OnlyTheLibrarys())
"""
EXAMPLE = """
from hierlearn.datasets import make_ridge_polynomial
from hierlearn.estimators import NeuralRepresentation, NTKRegressor, TaylorRegressor
from sklearn.pipeline import make_pipeline

X, y = make_ridge_polynomial(512, n_features=10, degree=4, random_state=0)
representation = NeuralRepresentation(256, n_directions=65, random_state=0)
quad_neural = make_pipeline(representation, TaylorRegressor(order=2, random_state=0))
quad = quad_neural.fit(X[:400], y[:400]).score(X[400:], y[400:])
ntk = NTKRegressor(depth=2).fit(X[:400], y[:400]).score(X[400:], y[400:])
assert quad > 0.2 > ntk, (quad, ntk)
"""


def importable(needed):
    """The modules of distributions, of the package, and of all that these need."""
    names, waiting = {"hierlearn"}, [Requirement(line).name for line in needed]
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name not in names:
            names.add(name)
            needs = [Requirement(line) for line in distribution(name).requires or ()]
            waiting += [one.name for one in needs if one.marker is None or one.marker.evaluate({"extra": ""})]
    modules = packages_distributions()
    return sorted(module for module, of in modules.items() if names & {canonicalize_name(one) for one in of})


def run(program, needed):
    """The last line of the error that a program ends with where no other distribution can be imported; "" for none."""
    words = [sys.executable, "-c", BLOCKED.format(allowed=importable(needed)) + program]
    environment = os.environ | {"PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    return done.stderr.splitlines()[-1] if done.returncode else ""


def test_every_module_of_the_library_is_imported_without_the_workflow():
    assert len(MODULES) > 150
    needed = PROJECT["dependencies"] + EXTRAS["torch"]
    assert run(f"for name in {MODULES}: importlib.import_module(name)", needed) == ""


def test_the_first_example_needs_the_librarys_dependencies_alone():
    assert run(EXAMPLE, PROJECT["dependencies"]) == ""


def test_the_example_would_miss_what_it_needs():
    assert run(EXAMPLE, ["numpy"]) == "ImportError: sklearn is not among what the library needs"
