"""A copy of the workflow with one tiny study, run once; what the tests ask of it is asked of the same results."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
TOOLS = Path(sys.executable).parent


@dataclass(frozen=True)
class Finished:
    """An ended command."""

    code: int
    text: str

    @property
    def errors(self) -> list[str]:
        """The lines that a user reads as what went wrong."""
        return [line for line in self.text.splitlines() if line.startswith("error:")]

    @property
    def end(self) -> str:
        """What went wrong if something did, else the last lines."""
        return "\n".join(self.errors or self.text.splitlines()[-40:])


def tool(name: str, *words: str, folder: Path, **variables: str) -> Finished:
    """Run a command of the environment that runs the tests; variables: of its environment."""
    # Trees keep their bytecode, as those of users do: compiling is half a second of every start.
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "", "PATH": f"{TOOLS}{os.pathsep}{os.environ['PATH']}"}
    environment |= variables
    done = subprocess.run(
        [str(TOOLS / name), *words], cwd=folder, env=environment, text=True, stdout=-1, stderr=-2, check=False
    )
    return Finished(done.returncode, done.stdout)


def snakemake(tree: Path, *words: str, folder: Path | None = None, **variables: str) -> Finished:
    """Run a tree's workflow in the tree, or with its results in another folder."""
    where = [] if folder is None else ["--directory", str(folder)]
    fixed = ["--snakefile", str(tree / "Snakefile"), "--workflow-profile", str(tree / "profiles" / "default")]
    return tool("snakemake", *fixed, *where, *words, folder=tree, **variables)


def copied(folder: Path) -> Path:
    """A copy of the workflow without its studies."""
    ignored = shutil.ignore_patterns("__pycache__", ".*", "studies")
    for name in ("workflow", "config", "profiles", "envs"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    shutil.copy2(ROOT / "Snakefile", folder)
    (folder / "config" / "studies").mkdir()
    return folder


@pytest.fixture(scope="session")
def tree(once) -> Path:
    """The workflow with the study tiny.yaml and the learner failing.py that it uses; nothing has run."""

    def fill(folder):
        copied(folder)
        shutil.copy(HERE / "tiny.yaml", folder / "config" / "studies")
        shutil.copy(HERE / "failing.py", folder / "workflow" / "hierlearn" / "learners")

    return once("tree", fill)


# Python runs a file of this name first of all; it must be ready before a script changes what happens at the end.
NOTE_MODULES = """
import atexit, json, os, sys
def note():
    job = getattr(sys.modules["__main__"], "snakemake", None)
    if job is not None:
        read = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
        name = "-".join([job.rule, *(str(word) for word in job.wildcards)])
        with open(os.path.join(os.environ["NOTES"], name + ".json"), "w") as file:
            json.dump([str(job.params.code), sorted(one for one in read if one and "hierlearn" in one)], file)
atexit.register(note)
"""


@pytest.fixture(scope="session")
def finished(tree, once) -> Path:
    """A copy of the tree with the results of its study, computed on one core; nobody changes it. Beside them, in notes,
    a line of each job that ran: its code hash, and the modules that it had read, for which each ran by itself."""

    def fill(folder):
        shutil.copytree(tree, folder, dirs_exist_ok=True)
        notes = folder / "notes"
        notes.mkdir()
        (notes / "sitecustomize.py").write_text(NOTE_MODULES)
        done = snakemake(folder, "--executor", "local", "--cores", "1", PYTHONPATH=str(notes), NOTES=str(notes))
        assert done.code == 0, done.end

    return once("finished", fill)


@pytest.fixture(scope="session")
def results(finished) -> Path:
    return finished / "results" / "quick"


@pytest.fixture(scope="module")
def changed(finished, tmp_path_factory) -> Path:
    """A copy of the finished tree, for a test to change and to restore."""
    return shutil.copytree(finished, tmp_path_factory.mktemp("changed") / "tree")
