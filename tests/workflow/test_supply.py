"""What the project runs on: exact pins with known licences; data are never code."""

import ast
import csv
import importlib.util
import re
from importlib.metadata import distribution

import pytest
import yaml
from conftest import ROOT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ENVS = ROOT / "envs"
PERMISSIVE = {
    *("MIT", "MIT-CMU", "0BSD", "BSD", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"),
    *("BSL-1.0", "CC0-1.0", "LicenseRef-Public-Domain", "PSF-2.0", "Zlib"),
}
# Copyleft of a file or a library, which ends at what links to it.
WEAK = {"MPL-2.0"}
PINNED = [line for line in (ENVS / "requirements.txt").read_text().splitlines() if line and not line.startswith("#")]
AUDITED = list(csv.DictReader((ENVS / "licences.csv").read_text().splitlines()))


def words(licence: str) -> set[str]:
    return set(re.split(r" AND | OR ", licence))


def test_every_requirement_is_pinned_exactly():
    assert [line for line in PINNED if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.]*", line)] == []


def test_what_a_pin_needs_is_pinned_too():
    pins = {canonicalize_name(name): version for name, version in (line.split("==") for line in PINNED)}
    missing = []
    # The wheels of torch for GPUs bring libraries of their own.
    for name in sorted(set(pins) - {"torch"}):
        for text in distribution(name).requires or ():
            needed = Requirement(text)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                version = pins.get(canonicalize_name(needed.name))
                if version is None or not needed.specifier.contains(version, prereleases=True):
                    missing.append(f"{name} needs {needed}, pinned {version}")
    assert missing == []


def test_the_conda_environment_has_the_same_pins():
    *_, pip = yaml.safe_load((ENVS / "environment.yaml").read_text())["dependencies"]
    assert pip == {"pip": PINNED}


def test_every_pin_has_been_audited_at_its_version():
    assert [f"{row['distribution']}=={row['version']}" for row in AUDITED] == PINNED


def test_every_licence_is_permissive_or_copyleft_of_single_files():
    for row in AUDITED:
        assert words(row["licence"]) <= PERMISSIVE | WEAK, row
        assert not words(row["licence"]) & WEAK or row["note"], row


def test_the_audit_says_what_the_installed_files_say():
    specification = importlib.util.spec_from_file_location("licences", ENVS / "licences.py")
    audit = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(audit)
    assert audit.rows() == AUDITED


def test_wheels_that_carry_libraries_of_the_compiler_say_so():
    for row in AUDITED:
        names = " ".join(file.name for file in distribution(row["distribution"]).files or ())
        if re.search(r"\blib(gfortran|gomp|quadmath|stdc\+\+)\b", names):
            assert "GCC" in row["note"], row


# What reads code out of data, by the module that offers it; True: importing the module is enough.
DANGEROUS = {
    **dict.fromkeys(("pickle", "_pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"), True),
    "yaml": ("unsafe_load", "unsafe_load_all", "full_load", "full_load_all", "load_all", "UnsafeLoader", "FullLoader"),
    "torch": ("load", "save"),
}
SOURCES = [file for room in ("workflow", "benchmarks", "envs", "tests") for file in sorted((ROOT / room).rglob("*.py"))]
PACKAGE = [file for file in SOURCES if file.is_relative_to(ROOT / "workflow")]


def dangers(text: str) -> list[str]:
    """What in a module could run code out of data."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if DANGEROUS.get(alias.name.split(".")[0]) is True]
        elif isinstance(node, ast.ImportFrom) and node.module:
            offered = DANGEROUS.get(node.module.split(".")[0], ())
            found += [alias.name for alias in node.names if offered is True or alias.name in offered]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            offered = DANGEROUS.get(node.value.id, ())
            found += [f"{node.value.id}.{node.attr}"] if offered is not True and node.attr in offered else []
        elif isinstance(node, ast.keyword) and node.arg in ("allow_pickle", "shell"):
            off = isinstance(node.value, ast.Constant) and node.value.value is False
            found += [] if off else [node.arg]
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            found += [called] if called in ("eval", "exec", "compile", "__import__") else []
            # The loader has a name of its own in the one place that reads YAML, and is tested there.
            named = [ast.unparse(part) for part in (*node.args[1:], *(key.value for key in node.keywords))]
            found += [called] if called == "yaml.load" and named != ["_Loader"] else []
    return found


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: str(file.relative_to(ROOT)))
def test_no_module_makes_code_out_of_data(file):
    assert dangers(file.read_text()) == []


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "import joblib.externals",
        "from cloudpickle import loads",
        "import numpy as np\nnp.load(f, allow_pickle=True)",
        "import torch\ntorch.load(f)",
        "from torch import load",
        "import yaml\nyaml.load(f, yaml.Loader)",
        "import yaml\nyaml.load(f, Loader=yaml.FullLoader)",
        "import yaml\nyaml.unsafe_load(f)",
        "from yaml import full_load",
        "eval(text)",
        "def f():\n    exec(text)",
        "import subprocess\nsubprocess.run(text, shell=True)",
    ],
)
def test_code_out_of_data_is_noticed(text):
    assert dangers(text) != []


@pytest.mark.parametrize(
    "file", sorted([*ROOT.glob("Snakefile"), *(ROOT / "workflow").rglob("*.smk")]), ids=lambda file: file.name
)
def test_no_snakefile_makes_code_out_of_data(file):
    assert re.findall(r"\b(?:pickle|eval|exec|unsafe_load|full_load|shell=True)\b", file.read_text()) == []


def test_only_one_module_reads_yaml():
    readers = [file.name for file in PACKAGE if re.search(r"^(import|from) yaml\b", file.read_text(), re.MULTILINE)]
    assert readers == ["reading.py"]
