"""Snakemake's records are asked by its own classes, whichever backend keeps them; damaged ones go."""

import asyncio
import base64
import sqlite3
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake.io import IOFile
from snakemake.persistence.db import DbPersistence
from snakemake.persistence.file import FilePersistence
from snakemake.settings.enums import PersistenceBackend
from snakemake.settings.types import WorkflowSettings

from hierlearn.pipeline.run.records import FOLDER, DamagedRecords, Records, UnusableRecords

NAME = "results/a.nc"
# The last is longer than a name of a file may be, as Snakemake writes it.
NAMES = (NAME, "results/{x} y.nc", "/".join(["results", "x" * 200]))
OF = {PersistenceBackend.FILE: FilePersistence, PersistenceBackend.DB: DbPersistence}


@pytest.fixture(params=list(OF), ids=str)
def settings(request, tmp_path, monkeypatch):
    """Snakemake's settings, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return WorkflowSettings(persistence_backend=request.param)


@pytest.fixture
def database(tmp_path, monkeypatch):
    """Settings with a database in which one file is marked, and the database."""
    monkeypatch.chdir(tmp_path)
    settings = WorkflowSettings(persistence_backend=PersistenceBackend.DB)
    Records(settings).distrust(Path(NAME))
    return settings, FOLDER / "metadata.db"


def incomplete(settings, name):
    """Whether Snakemake takes a file for that of an interrupted job."""
    job = SimpleNamespace(output=[IOFile(name)])
    job.output[0].rule = SimpleNamespace(workflow=SimpleNamespace(iocache=SimpleNamespace(active=False)))
    return bool(asyncio.run(OF[settings.persistence_backend](nolock=True).incomplete(job)))


@pytest.mark.parametrize("name", NAMES)
def test_snakemake_finds_what_is_distrusted_and_has_no_record_of_it(settings, name):
    Path(name).parent.mkdir()
    Path(name).touch()
    records = Records(settings)
    assert not records.notes(Path(name))
    assert not incomplete(settings, name)
    records.distrust(Path(name))
    assert not records.notes(Path(name))
    assert incomplete(settings, name)


@pytest.mark.parametrize("content", [b'{"rule": "tra', b"\xff", b"[1]", b'{"params": 3}', b""], ids=str)
def test_a_damaged_record_in_a_file_is_found_without_a_word_and_goes(tmp_path, monkeypatch, capfd, content):
    monkeypatch.chdir(tmp_path)
    settings = WorkflowSettings()
    sound = [Path("results/b.nc"), Path("results/c.nc")]
    Records(settings)
    record = FOLDER / "metadata" / base64.urlsafe_b64encode(NAME.encode()).decode()
    record.write_bytes(content)
    assert list(Records(settings).damaged([Path(NAME), *sound])) == [Path(NAME)]
    assert not Records.mended(settings, [Path(NAME), *sound]).notes(Path(NAME))
    assert not record.exists()
    assert capfd.readouterr() == ("", "")


DAMAGES = {
    "garbled": lambda file: file.write_bytes(bytes(range(256)) * 50),
    "halved": lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]),
    "garbled within": lambda file: file.write_bytes(
        file.read_bytes()[:4096] + b"\xff" * 4096 + file.read_bytes()[8192:]
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_database_is_said_and_goes(database, damage):
    settings, file = database
    DAMAGES[damage](file)
    with pytest.raises(DamagedRecords, match=r"^\.snakemake/metadata\.db: found .*; expected a database"):
        list(Records(settings).damaged([Path(NAME)]))
    records = Records.mended(settings, [Path(NAME)])
    assert not records.notes(Path(NAME))
    assert list(Records(settings).damaged([Path(NAME)])) == []


def test_a_record_of_another_form_in_a_sound_database_is_said_and_goes(database):
    settings, file = database
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE snakemake_metadata SET input = '{', starttime = 'soon'")
    with pytest.raises(DamagedRecords):
        list(Records(settings).damaged([Path(NAME)]))
    Records.mended(settings, [Path(NAME)])
    assert list(Records(settings).damaged([Path(NAME)])) == []


def test_a_damaged_database_in_another_place_is_left_to_its_owner(database, tmp_path):
    other = tmp_path / "other.db"
    other.write_bytes(b"mine" * 1000)
    settings = WorkflowSettings(
        persistence_backend=PersistenceBackend.DB, persistence_backend_db_url=f"sqlite:///{other}"
    )
    with pytest.raises(DamagedRecords, match=r"other\.db: found .*; expected a database that Snakemake can read"):
        Records.mended(settings, [])
    assert other.read_bytes() == b"mine" * 1000
    assert database[1].exists()


def test_a_sound_database_that_another_program_has_locked_stays_and_is_named(database, monkeypatch):
    settings, file = database
    content = file.read_bytes()

    def refuse(*_):
        raise sqlite3.OperationalError("database is locked")

    monkeypatch.setattr(DbPersistence, "params", refuse)
    with pytest.raises(UnusableRecords, match="database is locked") as error:
        Records.mended(settings, [Path(NAME)])
    assert not isinstance(error.value, DamagedRecords)
    assert file.read_bytes() == content
