"""What a user reads when something is wrong: one line that says what, before anything is written."""

import base64
import fcntl
import shutil

import pytest
import yaml
from conftest import HERE, copied, snakemake


@pytest.fixture
def fresh(tmp_path):
    """A tree with the tiny study that has never run."""
    folder = copied(tmp_path / "fresh")
    shutil.copy(HERE / "tiny.yaml", folder / "config" / "studies")
    shutil.copy(HERE / "failing.py", folder / "workflow" / "hierlearn" / "learners")
    return folder


def refused(done, tree, count):
    """The lines of a refusal; nothing else may have happened."""
    assert done.code == 1, done.end
    assert "Traceback" not in done.text
    assert not (tree / "results").exists()
    others = [line for line in done.text.splitlines() if line and not line.startswith(("error:", "Using workflow"))]
    assert others == []
    assert len(done.errors) == count, done.text
    return done.errors


def test_every_fault_of_form_of_every_study_is_named_at_once(fresh):
    file = fresh / "config" / "studies" / "tiny.yaml"
    content = yaml.safe_load(file.read_text())
    content["seedz"] = content.pop("seeds")
    content["learners"]["kernel"]["learner"]["kernel"]["name"] = "ntk_row"
    content["problem"]["teacher"]["degree"] = 1
    content["learners"]["linear"]["select"]["ridge"] = ["1e-3"]
    file.write_text(yaml.safe_dump(content))
    (fresh / "config" / "studies" / "other.yaml").write_text("title: [unclosed\n")
    (fresh / "config" / "published" / "bai2020.yaml").write_text("paper: bai2020\nsource: Someone\ntables: {}\n")
    errors = refused(snakemake(fresh), fresh, 4)
    text = "\n".join(errors)
    assert "tiny.yaml: seedz: found an unknown key; expected one of" in text
    assert "(nearest: seeds)" in text
    # What a name refers to is looked at once the form is right.
    assert "ntk_row" not in text
    assert "write 1.0e-3 for 1e-3" in text
    assert "other.yaml: line 2: found" in text
    assert "config/published/bai2020.yaml: tables: found {}; expected at least 1 entry" in text


@pytest.mark.parametrize(
    "wrong",
    [
        {
            "preset=huge": "preset: found 'huge'; expected one of full, paper, quick, smoke, standard",
            "studies=[tinny]": "studies[0]: found 'tinny'; expected one of tiny (nearest: tiny)",
            "prezet=quick": "prezet: found an unknown key",
        },
        {
            "studies=tinny": "studies: found 'tinny'; expected one of tiny (nearest: tiny)",
            "results=../elsewhere": "results: found '../elsewhere'",
        },
    ],
    ids=" ".join,
)
def test_wrong_words_on_the_command_line_are_named(tree, tmp_path, wrong):
    errors = refused(snakemake(tree, "--config", *wrong, folder=tmp_path), tmp_path, len(wrong))
    assert [message for message in wrong.values() if not any(message in error for error in errors)] == []


def test_a_misspelt_target_names_the_nearest_study(tree, tmp_path):
    (error,) = refused(snakemake(tree, "tinny", folder=tmp_path), tmp_path, 1)
    assert "target 'tinny': found no study of this name" in error
    assert "(nearest: tiny)" in error
    (error,) = refused(snakemake(tree, "results/quick/tinny/claims.json", folder=tmp_path), tmp_path, 1)
    assert error.endswith("(nearest: results/quick/tiny/claims.json)")
    assert snakemake(tree, "-n", "tiny", "--config", "studies=tiny", folder=tmp_path).code == 0


def test_a_workflow_that_has_this_one_as_a_module_has_targets_of_its_own(tree, tmp_path):
    (tmp_path / "Snakefile").write_text(
        f"""module hierarchical:
    snakefile: "{tree / "workflow" / "Snakefile"}"
    config: {{}}

use rule * from hierarchical as hierarchical_*

rule own:
    output: "own/file.txt"
    shell: "touch {{output}}"
"""
    )
    words = "--snakefile", str(tmp_path / "Snakefile"), "--dry-run"
    assert snakemake(tree, *words, "own", folder=tmp_path).code == 0
    assert snakemake(tree, *words, "own/file.txt", folder=tmp_path).code == 0


@pytest.mark.parametrize(
    "content",
    [
        *("- a list", "a: [", "preset: quick\npreset: full\n"),
        # What the rest says is read as a list is, and tests/fuzz/test_broken_settings.py has more of it.
        *(pytest.param(text, marks=pytest.mark.slow) for text in ("", "studies: 3", "preset: .nan")),
    ],
)
def test_an_unusable_configuration_file_is_one_line(tree, tmp_path, content):
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.yaml").write_text(content)
    (error,) = refused(snakemake(tree, folder=tmp_path), tmp_path, 1)
    assert error.startswith("error: config/config.yaml: ")


def test_a_second_run_in_one_folder_is_refused_in_one_line(tree, tmp_path):
    (tmp_path / ".snakemake").mkdir()
    with open(tmp_path / ".snakemake" / "run.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        (error,) = refused(snakemake(tree, folder=tmp_path), tmp_path, 1)
        assert "another run works in this folder" in error
        # A word with an n in it is no dry run.
        (error,) = refused(snakemake(tree, "-Rtrain", folder=tmp_path), tmp_path, 1)
        assert "another run works in this folder" in error
        assert snakemake(tree, "--dry-run", folder=tmp_path).code == 0
        assert snakemake(tree, "-np", folder=tmp_path).code == 0
    assert snakemake(tree, "results/quick/tiny/all/data.nc", folder=tmp_path).code == 0


def test_a_dry_run_names_a_damaged_record_in_one_line_and_a_run_mends_it(changed):
    name = "results/quick/tiny/all/data.nc"
    whole = (changed / name).read_bytes()
    record = next(file for file in (changed / ".snakemake/metadata").rglob("*") if record_of(file) == name)
    record.write_bytes(record.read_bytes()[:40])
    done = snakemake(changed, "--dry-run")
    assert done.code == 1
    assert "Traceback" not in done.text
    (error,) = done.errors
    assert f"{name} has a damaged record" in error
    assert snakemake(changed).code == 0
    assert (changed / name).read_bytes() == whole
    assert snakemake(changed, "--dry-run").code == 0


def record_of(file):
    """The output that one of Snakemake's records is about."""
    return base64.urlsafe_b64decode(file.name).decode() if file.is_file() else None
