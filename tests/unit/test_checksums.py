"""A seal tells a file that was damaged from one that was merely touched or copied."""

import os
import shutil

import pytest

from hierlearn.files import checksums, netcdf

CONTENT = b"what was put there"


@pytest.fixture
def file(tmp_path):
    netcdf.replace(tmp_path / "a" / "file", CONTENT)
    return tmp_path / "a" / "file"


def same_time(path, content):
    state = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


def folder_instead(path):
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(CONTENT + b"."),
        lambda path: same_time(path, CONTENT[::-1]),
        folder_instead,
    ],
    ids=["emptied", "longer", "same size and time", "a folder instead"],
)
def test_a_damaged_file_is_found(tmp_path, file, damage):
    assert list(checksums.broken(tmp_path)) == []
    damage(file)
    assert list(checksums.broken(tmp_path)) == [file]


def test_a_file_that_is_written_anew_is_whole(tmp_path, file):
    netcdf.replace(file, b"other content")
    assert list(checksums.broken(tmp_path)) == []


def test_a_touched_or_copied_file_is_whole_and_is_read_once(tmp_path, file, monkeypatch):
    os.utime(file)
    copy = shutil.copytree(tmp_path / "a", tmp_path / "b")
    assert list(checksums.broken(tmp_path)) == []
    monkeypatch.setattr(checksums, "digest", lambda content: pytest.fail("read again"))
    assert list(checksums.broken(tmp_path)) == []
    monkeypatch.undo()
    (copy / "file").write_bytes(CONTENT[::-1])
    assert list(checksums.broken(tmp_path)) == [copy / "file"]


def test_a_file_that_is_gone_takes_its_seal_with_it(tmp_path, file):
    file.unlink()
    assert list(checksums.broken(tmp_path)) == []
    assert list(file.parent.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"0123 4", b"\xff\xfe"], ids=["empty", "torn", "no text"])
def test_a_damaged_seal_claims_nothing(tmp_path, file, content):
    (seal,) = file.parent.glob(".*")
    seal.write_bytes(content)
    file.write_bytes(b"other content")
    assert list(checksums.broken(tmp_path)) == []


def test_a_writer_that_is_stopped_before_it_seals_leaves_no_seal(tmp_path, file, monkeypatch):
    monkeypatch.setattr(checksums, "put", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        netcdf.replace(file, b"other content")
    monkeypatch.undo()
    assert list(checksums.broken(tmp_path)) == []
    assert file.read_bytes() == b"other content"
