"""A sample of what the other tests break, through Snakemake itself: exit code 1, the same lines, nothing written."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from mutants import mutants, sample

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "config" / "studies").glob("*.yaml"))


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """The workflow with its published numbers and no study."""
    folder = tmp_path_factory.mktemp("snakemake") / "tree"
    ignored = shutil.ignore_patterns("__pycache__", "studies")
    for name in ("workflow", "config", "profiles", "envs"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    shutil.copy2(ROOT / "Snakefile", folder)
    (folder / "config" / "studies").mkdir()
    return folder


def refusal(tree: Path, here: Path, *words: str) -> list[str]:
    """The lines that a run in an empty folder ends with; it leaves the folder as empty."""
    here.mkdir()
    command = [str(Path(sys.executable).with_name("snakemake")), "--snakefile", str(tree / "Snakefile")]
    command += ["--workflow-profile", str(tree / "profiles" / "default"), "--directory", str(here), *words]
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPATH": ""}
    done = subprocess.run(command, cwd=tree, env=environment, text=True, capture_output=True, check=False)
    assert done.returncode == 1, done.stderr
    written = [path for path in here.rglob("*") if ".snakemake" not in path.relative_to(here).parts]
    assert written == []
    assert "Traceback" not in done.stdout + done.stderr
    return [line for line in done.stderr.splitlines() if not line.startswith("Using workflow specific profile")]


def test_a_fault_of_every_kind_at_once(tree, tmp_path, record_property):
    """As many broken studies as there are kinds of faults, in one run."""
    broken = {}
    # Of a third of the studies, as all of them have 300 000.
    for mutant in sample([mutant for file in FILES[::3] for mutant in mutants(file)], 400, seed=1):
        fresh = mutant.kind not in {one.kind for one in broken.values()} and mutant.file not in broken
        if fresh and mutant.preset == "quick":
            broken[mutant.file] = mutant
    for file, mutant in broken.items():
        (tree / "config" / "studies" / file.name).write_text(mutant.text)
    try:
        lines = refusal(tree, tmp_path / "here")
    finally:
        for file in broken:
            (tree / "config" / "studies" / file.name).unlink()
    assert len({mutant.kind for mutant in broken.values()}) > 8
    assert all(re.fullmatch(r"error: config/studies/\S+: .*found .+; expected .+", line) for line in lines)
    for file, mutant in broken.items():
        assert any(line.startswith(f"error: config/studies/{file.name}: ") for line in lines), str(mutant)
    record_property("through Snakemake", f"{len(broken)} studies refused at once")


@pytest.mark.parametrize(
    "words",
    [
        ("preset=huge", "studeis=[x]", "results=../x", "memory_limit_mb=0"),
        ("preset={a: [b]}", "studies=", "keep_models=[]", "results=/x"),
        ("studies=[zz]", "memory_limit_mb=nan", "partial=perhaps", "results=a b"),
    ],
)
def test_settings(tree, tmp_path, words):
    lines = refusal(tree, tmp_path / "here", "--config", *words)
    assert all(
        re.fullmatch(r"error: config/config\.yaml with --config: .+: found .+; expected .+", line) for line in lines
    )
    assert [any(word.split("=")[0] in line for line in lines) for word in words] == [True] * len(words)


def test_files_that_are_no_studies(tree, tmp_path):
    studies = tree / "config" / "studies"
    (studies / "a.yaml").write_bytes(b"\x89HDF\r\n\x1a\n")
    (studies / "b.yaml").write_bytes(b"")
    (studies / "c.yaml").mkdir()
    shutil.copy(ROOT / "config" / "config.yaml", studies / "d.yaml")
    shutil.copy(ROOT / "config" / "published" / "allenzhu2019.yaml", studies / "e.yaml")
    try:
        lines = refusal(tree, tmp_path / "here")
    finally:
        shutil.rmtree(studies)
        studies.mkdir()
    assert {line.split(": ")[1] for line in lines} == {f"config/studies/{name}.yaml" for name in "abcde"}
