"""What a run finds in its folder is put in order: what is not what its job put there goes, and nothing else."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest

from hierlearn.core import provenance
from hierlearn.pipeline.files import checksums
from hierlearn.pipeline.run import command_line, recovery

MADE = provenance.identity("code", {})
FILES = ("a.nc", "b.nc", "below/c.nc")


class Notes:
    """Records of Snakemake's that know some files."""

    def __init__(self, *noted):
        self.noted, self.distrusted = set(noted), []

    def notes(self, file):
        return file.name in self.noted

    def distrust(self, file):
        self.distrusted.append(file)


def planned(identity):
    """A plan that has three files, all of one job."""
    files = frozenset(f"results/{name}" for name in FILES)
    return SimpleNamespace(targets=SimpleNamespace(all_files=files), identity=lambda file: identity)


PLAN = planned(MADE)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Results of three files in a folder of a run."""
    monkeypatch.chdir(tmp_path)
    results = recovery.Path("results")
    for name in FILES:
        checksums.write(results / name, name.encode(), MADE)
    recovery.FOLDER.mkdir()
    return results


def test_whole_files_are_left_alone_and_read_once(folder, monkeypatch):
    assert recovery.verify(folder, PLAN, Notes(*FILES)) == {}
    monkeypatch.setattr(checksums, "fault", lambda *_: pytest.fail("read again"))
    records = Notes()
    assert recovery.verify(folder, PLAN, records) == {}
    assert records.distrusted == []


DAMAGES = {
    "another byte": lambda file: file.write_bytes(b"a.nd"),
    "emptied": lambda file: file.write_bytes(b""),
    "no checksum": lambda file: checksums.beside(file).unlink(),
    "a damaged checksum": lambda file: checksums.beside(file).write_text("{"),
    "a folder as checksum": lambda file: (
        checksums.beside(file).unlink(),
        (checksums.beside(file) / "x").mkdir(parents=True),
    ),
    "a checksum that leads nowhere": lambda file: (
        checksums.beside(file).unlink(),
        checksums.beside(file).symlink_to("nowhere"),
    ),
    "a pipe": lambda file: (file.unlink(), os.mkfifo(file)),
    "a link to nothing": lambda file: (file.unlink(), file.symlink_to("nowhere")),
    "a link to a folder": lambda file: (file.unlink(), file.symlink_to("below")),
    "both damaged": lambda file: (file.write_bytes(b"other"), checksums.beside(file).write_bytes(b"\xff")),
    "another file of the job": lambda file: [
        shutil.copy(one("results/b.nc"), one(file))
        for one in (recovery.Path, lambda f: checksums.beside(recovery.Path(f)))
    ],
}


@pytest.mark.parametrize("noted", [True, False], ids=["with a record", "without"])
@pytest.mark.parametrize("verified", [True, False], ids=["verified before", "new"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_damaged_goes_with_its_checksum_and_nothing_else_does(folder, damage, verified, noted):
    records = Notes(*(FILES if noted else ()))
    if verified:
        recovery.verify(folder, PLAN, records)
    DAMAGES[damage](folder / "a.nc")
    assert list(recovery.verify(folder, PLAN, records)) == [folder / "a.nc"]
    whole = {folder / name for name in FILES[1:]}
    assert {file for file in folder.rglob("*") if file.is_file()} == whole | set(map(checksums.beside, whole))
    assert recovery.verify(folder, PLAN, records) == {}


def test_a_folder_in_place_of_a_file_goes(folder):
    (folder / "a.nc").unlink()
    (folder / "a.nc" / "inside").mkdir(parents=True)
    assert list(recovery.verify(folder, PLAN, Notes())) == [folder / "a.nc"]
    assert not (folder / "a.nc").exists()


def test_a_reader_s_own_files_are_nobody_s_business(folder):
    (folder / "notes.txt").write_text("mine")
    (folder / "below" / "copy of c.nc").write_bytes(b"")
    (folder / "below" / "mine").mkdir()
    assert recovery.verify(folder, PLAN, Notes()) == {}
    assert (folder / "notes.txt").read_text() == "mine"
    assert (folder / "below" / "copy of c.nc").exists()


def test_a_file_of_an_earlier_plan_stays_and_is_left_to_its_record_if_there_is_one(folder):
    """Snakemake compares the parameters that its record has; what was computed is not thrown away before."""
    later, records = planned(provenance.identity("changed", {})), Notes(*FILES[1:], "c.nc")
    (fault,) = recovery.verify(folder, later, records).values()
    assert fault == "code_hash: found code; expected changed"
    assert records.distrusted == [folder / "a.nc"]
    assert (folder / "a.nc").read_bytes() == b"a.nc"


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"\xff", b'{"results/a.nc": 3}'])
def test_a_damaged_list_of_what_was_whole_costs_time_alone(folder, content):
    recovery.verify(folder, PLAN, Notes())
    recovery.WHOLE.write_bytes(content)
    (folder / "a.nc").write_bytes(b"b")
    assert list(recovery.verify(folder, PLAN, Notes())) == [folder / "a.nc"]


def test_half_written_files_go_and_the_rest_stays(folder):
    for name in (".a.nc.part", ".gone.nc.checksum", "below/.c.nc.seal"):
        (folder / name).touch()
    before = {checksums.beside(folder / name) for name in FILES} | {folder / name for name in FILES}
    (folder / ".d.nc.checksum").mkdir()
    (folder / ".e.nc.part").mkdir()
    recovery.clear(folder)
    assert not [path for path in folder.rglob(".[de]*")]
    assert {file for file in folder.rglob("*") if file.is_file()} == before


def test_what_is_made_again_is_said_and_many_files_are_counted(capsys):
    recovery.tell({})
    assert capsys.readouterr().err == ""
    faults = {recovery.Path(f"{number}.nc"): "why" for number in range(25)}
    recovery.tell(faults)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "0.nc is made again: why"
    assert lines[-1].startswith("15 more files")
    assert len(lines) == recovery.NAMED + 1


@pytest.mark.parametrize(
    ("line", "dry"),
    [
        ("--dry-run", True),
        ("--dryrun", True),
        ("-n", True),
        ("-np", True),
        ("-Fnq", True),
        ("-nj1", True),
        ("-npc2", True),
        ("--executor dryrun", True),
        ("--executor local", False),
        ("-Rtrain", False),
        ("--notemp", False),
        ("results/n", False),
        ("", False),
    ],
)
def test_a_dry_run_is_known_by_its_flags(line, dry):
    assert command_line.is_dry(("--cores", "1", *line.split())) is dry


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (["--config", "a=1", "b=2"], ""),
        (["--config", "a=1", "a=2"], "a"),
        (["--config", "a=1", "--config", "b=2"], "--config"),
        (["-C", "a=1", "--config=b=2"], "--config"),
        (["--config", "question={teacher: {name: parity, order: 1, order: 2}}"], "order"),
        (["--config", "question={teacher: {name: parity}, learners: [{name: ntk, name: linear}]}"], "name"),
        (["--config", "results={", "own=*x", "studies=" + "[" * 5000], ""),
        (["a", "-n"], ""),
        ([], ""),
    ],
)
def test_a_setting_that_is_given_twice_is_found_on_the_command_line(line, found):
    assert command_line.twice(("--cores", "1", *line)) == found


def test_one_run_holds_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    held = recovery.lock()
    with pytest.raises(SystemExit, match="another run works in this folder"):
        recovery.lock()
    fcntl.flock(held, fcntl.LOCK_UN)
    recovery.lock().close()
    held.close()


def test_jobs_of_this_folder_alone_are_ended(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    jobs = {}
    for name in (str(tmp_path), str(tmp_path / "other")):
        words = [sys.executable, "-c", "print(flush=True); import time; time.sleep(60)"]
        jobs[name] = subprocess.Popen(words, env=os.environ | {"HIERLEARN_RUN": name}, stdout=-1)
        jobs[name].stdout.readline()
    try:
        recovery.end_orphans()
        assert jobs[str(tmp_path)].poll() is not None
        assert jobs[str(tmp_path / "other")].poll() is None
    finally:
        for job in jobs.values():
            job.kill()
            job.wait()
            job.stdout.close()


def test_states_are_kept_as_json(folder):
    recovery.verify(folder, PLAN, Notes())
    assert set(json.loads(recovery.WHOLE.read_text())) == {f"results/{name}" for name in FILES}
