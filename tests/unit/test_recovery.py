"""What a run finds in its folder is put in order: what is not what its job put there is marked, and nothing else."""

import base64
import fcntl
import json
import os
import shutil
import subprocess
import sys

import pytest
from snakemake.persistence.file import FilePersistence

from hierlearn.core import provenance
from hierlearn.files import checksums
from hierlearn.plan import recovery

MADE = provenance.identity("code", {})
FILES = ("a.nc", "b.nc", "below/c.nc")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Results of three files in a folder of a run, each with a record of Snakemake's."""
    monkeypatch.chdir(tmp_path)
    results = recovery.Path("results")
    for name in FILES:
        checksums.write(results / name, name.encode(), MADE)
        keep_record(results / name)
    return results


def keep_record(file):
    record = recovery.record("metadata", file)
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text("{}")


def planned(file):
    """The plan knows three files, all of one job."""
    return MADE if str(file) in [f"results/{name}" for name in FILES] else None


def marked():
    folder = recovery.Path(".snakemake/incomplete")
    return {base64.urlsafe_b64decode(file.name).decode() for file in folder.glob("*")}


def test_whole_files_are_left_alone_and_read_once(folder, monkeypatch):
    assert recovery.verify(folder, planned) == {}
    monkeypatch.setattr(checksums, "fault", lambda *_: pytest.fail("read again"))
    assert recovery.verify(folder, planned) == {}
    assert marked() == set()


DAMAGES = {
    "another byte": lambda file: file.write_bytes(b"a.nd"),
    "emptied": lambda file: file.write_bytes(b""),
    "no checksum": lambda file: checksums.beside(file).unlink(),
    "a damaged checksum": lambda file: checksums.beside(file).write_text("{"),
    "both damaged": lambda file: (file.write_bytes(b"other"), checksums.beside(file).write_bytes(b"\xff")),
    "another file of the job": lambda file: [
        shutil.copy(one("results/b.nc"), one(file))
        for one in (recovery.Path, lambda f: checksums.beside(recovery.Path(f)))
    ],
}


@pytest.mark.parametrize("verified", [True, False], ids=["verified before", "new"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_damaged_is_marked_as_incomplete_and_stays_marked(folder, damage, verified):
    if verified:
        recovery.verify(folder, planned)
    DAMAGES[damage](folder / "a.nc")
    for _ in range(2):
        assert list(recovery.verify(folder, planned)) == [folder / "a.nc"]
        assert marked() == {"results/a.nc"}
    assert (folder / "a.nc").exists()


def test_snakemake_itself_finds_the_mark(folder, tmp_path):
    (folder / "below" / "c.nc").write_bytes(b"")
    recovery.verify(folder, planned)
    snakemake = FilePersistence(nolock=True, path=tmp_path / ".snakemake")
    names = [f"results/{name}" for name in FILES]
    assert snakemake._filter_incomplete_keys(names) == {"results/below/c.nc"}


def test_records_of_long_names_are_where_snakemake_keeps_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    snakemake = FilePersistence(nolock=True, path=tmp_path / ".snakemake")
    for length in (10, 170, 200, 600):
        name = "/".join(["results", "x" * length])
        place = snakemake._record_path(snakemake._metadata_path, name)
        assert os.path.relpath(place) == str(recovery.record("metadata", recovery.Path(name)))


def test_a_folder_in_place_of_a_file_goes(folder):
    (folder / "a.nc").unlink()
    (folder / "a.nc" / "inside").mkdir(parents=True)
    assert list(recovery.verify(folder, planned)) == [folder / "a.nc"]
    assert not (folder / "a.nc").exists()


def test_a_reader_s_own_files_are_nobody_s_business(folder):
    (folder / "notes.txt").write_text("mine")
    (folder / "below" / "copy of c.nc").write_bytes(b"")
    assert recovery.verify(folder, planned) == {}
    assert (folder / "notes.txt").read_text() == "mine"


def test_a_file_of_an_earlier_plan_is_left_to_its_record_and_marked_without_one(folder):
    """Snakemake compares the parameters that its record has; what was computed is not thrown away before."""
    later = provenance.identity("changed", {})
    assert recovery.verify(folder, lambda file: planned(file) and later) == {}
    recovery.record("metadata", folder / "a.nc").unlink()
    (fault,) = recovery.verify(folder, lambda file: planned(file) and later).values()
    assert fault == "code_hash: found code; expected changed"


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"\xff", b'{"results/a.nc": 3}'])
def test_a_damaged_list_of_what_was_whole_costs_time_alone(folder, content):
    recovery.verify(folder, planned)
    recovery.WHOLE.write_bytes(content)
    (folder / "a.nc").write_bytes(b"b")
    assert list(recovery.verify(folder, planned)) == [folder / "a.nc"]


def test_half_written_files_go_and_the_rest_stays(folder):
    for name in (".a.nc.part", ".gone.nc.checksum", "below/.c.nc.seal"):
        (folder / name).touch()
    damaged = recovery.record("metadata", folder / "b.nc")
    damaged.write_text('{"rule": "tra')
    before = {checksums.beside(folder / name) for name in FILES} | {folder / name for name in FILES}
    recovery.clear(folder)
    assert {file for file in folder.rglob("*") if file.is_file()} == before
    assert not damaged.exists()
    # A whole file is whole without its record too.
    assert recovery.verify(folder, planned) == {}


def test_a_dry_run_names_a_damaged_record(folder):
    damaged = recovery.record("metadata", folder / "b.nc")
    damaged.write_text('{"rule": "tra')
    with pytest.raises(SystemExit, match=r"error: results/b\.nc has a damaged record"):
        recovery.refuse_damaged_records()
    assert damaged.exists()


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
    assert recovery.is_dry(["--cores", "1", *line.split()]) is dry


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
    recovery.verify(folder, planned)
    assert set(json.loads(recovery.WHOLE.read_text())) == {f"results/{name}" for name in FILES}
