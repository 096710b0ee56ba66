"""What was found of sound studies is found again, as long as nothing that it rests on has changed."""

import errno
import os
import sys

import pytest
from small_study import STUDY

from hierlearn.core import registry
from hierlearn.plan import cache, checking, history
from hierlearn.plan.configuration import Plan, configure

VERDICTS = ",".join(history.COLUMNS) + "\n"
SECOND = STUDY.replace("C1-", "C2-")


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A folder with two studies, of which a run has kept what it found."""
    (tmp_path / "config" / "studies").mkdir(parents=True)
    (tmp_path / "config" / "published").mkdir()
    (tmp_path / "config" / "studies" / "small.yaml").write_text(STUDY)
    (tmp_path / "config" / "studies" / "second.yaml").write_text(SECOND)
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "train.py").write_text("a = 1")
    monkeypatch.setattr(cache, "SCRIPTS", tmp_path / "scripts")
    monkeypatch.chdir(tmp_path)
    plan(tmp_path).keep()
    return tmp_path


def plan(tree, records=".snakemake", **settings) -> Plan:
    folder = tree / "config" / "studies"
    return configure(settings, tree / "config" / "config.yaml", folder, records and tree / records)


@pytest.fixture
def checked(monkeypatch):
    """The studies that are checked from now on."""
    found, check = [], checking.study
    monkeypatch.setattr(checking, "study", lambda file, *rest: found.append(file.stem) or check(file, *rest))
    return found


def facts(plan):
    """All that rules ask of a plan."""
    jobs = [(rule, name, *words) for name, study in plan.studies.items() for rule, *words in study.jobs]
    jobs += [(rule, name) for name in plan.studies for rule in ("aggregate", "figure", "judge")]
    asked = {job: (plan.inputs.job(*job), plan.requests.needs(*job)) for job in jobs}
    return plan.studies, plan.warnings, asked, plan.targets.files_of(plan.studies)


def test_what_is_kept_is_what_would_be_found(tree, checked):
    again = facts(plan(tree))
    assert checked == []
    assert again == facts(plan(tree, records=None))
    assert sorted(checked) == ["second", "small"]


def test_a_study_that_changes_is_checked_again_alone_and_its_faults_are_said(tree, checked):
    file = tree / "config" / "studies" / "small.yaml"
    file.write_text(STUDY.replace("seeds: 2", "seeds: 3", 1))
    assert plan(tree).studies["small"].seed_count == 3
    assert checked == ["small"]
    file.write_text(STUDY.replace("seeds: 2", "seeds: x", 1))
    with pytest.raises(SystemExit, match=r"small\.yaml: seeds"):
        plan(tree)


def of_all(tree, monkeypatch):
    """Changes of what all entries rest on."""

    def installed():
        (tree / "site" / "numpy-9.9.dist-info").mkdir(parents=True)
        monkeypatch.setattr(sys, "path", [*sys.path, str(tree / "site")])

    header = "claim,study,preset,revision,digest,draw\n"
    return {
        "code": lambda: (tree / "scripts" / "train.py").write_text("a = 2"),
        "more code": lambda: (tree / "scripts" / "other.py").write_text("a = 1"),
        "verdicts": lambda: (tree / "config" / "verdicts.csv").write_text(VERDICTS),
        "registered designs": lambda: (tree / "config" / "registered.csv").write_text(header),
        "published numbers": lambda: (tree / "config" / "published" / "notes.txt").write_text("1"),
        "a library": installed,
        "python": lambda: monkeypatch.setattr(sys, "version", "another"),
    }


@pytest.mark.parametrize("what", list(of_all(None, None)))
def test_whatever_all_studies_rest_on_has_all_of_them_checked_again(tree, checked, monkeypatch, what):
    of_all(tree, monkeypatch)[what]()
    plan(tree)
    assert sorted(checked) == ["second", "small"]


@pytest.mark.parametrize("settings", [{"preset": "smoke"}, {"pilot": True}, {"replicate": 1}, {"memory_limit_mb": 500}])
def test_other_settings_have_entries_of_their_own(tree, checked, settings):
    plan(tree, **settings).keep()
    assert sorted(checked) == ["second", "small"]
    plan(tree, **settings)
    assert len(checked) == 2


@pytest.mark.parametrize("damage", [lambda content: content[:-1], lambda content: b"", lambda content: b"0" + content])
def test_a_damaged_file_is_as_none(tree, checked, damage):
    (file,) = (tree / ".snakemake").glob("plan-*")
    file.write_bytes(damage(file.read_bytes()))
    plan(tree).keep()
    assert len(checked) == 2
    plan(tree)
    assert len(checked) == 2


def test_a_study_that_a_run_leaves_out_has_no_jobs_in_it(tree, checked):
    chosen = plan(tree, studies=["small"])
    assert chosen.inputs.identity(chosen.targets.file("small", "claims.json")) is not None
    assert chosen.inputs.identity(chosen.targets.file("second", "claims.json")) is None
    assert checked == []


def test_a_table_of_any_size_counts_whole(tree, checked):
    file = tree / "config" / "verdicts.csv"
    lines = [f"X{i},another,quick,1,first,{'0' * 64},supported,1,," for i in range(20_000)]
    file.write_text("\n".join([VERDICTS.strip(), *lines, ""]))
    assert file.stat().st_size > 1.5 * cache.BYTES
    plan(tree).keep()
    plan(tree)
    assert len(checked) == 2
    file.write_text(file.read_text().replace("X19999,", "X19998,"))
    plan(tree)
    assert len(checked) == 4


@pytest.mark.skipif(os.name != "posix", reason="files have no owners here")
def test_what_others_may_have_written_is_not_read(tree, checked, monkeypatch):
    (file,) = (tree / ".snakemake").glob("plan-*")
    assert file.stat().st_mode & 0o777 == 0o600
    for mode in (0o620, 0o602):
        file.chmod(mode)
        plan(tree)
    assert len(checked) == 4
    file.chmod(0o644)
    plan(tree)
    assert len(checked) == 4
    monkeypatch.setattr(os, "getuid", lambda: file.stat().st_uid + 1)
    plan(tree)
    assert len(checked) == 6


def test_a_folder_that_cannot_be_written_ends_no_run(tree, checked):
    (tree / "taken").write_text("a file in the place of the folder")
    plan(tree, records="taken").keep()
    assert len(checked) == 2 and (tree / "taken").is_file()


def test_a_disk_that_is_full_ends_no_run_and_leaves_what_was_kept(tree, checked, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    (tree / "scripts" / "train.py").write_text("a = 2")
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        plan(tree).keep()
    (tree / "scripts" / "train.py").write_text("a = 1")
    checked.clear()
    plan(tree)
    assert checked == []


def test_a_study_that_rests_on_files_of_the_users_own_is_checked_every_time(tree, checked, monkeypatch):
    monkeypatch.setattr(registry.implementation("inputs", "sphere"), "READS_OUTSIDE", True)
    (tree / "scripts" / "train.py").write_text("a = 2")
    plan(tree).keep()
    plan(tree)
    assert len(checked) == 4


def test_pictures_from_an_archive_are_such():
    assert [name for name in registry.available("inputs") if registry.implementation("inputs", name).READS_OUTSIDE] == [
        "cifar"
    ]
