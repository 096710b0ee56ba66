"""A small study at other versions of Snakemake than the pinned one.

    python tests/workflow/compatibility.py

Prints a line for every released version from the floor in pyproject.toml on: whether the study ran whole, with the
bytes of the pin. The exit status is 1 if one did not.
"""

import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import venv
from functools import cache
from pathlib import Path

from conftest import ROOT, TOOLS, copied, tool
from packaging.requirements import Requirement
from packaging.version import Version

CLAIMS = Path("results", "quick", "small", "claims.json")


def floor() -> Version:
    """The lowest version of Snakemake that the project promises to run on."""
    group = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["workflow"]
    (snakemake,) = [asked for text in group if (asked := Requirement(text)).name == "snakemake"]
    (lowest,) = [one.version for one in snakemake.specifier if one.operator == ">="]
    return Version(lowest)


@cache
def released() -> tuple[Version, ...]:
    """The versions of Snakemake from the floor on, in order, but for the one of this environment, which is the pin.

    Raises LookupError, one line, where pip finds no floor.
    """
    if importlib.util.find_spec("ensurepip") is None:
        raise LookupError("python3 has no ensurepip; install it (Debian and Ubuntu: the package python3-venv)")
    with tempfile.TemporaryDirectory() as folder:
        asked = [environment(Path(folder)) / "pip", "index", "versions", "snakemake"]
        listed = subprocess.run(asked, text=True, capture_output=True, check=False).stdout
    words = re.search(r"^Available versions: (.*)$", listed, re.MULTILINE)
    versions = sorted(Version(word) for word in words[1].split(", ")) if words else []
    if floor() not in versions:
        raise LookupError(f"pip reaches no index with Snakemake {floor()}")
    here = Version(importlib.metadata.version("snakemake"))
    return tuple(version for version in versions if version >= floor() and version != here)


def environment(folder: Path) -> Path:
    """The programs of a new virtual environment that sees the packages of this one behind its own."""
    venv.create(folder, with_pip=True, symlinks=True)
    purelib = sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)})
    (Path(purelib) / "pinned.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin"


def programs(version: Version, folder: Path) -> Path:
    """The programs of an environment with another Snakemake, what only that needs, and the pinned packages.

    Raises RuntimeError, one line, where pip cannot make it.
    """
    tools = environment(folder)
    asked = [tools / "pip", "install", "--quiet", "--disable-pip-version-check", f"snakemake=={version}"]
    done = subprocess.run(asked, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        raise RuntimeError(f"pip: {done.stdout.strip().splitlines()[-1]}")
    return tools


def claims(tools: Path, folder: Path) -> bytes:
    """What a run of the Snakemake among some programs finds of the study's claims, in a copy of the workflow.

    Raises RuntimeError with what the run said last where it failed.
    """
    shutil.copy(ROOT / "tests" / "stress" / "small.yaml", copied(folder) / "config" / "studies")
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    # The executor of the copy, which is installed nowhere.
    package = str(folder / "workflow")
    done = tool(str(tools / "snakemake"), "--cores", "2", folder=folder, PATH=path, PYTHONPATH=package)
    if done.code:
        raise RuntimeError(done.end)
    return (folder / CLAIMS).read_bytes()


def main() -> int:
    """Print the lines."""
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        pinned = claims(TOOLS, Path(name, "pinned"))
        for version in released():
            folder = Path(name, str(version))
            try:
                same = claims(programs(version, folder / "environment"), folder / "tree") == pinned
                outcome = "the bytes of the pin" if same else f"other bytes of {CLAIMS.name}"
            except RuntimeError as error:
                same, outcome = False, f"failed: {str(error).splitlines()[-1]}"
            failed += not same
            print(f"{version!s:<8} {outcome}", flush=True)
            shutil.rmtree(folder)
    return int(failed > 0)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LookupError as error:
        sys.exit(f"error: {error}")
