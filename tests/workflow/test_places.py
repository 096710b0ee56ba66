"""Wherever a run cannot write, a command ends in work done or in one line; nothing half-written stays behind."""

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import Finished, snakemake, tool

FIGURE = Path("results/quick/tiny/figure.svg")
COMMANDS = ["plan", "tally", "register", "record", "publish"]
REFUSED = "expected a place with room that this user may write to"


@contextmanager
def mounted(*words):
    """A mount, until the end."""
    done = subprocess.run(["mount", *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        # Root may, as in .ci/run.
        pytest.skip(f"no place that cannot be written to: {done.stderr.strip()}")
    try:
        yield Path(words[-1])
    finally:
        subprocess.run(["umount", "--lazy", str(words[-1])], check=True)


@contextmanager
def read_only(folder):
    """A folder that nobody can write to."""
    folder.mkdir(exist_ok=True)
    with mounted("--bind", folder, folder):
        subprocess.run(["mount", "-o", "remount,ro,bind", folder], check=True)
        yield folder


@contextmanager
def full(folder, content=None):
    """A folder on a disk of its own, with what another folder holds, and no room."""
    folder.mkdir(exist_ok=True)
    with mounted("-t", "tmpfs", "-o", "size=64k" if content is None else "size=64m", "tmpfs", folder):
        if content is not None:
            shutil.copytree(content, folder, dirs_exist_ok=True, symlinks=True)
        with open(folder / "filler", "wb", buffering=0) as filler:
            try:
                while filler.write(bytes(4096)):
                    pass
            except OSError:
                yield folder


WAYS = pytest.mark.parametrize("way", [read_only, full], ids=["read-only", "full"])


def files(folder):
    """What lies in a folder, but what Snakemake and Python keep there."""
    kept = (".snakemake", "__pycache__", "filler")
    paths = [path for path in folder.rglob("*") if not set(kept) & set(path.relative_to(folder).parts)]
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in paths}


def said(done):
    """What a command ended with: nothing, or one line of what went wrong."""
    assert "Traceback" not in done.text, done.text
    if done.code == 0:
        return None
    assert len(done.errors) <= 1, done.text
    return "".join(done.errors)


def hierlearn(tree, *words, **variables):
    """Run a command of a tree in the tree."""
    environment = os.environ | {"PYTHONPATH": str(tree / "workflow")} | variables
    run = [sys.executable, "-m", "hierlearn.pipeline.command", *words]
    done = subprocess.run(run, cwd=tree, env=environment, text=True, stdout=-1, stderr=-2, check=False)
    return Finished(done.returncode, done.stdout)


def without_figure(tree):
    for file in (tree / FIGURE, tree / FIGURE.with_name(".figure.svg.checksum")):
        file.unlink(missing_ok=True)


@pytest.mark.slow
@WAYS
def test_no_home_folder_is_needed(changed, tmp_path, way):
    whole = (changed / FIGURE).read_bytes()
    with way(tmp_path / "home") as home:
        done = snakemake(changed, "--dry-run", HOME=str(home))
        assert done.code == 0, done.end
        assert "Nothing to be done" in done.text
        without_figure(changed)
        done = snakemake(changed, HOME=str(home))
    assert done.code == 0, done.end
    assert (changed / FIGURE).read_bytes() == whole
    # Nothing is said of the home folder, and the fonts are looked for once in the whole project.
    assert "home" not in done.text
    assert "home" not in (changed / "results/quick/logs/tiny/figure.log").read_text()
    assert (changed / ".snakemake" / "matplotlib").is_dir()


@pytest.mark.slow
@WAYS
def test_another_folder_is_found_for_temporary_files(changed, tmp_path, way):
    whole = (changed / FIGURE).read_bytes()
    without_figure(changed)
    with way(tmp_path / "temporary") as folder:
        done = snakemake(changed, TMPDIR=str(folder))
    assert done.code == 0, done.end
    assert (changed / FIGURE).read_bytes() == whole


@pytest.mark.slow
def test_a_folder_of_temporary_files_with_too_little_room_is_one_line(changed, tmp_path):
    (tmp_path / "temporary").mkdir()
    with mounted("-t", "tmpfs", "-o", "size=64k", "tmpfs", tmp_path / "temporary") as folder:
        for word in ("--dry-run", "--cores=1"):
            done = snakemake(changed, word, TMPDIR=str(folder))
            assert said(done) == f"error: {folder}: found no space left on device; {REFUSED}"


@pytest.mark.slow
def test_every_command_of_a_read_only_checkout_ends_in_work_or_in_one_line(changed):
    before = files(changed)
    with read_only(changed):
        errors = {word: said(snakemake(changed, word)) for word in ("--dry-run", "--cores=1")}
        errors |= {word: said(hierlearn(changed, word)) for word in COMMANDS}
    assert files(changed) == before
    for word in ("--dry-run", "--cores=1"):
        assert errors[word] == f"error: .snakemake: found read-only file system; {REFUSED}"
    assert errors["plan"] is None
    assert errors["register"] == f"error: config/registered.csv: found read-only file system; {REFUSED}"


@pytest.mark.slow
def test_every_command_of_a_full_disk_ends_in_work_or_in_one_line(changed, tmp_path):
    with full(tmp_path / "disk", changed) as disk:
        before = files(disk)
        # Python would leave half of what it compiles.
        whole = {"PYTHONDONTWRITEBYTECODE": "1"}
        errors = {word: said(snakemake(disk, word, **whole)) for word in ("--dry-run", "--cores=1")}
        errors |= {word: said(hierlearn(disk, word, **whole)) for word in COMMANDS}
        assert files(disk) == before
    assert errors["--dry-run"] == f"error: .snakemake: found no space left on device; {REFUSED}"
    assert errors["register"].startswith("error: config/registered.csv: found no space left on device")


@pytest.mark.slow
@WAYS
def test_results_that_cannot_be_written_are_one_line_and_the_next_run_makes_them(changed, way):
    whole = files(changed / "results")
    results = changed / "results"
    without_figure(changed)
    before = files(results)
    content = None if way is read_only else shutil.copytree(results, changed / "copy")
    with way(results) if content is None else way(results, content):
        dry, error = (said(snakemake(changed, word)) for word in ("--dry-run", "--cores=1"))
        assert files(results) == before
    assert error.startswith("error: results/quick: found ")
    assert error.endswith(REFUSED)
    assert dry == (error if way is read_only else None)
    assert snakemake(changed).code == 0
    assert {name for name in whole if "figure" in name} <= files(results).keys()
    assert (changed / FIGURE).read_bytes() == whole[str(FIGURE.relative_to("results"))]


@pytest.mark.slow
@WAYS
@pytest.mark.parametrize("words", [("learner",), ("study", "--from=tiny")], ids=" ".join)
def test_a_new_file_that_cannot_be_written_is_one_line_and_leaves_nothing(changed, tmp_path, way, words):
    with way(tmp_path / "disk") as disk:
        before = sorted(disk.rglob("*"))
        kind, *source = words
        done = hierlearn(changed, "new", kind, "mine", f"--folder={disk}/own", *source)
        assert sorted(disk.rglob("*")) == before
    assert done.code == 1
    (line,) = done.text.splitlines()
    assert line.startswith(f"error: {disk}/own")
    assert line.endswith(REFUSED)


@pytest.mark.slow
def test_braces_in_the_path_of_the_project_are_one_line(tree, tmp_path):
    project = shutil.copytree(tree, tmp_path / "a {x} b")
    done = tool("snakemake", "--dry-run", folder=project)
    assert said(done) == f"error: {project}: found {{ and }} in the path; expected a folder without them"


@pytest.mark.slow
def test_other_letters_in_the_paths_of_project_and_run_are_as_good_as_any(tree, tmp_path):
    project = shutil.copytree(tree, tmp_path / "a 'b\" [c] $d %e #f ü*?;&")
    run = tmp_path / "run {x}"
    run.mkdir()
    name = "results/quick/tiny/all/data.nc"
    for folder, done in ((project, tool("snakemake", name, folder=project)), (run, snakemake(tree, name, folder=run))):
        assert done.code == 0, done.end
        assert (folder / name).is_file()


@pytest.mark.parametrize(
    ("key", "moved"), [('prefix: "pre"', "pre/res/quick/"), ('replace_prefix: {"res/": "r/"}', "r/quick/")]
)
def test_a_module_with_a_prefix_is_refused_before_any_job(tree, tmp_path, key, moved):
    (tmp_path / "Snakefile").write_text(
        f"""module hierarchical:
    snakefile: "{tree / "workflow" / "Snakefile"}"
    config: {{"results": "res"}}
    {key}

use rule * from hierarchical as hierarchical_*
"""
    )
    done = snakemake(tree, "--snakefile", str(tmp_path / "Snakefile"), "--dry-run", folder=tmp_path)
    assert said(done) == (
        f"error: module: found a prefix that makes res/quick/ {moved}; expected no prefix; `results` in the module's "
        "config names another folder"
    )
