"""What Snakemake has noted of the files of this folder, asked by its own classes: no line here knows how it is stored.

A run needs no record. Without one, a file counts whose checksum fits and whose job is the planned one.
"""

import logging
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

from snakemake.io import IOFile
from snakemake.logging import logger
from snakemake.persistence import PersistenceBase
from snakemake.persistence.db import DbPersistence
from snakemake.persistence.file import FilePersistence
from snakemake.settings.enums import PersistenceBackend
from snakemake.settings.types import WorkflowSettings

FOLDER = Path(".snakemake")
# The database of --persistence-backend db in this folder, with what SQLite keeps beside it.
DATABASE = tuple(f"metadata.db{end}" for end in ("", "-wal", "-shm", "-journal"))


class UnusableRecords(ValueError):
    """Records that Snakemake cannot use now; the message is one line that says which."""


class DamagedRecords(UnusableRecords):
    """Records whose content Snakemake cannot read."""


class Records:
    """The records that a run with these settings of Snakemake's reads and writes.

    Raises UnusableRecords for a database that cannot be used now, such as one that another program has locked,
    DamagedRecords for one that cannot be read, and OSError where Snakemake cannot write.
    """

    def __init__(self, settings: WorkflowSettings):
        self._url = settings.persistence_backend_db_url
        self._in_database = settings.persistence_backend == PersistenceBackend.DB
        self._persistence = self._open()

    @classmethod
    def mended(cls, settings: WorkflowSettings, files: Iterable[Path]) -> "Records":
        """Return records that Snakemake can read; those of some files that it cannot read are removed.

        A damaged database goes as a whole if it lies in this folder. Raises DamagedRecords for one elsewhere.
        """
        try:
            records = cls(settings)
            for file in records.damaged(files):
                records.forget(file)
        except DamagedRecords:
            if settings.persistence_backend_db_url:
                raise
            for name in DATABASE:
                (FOLDER / name).unlink(missing_ok=True)
            records = cls(settings)
        return records

    def notes(self, file: Path) -> bool:
        """Return whether Snakemake has noted the parameters of a file, and so notices that the plan has others."""
        return self._persistence.params(IOFile(str(file))) is not None

    def distrust(self, file: Path) -> None:
        """Let Snakemake make a file again as soon as it is asked for, as after an interrupted job."""
        self._persistence.started(SimpleNamespace(output=[IOFile(str(file))]))

    def forget(self, file: Path) -> None:
        """Remove the record of a file."""
        self._persistence.cleanup_metadata(IOFile(str(file)))

    def damaged(self, files: Iterable[Path]) -> Iterator[Path]:
        """Yield the files whose records Snakemake reads with an error or a warning.

        Raises DamagedRecords for a database with one such record.
        """
        for file in files:
            with _warnings() as warnings:
                try:
                    self.notes(file)
                except OSError:
                    raise
                except Exception as error:
                    if self._in_database:
                        raise self._unreadable(error) from error
                    warnings.append(str(error))
            if warnings:
                yield file

    def _open(self) -> PersistenceBase:
        if not self._in_database:
            return FilePersistence(nolock=True)
        try:
            # It says each time that it looks for the kind of the disk.
            with _warnings():
                persistence = DbPersistence(nolock=True, db_url=self._url)
            with persistence.engine.connect() as connection:
                sqlite = persistence.engine.dialect.name == "sqlite"
                state = connection.exec_driver_sql("PRAGMA integrity_check").scalar() if sqlite else "ok"
        except OSError:
            raise
        # What a driver raises is its own.
        except Exception as error:
            raise self._unreadable(error) from error
        if state != "ok":
            raise self._unreadable(state)
        return persistence

    def _unreadable(self, error: object) -> UnusableRecords:
        place = self._url or FOLDER / "metadata.db"
        found = " ".join(str(error).split())
        # SQLite calls it so where the file may be sound: locked, read-only, on a full disk.
        causes = (error, error.__cause__) if isinstance(error, Exception) else ()
        is_sound = any(isinstance(cause, sqlite3.OperationalError | ImportError) for cause in causes)
        kind = UnusableRecords if is_sound else DamagedRecords
        return kind(f"{place}: found {found}; expected a database that Snakemake can read")


@contextmanager
def _warnings() -> Iterator[list[str]]:
    """Collect the warnings of Snakemake's logger, which tells nobody anything meanwhile."""
    collected: list[str] = []

    def collect(record: logging.LogRecord) -> bool:
        if record.levelno == logging.WARNING:
            collected.append(record.getMessage())
        return record.levelno != logging.WARNING

    logger.addFilter(collect)
    try:
        yield collected
    finally:
        logger.removeFilter(collect)
