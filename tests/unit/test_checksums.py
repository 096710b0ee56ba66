"""Files are whole or absent, and are read only by whom the checksum beside them and the job that it names are right."""

import json
import multiprocessing
import os
import shutil
from pathlib import Path

import pytest

from hierlearn.core import provenance
from hierlearn.pipeline.files import checksums
from hierlearn.pipeline.files.checksums import UnreadableFile

CONTENT = b"what was put there"
MADE = provenance.attributes("code", {"learner": "kernel"})
EXPECTED = provenance.identity("code", {"learner": "kernel"})


@pytest.fixture
def file(tmp_path):
    checksums.write(tmp_path / "a" / "file", CONTENT, MADE)
    return tmp_path / "a" / "file"


def refusal(file, expected=EXPECTED) -> str:
    """The line of who reads the file; whoever only asks hears the same."""
    with pytest.raises(UnreadableFile) as caught:
        checksums.read(file, expected)
    line = str(caught.value)
    assert "\n" not in line
    assert line.startswith(f"{file}: {checksums.fault(file, expected)}")
    assert line.endswith("run again")
    return line


def test_what_was_put_there_is_read_again_by_whom_expects_its_job(file):
    assert checksums.read(file, EXPECTED) == checksums.read(file) == CONTENT
    assert checksums.fault(file, EXPECTED) == ""
    assert {one.name for one in file.parent.iterdir()} == {"file", ".file.checksum"}


def test_a_file_of_any_job_is_checked_and_one_without_a_checksum_is_read_as_it_is(file, tmp_path):
    alone = tmp_path / "alone"
    shutil.copy(file, alone)
    assert checksums.read(alone) == CONTENT
    # With its checksum it may lie anywhere.
    shutil.copytree(file.parent, tmp_path / "elsewhere" / "b")
    assert checksums.read(tmp_path / "elsewhere" / "b" / "file") == CONTENT
    file.write_bytes(CONTENT[::-1])
    with pytest.raises(UnreadableFile, match=rf"{file}: content: found SHA-256 .*; delete it and run again$"):
        checksums.read(file)
    checksums.beside(file).write_bytes(b"\xff")
    with pytest.raises(UnreadableFile, match=r"checksum: found none in .file.checksum; .*; delete it and run again$"):
        checksums.read(file)


def same_time(path, content):
    state = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(CONTENT + b"."),
        lambda path: same_time(path, CONTENT[::-1]),
    ],
    ids=["emptied", "longer", "same size and time"],
)
def test_a_damaged_file_is_refused(file, damage):
    damage(file)
    assert "content: found SHA-256 " in refusal(file)


def test_nothing_and_a_folder_in_place_of_a_file_are_refused(file):
    file.unlink()
    assert "found no file to read (No such file or directory)" in refusal(file)
    file.mkdir()
    assert "found no file to read (Is a directory)" in refusal(file)


@pytest.mark.parametrize("line", [None, b"", b"0123 4", b"\xff\xfe", b"{}", b"[]", b'{"sha256": 3}', b'"name"'])
def test_a_file_without_a_checksum_that_can_be_read_is_refused(file, line):
    beside = checksums.beside(file)
    beside.unlink() if line is None else beside.write_bytes(line)
    assert "checksum: found none in .file.checksum" in refusal(file)


def test_no_byte_of_a_checksum_can_change_without_notice_but_for_the_versions(file):
    beside = checksums.beside(file)
    whole = beside.read_bytes()
    versions = whole.index(b'"versions"')
    for place in range(versions):
        beside.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert checksums.fault(file, EXPECTED), place


@pytest.mark.parametrize(
    ("made", "found"),
    [
        (provenance.attributes("code", {"learner": "linear"}), "parameters_hash: found "),
        (provenance.attributes("older", {"learner": "kernel"}), "code_hash: found older; expected code"),
        ({}, "code_hash: found nothing; expected code"),
    ],
)
def test_the_file_of_another_job_is_refused(file, made, found):
    checksums.write(file, CONTENT, made)
    assert found in refusal(file)


def test_a_file_of_the_same_name_in_another_folder_is_refused(file):
    other = file.parents[1] / "b" / "file"
    checksums.write(other, CONTENT, MADE)
    for one in (lambda path: path, checksums.beside):
        shutil.copy(one(other), one(file))
    assert "path: found " in refusal(file)


def test_a_file_in_place_of_another_of_the_same_job_is_refused_with_its_checksum_too(file):
    other = file.with_name("other")
    checksums.write(other, b"other content", MADE)
    shutil.copy(other, file)
    assert "content: found SHA-256 " in refusal(file)
    shutil.copy(checksums.beside(other), checksums.beside(file))
    assert "path: found " in refusal(file)


ENDLESS = {
    "a pipe": os.mkfifo,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a loop": lambda path: path.symlink_to(path.name),
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
    "a folder": Path.mkdir,
}


@pytest.mark.parametrize("make", ENDLESS.values(), ids=ENDLESS)
def test_what_may_have_no_end_is_refused_in_place_of_a_file_and_of_its_checksum(file, make):
    checksum = checksums.beside(file)
    checksum.unlink()
    make(checksum)
    assert "checksum: found none in .file.checksum" in refusal(file)
    with pytest.raises(UnreadableFile, match="checksum: found none"):
        checksums.read(file)
    file.unlink()
    make(file)
    assert "found no file to read (" in refusal(file)


def test_a_touched_or_copied_file_is_whole(tmp_path, file):
    os.utime(file)
    copy = shutil.copytree(tmp_path, tmp_path.with_name("elsewhere") / tmp_path.name)
    assert checksums.read(file, EXPECTED) == checksums.read(copy / "a" / "file", EXPECTED) == CONTENT


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_writer_that_is_stopped_leaves_a_whole_file_or_one_that_is_refused(file, monkeypatch, step):
    monkeypatch.setattr(os, step, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        checksums.write(file, b"other content", MADE)
    monkeypatch.undo()
    assert file.read_bytes() == CONTENT
    assert bool(checksums.fault(file, EXPECTED)) == (step == "replace")
    assert {one.name for one in file.parent.iterdir()} == {"file", ".file.checksum"}


def test_what_a_killed_writer_left_is_overwritten(tmp_path):
    (tmp_path / ".file.part").write_bytes(b"a longer text that a killed writer left behind")
    checksums.write(tmp_path / "file", b"short", MADE)
    assert checksums.read(tmp_path / "file", EXPECTED) == b"short"
    assert {path.name for path in tmp_path.iterdir()} == {"file", ".file.checksum"}


def _write_often(path, letter, times):
    for _ in range(times):
        checksums.write(path, letter * 200_000, {"letter": letter.decode()})


def test_two_writers_take_turns(tmp_path):
    file = tmp_path / "file"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write_often, args=(file, letter, 40)) for letter in (b"a", b"b")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0]
    letter = json.loads(checksums.beside(file).read_text())["letter"]
    assert checksums.read(file, {"letter": letter}) == letter.encode() * 200_000
    assert {path.name for path in tmp_path.iterdir()} == {"file", ".file.checksum"}
