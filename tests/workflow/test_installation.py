"""The package as it is installed: all of it, from any folder, and never instead of a tree's own."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT, TOOLS

READ_A_STUDY = """
import sys
from pathlib import Path
import hierlearn
from hierlearn.pipeline.plan.configuration import configure
plan = configure({"studies": ["tiny"]}, Path("none"), Path(sys.argv[1]))
print(hierlearn.__file__, hierlearn.__version__, *plan.studies)
"""


def files(folder: Path) -> set[str]:
    """The files below a folder, without what Python keeps of its own."""
    return {
        file.relative_to(folder).as_posix()
        for file in folder.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }


@pytest.fixture(scope="module")
def source(tree, tmp_path_factory) -> Path:
    """A copy of the tree with what a build reads."""
    folder = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(tree / "workflow", folder / "workflow", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture(scope="module")
def installed(source, tmp_path_factory) -> Path:
    """A folder with what the wheel installs, and nothing left in the tree that it was built from."""
    folder, before = tmp_path_factory.mktemp("wheel"), files(source)
    subprocess.run([TOOLS / "hatchling", "build", "-t", "wheel", "-d", folder], cwd=source, check=True)
    assert files(source) == before
    (wheel,) = folder.glob("hierlearn-*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "site")
    return folder / "site"


def imported(site: Path, studies: Path, folder: Path) -> list[str]:
    """Where Python finds the package with `site` as PYTHONPATH, its version, and the study that it reads."""
    done = subprocess.run(
        [sys.executable, "-c", READ_A_STUDY, studies],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"},
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_wheel_has_all_files_of_the_package_and_no_others(source, installed):
    package = {name for name in files(installed) if ".dist-info/" not in name}
    folders = "hierlearn", "snakemake_executor_plugin_hierlearn", "snakemake_logger_plugin_hierlearn"
    assert package == {f"{folder}/{name}" for folder in folders for name in files(source / "workflow" / folder)}


def test_the_package_reads_a_study_from_any_folder(tree, installed, tmp_path):
    file, version, study = imported(installed, tree / "config" / "studies", tmp_path)
    assert Path(file).is_relative_to(installed)
    assert f"hierlearn-{version}.dist-info" in {path.name for path in installed.iterdir()}
    assert study == "tiny"


def test_a_copied_tree_runs_its_own_package(tree, tmp_path):
    """`make` installs the package of its own tree; the environment may run another tree, which sets PYTHONPATH."""
    file, *_ = imported(tree / "workflow", tree / "config" / "studies", tmp_path)
    assert Path(file).is_relative_to(tree)
