"""What the project runs on: exact pins with known licences; data are never code."""

import ast
import csv
import importlib.util
import re
import sys
import tomllib
from importlib.metadata import distribution

import pytest
import yaml
from conftest import ROOT
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ENVS = ROOT / "envs"
PERMISSIVE = {
    *("MIT", "MIT-CMU", "0BSD", "BSD", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"),
    *("BSL-1.0", "CC0-1.0", "LicenseRef-Public-Domain", "PSF-2.0", "Zlib"),
}
# Copyleft of a file or a library, which ends at what links to it.
WEAK = {"MPL-2.0"}
# The pins of `make`, and those that each other group adds.
FILES = {file.stem: file.read_text().splitlines() for file in ENVS.glob("requirements*.txt")}
PINNED = sorted({line for lines in FILES.values() for line in lines}, key=str.casefold)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
# What the library needs, and what its extras add.
ASKED = [
    *PROJECT["project"]["dependencies"],
    *(one for extra in PROJECT["project"]["optional-dependencies"].values() for one in extra),
]
AUDITED = list(csv.DictReader((ENVS / "licences.csv").read_text().splitlines()))


def words(licence: str) -> set[str]:
    return set(re.split(r" AND | OR ", licence))


def test_every_requirement_is_pinned_exactly():
    assert [line for line in PINNED if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.]*", line)] == []


def pins_of(group: str) -> dict[str, str]:
    """Version by canonical name of what is installed for a group: the pins of `make` and its own."""
    lines = FILES["requirements"] + FILES.get(f"requirements-{group}", [])
    return {canonicalize_name(name): version for name, version in (line.split("==") for line in lines)}


def unpinned(needed: list[str], pins: dict[str, str]) -> list[str]:
    """Requirements that hold here and that no pin meets."""
    here = [Requirement(text) for text in needed]
    here = [one for one in here if one.marker is None or one.marker.evaluate({"extra": ""})]
    found = [(one, pins.get(canonicalize_name(one.name))) for one in here]
    return [str(one) for one, pin in found if pin is None or not one.specifier.contains(pin, prereleases=True)]


def entries(group: str) -> list[str]:
    """The requirements of a group, those of the groups that it includes among them."""
    parts = PROJECT["dependency-groups"][group]
    return [one for part in parts for one in ([part] if isinstance(part, str) else entries(part["include-group"]))]


@pytest.mark.parametrize("group", ["run", "cluster", "test"])
def test_what_a_pin_needs_is_pinned_too(group):
    pins = pins_of(group)
    # The wheels of torch for GPUs bring libraries of their own.
    missing = {name: unpinned(distribution(name).requires or [], pins) for name in set(pins) - {"torch"}}
    assert {name: needed for name, needed in missing.items() if needed} == {}


@pytest.mark.parametrize("group", PROJECT["dependency-groups"])
def test_what_the_project_asks_for_is_pinned(group):
    assert unpinned(ASKED + entries(group), pins_of(group)) == []


def test_a_group_adds_to_the_pins_of_a_run_and_changes_none():
    for name in set(FILES) - {"requirements"}:
        assert not {line.split("==")[0] for line in FILES[name]} & {
            line.split("==")[0] for line in FILES["requirements"]
        }


def test_make_installs_no_plugin_of_a_cluster():
    # Snakemake loads every plugin that is installed as it starts, and that of Slurm asks the machine for its programs.
    assert not [line for line in FILES["requirements"] if line.startswith("snakemake-executor-plugin")]
    assert [line.split("==")[0] for line in FILES["requirements-cluster"]] == [
        "snakemake-executor-plugin-slurm",
        "snakemake-executor-plugin-slurm-jobstep",
    ]


def test_make_pins_no_library_of_one_machines_gpu():
    assert not [line for line in FILES["requirements"] if line.startswith(("nvidia", "triton"))]


def test_the_project_asks_for_what_the_package_imports():
    # The workflow's own part of it, too: what makes rules and puts a folder in order before a run.
    asked = {canonicalize_name(re.split("[<>=~]", name)[0]) for name in ASKED}
    others = {"sklearn": "scikit-learn", "yaml": "pyyaml"}
    found = set()
    for file in (ROOT / "workflow" / "hierlearn").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add(node.module.split(".")[0])
    found -= sys.stdlib_module_names | {"hierlearn"}
    assert {canonicalize_name(others.get(name, name)) for name in found} <= asked


def test_the_conda_environment_has_the_pins_of_make():
    *_, pip = yaml.safe_load((ENVS / "environment.yaml").read_text())["dependencies"]
    assert pip == {"pip": FILES["requirements"]}


@pytest.mark.parametrize("group", ["run", "test"])
def test_every_pin_runs_on_the_oldest_python_of_the_project(group):
    oldest = f"{PROJECT['project']['requires-python'].removeprefix('>=')}.0"
    asked = {name: distribution(name).metadata["Requires-Python"] or "" for name in pins_of(group)}
    assert {name: words for name, words in asked.items() if oldest not in SpecifierSet(words)} == {}


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


SOURCES = [file for room in ("workflow", "benchmarks", "envs", "tests") for file in sorted((ROOT / room).rglob("*.py"))]
PACKAGE = [file for file in SOURCES if file.is_relative_to(ROOT / "workflow")]


def dangers(text: str) -> list[str]:
    """What the linter does not see, of what could run code out of data (tests/contract/test_lint.py sees the rest)."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
            found += [] if isinstance(node.value, ast.Constant) and node.value.value is False else [node.arg]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("compile", "__import__"):
            found.append(ast.unparse(node.func))
    return found


def test_no_module_makes_code_out_of_data():
    found = {file.relative_to(ROOT).as_posix(): dangers(file.read_text()) for file in SOURCES}
    assert {name: words for name, words in found.items() if words} == {}


@pytest.mark.parametrize("text", ["import numpy as np\nnp.load(f, allow_pickle=True)", "compile(text, '', 'eval')"])
def test_code_out_of_data_is_noticed(text):
    assert dangers(text) != []


@pytest.mark.parametrize(
    "file", sorted([*ROOT.glob("Snakefile"), *(ROOT / "workflow").rglob("*.smk")]), ids=lambda file: file.name
)
def test_no_snakefile_makes_code_out_of_data(file):
    assert re.findall(r"\b(?:pickle|eval|exec|unsafe_load|full_load|shell=True)\b", file.read_text()) == []


def test_one_module_reads_yaml_and_the_converter_which_keeps_comments():
    readers = {file.name for file in PACKAGE if re.search(r"^(import|from) yaml\b", file.read_text(), re.MULTILINE)}
    assert readers == {"load.py", "convert.py", "older_claims.py", "yaml_text.py"}
