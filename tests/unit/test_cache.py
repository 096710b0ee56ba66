"""What was found of sound studies is found again, as long as nothing that it rests on has changed."""

import errno
import os
import sys

import pytest
from small_study import STUDY
from test_own_folders import KERNEL, PAPERS
from test_own_folders import STUDY as WITH_A_CUSP

from hierlearn.core import registry
from hierlearn.core.protocols import Component
from hierlearn.core.registry import PACKAGE
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
    monkeypatch.setattr(registry.implementation("inputs", "sphere"), "absences", lambda self: iter(()))
    (tree / "scripts" / "train.py").write_text("a = 2")
    plan(tree).keep()
    plan(tree)
    assert len(checked) == 4


def test_pictures_from_an_archive_are_such():
    inputs = {name: registry.implementation("inputs", name) for name in registry.available("inputs")}
    assert [name for name, made in inputs.items() if made.absences is not Component.absences] == ["cifar"]


def test_studies_that_a_run_leaves_out_are_not_checked_again_until_it_does_not(tree, checked):
    (tree / "config" / "studies" / "small.yaml").write_text(STUDY.replace("seeds: 2", "seeds: 3", 1))
    (tree / "config" / "studies" / "third.yaml").write_text(STUDY.replace("C1-", "C3-"))
    plan(tree, studies=["second"]).keep()
    assert sorted(checked) == ["small", "third"]
    plan(tree, studies=["second"])
    assert sorted(checked) == ["small", "third"]
    assert plan(tree, studies=["small"]).studies["small"].seed_count == 3
    assert sorted(checked) == ["small", "small", "third"]


def test_claims_of_studies_that_a_run_leaves_out_keep_their_names(tree):
    (tree / "config" / "studies" / "third.yaml").write_text(STUDY.replace("C1-", "C3-"))
    plan(tree, studies=["second"]).keep()
    (tree / "config" / "studies" / "second.yaml").write_text(STUDY.replace("C1-", "C3-"))
    with pytest.raises(SystemExit, match=r"third\.yaml: claims\.C3-\S+: found a claim that \S+second\.yaml has too"):
        plan(tree, studies=["second"])


@pytest.fixture
def own(tree, checked):
    """A folder of a user's own with a kernel and a study of it, beside the tree; all was kept."""
    mine = tree / "mine"
    files = {"kernels/cusp.py": KERNEL, "studies/cusps.yaml": WITH_A_CUSP, "papers.yaml": PAPERS}
    for name, text in files.items():
        (mine / name).parent.mkdir(parents=True, exist_ok=True)
        (mine / name).write_text(text)
    plan(tree, own="mine").keep()
    checked.clear()
    plan(tree, own="mine")
    assert checked == []
    yield mine
    registry.use(())


OTHER = KERNEL.replace("Cusp", "Bend")


def add(own, file, text):
    """Write a file of a user's own, as found by a process that begins."""
    registry.use(())
    (own / file).parent.mkdir(exist_ok=True)
    (own / file).write_text(text)


@pytest.mark.parametrize(
    ("file", "text", "again"),
    [
        ("kernels/cusp.py", KERNEL + "# Another.\n", ["cusps"]),
        ("kernels/bend.py", OTHER, ["cusps"]),
        ("kernels/ntk_again.py", KERNEL.replace("Cusp", "NtkAgain"), ["cusps"]),
        ("kernels/_parts.py", "", ["cusps", "second", "small"]),
        ("inputs/UNIT_LAWS.py", "", ["cusps", "second", "small"]),
        ("published/notes.txt", "", ["cusps", "second", "small"]),
    ],
)
def test_a_component_of_a_users_own_has_those_checked_again_that_name_one(tree, own, checked, file, text, again):
    add(own, file, text)
    plan(tree, own="mine")
    assert sorted(checked) == again


def test_a_probe_of_a_users_own_has_all_studies_checked_again_since_any_may_ask_all_probes(tree, own, checked):
    add(
        own,
        "probes/norm_again.py",
        (PACKAGE / "probes" / "operator_norm.py").read_text().replace("OperatorNorm", "NormAgain"),
    )
    plan(tree, own="mine")
    assert sorted(checked) == ["cusps", "second", "small"]


def test_what_is_kept_beside_a_new_component_is_what_would_be_found(tree, own, checked):
    add(own, "kernels/bend.py", OTHER)
    again = facts(plan(tree, own="mine"))
    assert checked == ["cusps"]
    assert again == facts(plan(tree, records=None, own="mine"))


@pytest.mark.parametrize(
    "written", ["bend", '"be\\x6ed"', '"be\\\n    nd"'], ids=["as it is", "escaped", "in two lines"]
)
def test_a_study_names_a_component_at_whatever_preset_and_in_whatever_letters(tree, own, checked, written):
    add(own, "kernels/bend.py", OTHER)
    overlay = f"smoke: {{seeds: 1, learners: {{kernel: {{learner: {{kernel: {{name: {written}}}}}}}}}}}"
    study = STUDY.replace("{name: ntk, depth: 3}", "{name: ntk}").replace("smoke: {seeds: 1}", overlay)
    (tree / "config" / "studies" / "small.yaml").write_text(study)
    plan(tree, own="mine").keep()
    checked.clear()
    add(own, "kernels/bend.py", OTHER + "# Another.\n")
    plan(tree, own="mine")
    assert sorted(checked) == ["cusps", "small"]
