"""What a run finds in its folder may be what a killed run left there, or may have been damaged since.

All of it is put in order before the first job, so that the same command finishes whatever happened: orphans are ended,
half-written files go, and a file that is not what its job put there is marked as incomplete: Snakemake makes it again
as soon as it is asked for.
"""

import base64
import fcntl
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

import psutil
from snakemake.persistence import MetadataRecord

from hierlearn.files import checksums
from hierlearn.plan.cluster import cancel_orphans

RECORDS = Path(".snakemake")
# The states of files and checksums that were found whole: what has not been written to since is not read again.
WHOLE = RECORDS / "whole.json"
# As many files are named one by one.
NAMED = 10


def is_dry(words: Sequence[str]) -> bool:
    """Whether a command line of Snakemake asks for a dry run, as its own parser reads it.

    Snakemake itself does not know before all files are read.
    """
    from snakemake.cli import get_argument_parser

    given, _ = get_argument_parser().parse_known_args(list(words))
    return bool(given.dryrun) or given.executor == "dryrun"


def prepare(results: Path, planned: Callable[[Path], Mapping[str, str] | None]) -> IO[str]:
    """Put the folder in order before the first job; the lock, to be held as long as the run.

    planned: see `verify`.
    """
    held = lock()
    cancel_orphans()
    end_orphans()
    clear(results)
    tell(verify(results, planned))
    # Every job has this in its environment.
    os.environ["HIERLEARN_RUN"] = os.getcwd()
    return held


def refuse_damaged_records() -> None:
    """End a dry run that meets a record that Snakemake cannot read: it changes nothing, so it cannot go on."""
    for file, output in damaged_records():
        sys.exit(f"error: {output} has a damaged record, {file}; a run without --dry-run makes it again")


def lock() -> IO[str]:
    """The lock of this folder, held as long as the file is open; Snakemake's own locks outlive a killed run."""
    RECORDS.mkdir(exist_ok=True)
    file = open(RECORDS / "run.lock", "w")  # noqa: SIM115
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        sys.exit("error: another run works in this folder; wait for it, or stop it and start again")
    return file


def end_orphans() -> None:
    """End this machine's jobs of an earlier run in this folder that was killed: they would write beside this one."""
    for _ in range(60):
        orphans = [process for process in psutil.process_iter() if run_of(process) == os.getcwd()]
        if not orphans:
            return
        for process in orphans:
            with suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(orphans, timeout=1)
    sys.exit("error: jobs of an earlier run in this folder do not end; stop them and start again")


def run_of(process: psutil.Process) -> str | None:
    """The folder of the run that started a process; None for all others."""
    try:
        return process.environ().get("HIERLEARN_RUN")
    except (psutil.Error, OSError):
        return None


def damaged_records() -> Iterator[tuple[Path, Path]]:
    """Snakemake's records that cannot be read, each with the output that it is about."""
    folder = RECORDS / "metadata"
    for file in sorted(file for file in folder.rglob("*") if file.is_file()):
        try:
            MetadataRecord.model_validate(json.loads(file.read_bytes()))
        except ValueError:
            name = "".join(part.removeprefix("@") for part in file.relative_to(folder).parts)
            with suppress(ValueError):
                yield file, Path(base64.urlsafe_b64decode(name).decode())


def record(kind: str, output: Path) -> Path:
    """Where Snakemake keeps its record of an output. kind: metadata or incomplete."""
    name = base64.urlsafe_b64encode(str(output).encode()).decode()
    longest = os.pathconf(".", "PC_NAME_MAX") - 1
    *folders, last = [name[i : i + longest] for i in range(0, len(name), longest)]
    return RECORDS.joinpath(kind, *(f"@{folder}" for folder in folders), last)


def clear(results: Path) -> None:
    """Remove what is half-written, and damaged records: without one the checksum of a file alone speaks for it."""
    # Seals are the checksums of an older layout.
    for pattern in (".*.part", ".*.seal"):
        for scratch in results.rglob(pattern):
            scratch.unlink()
    for script in (RECORDS / "scripts").glob("tmp*"):
        script.unlink()
    # A job that is killed at the wrong moment leaves one.
    for folder in Path(tempfile.gettempdir()).glob(f"{checksums.scratch()}*"):
        shutil.rmtree(folder, ignore_errors=True)
    for checksum in results.rglob(".*.checksum"):
        if not checksum.with_name(checksum.name.removeprefix(".").removesuffix(".checksum")).exists():
            checksum.unlink()
    for file, _ in damaged_records():
        file.unlink()


def verify(results: Path, planned: Callable[[Path], Mapping[str, str] | None]) -> dict[Path, str]:
    """Mark as incomplete what is not what its job put there; the files below a folder, with what is wrong.

    planned: the identity of the job that should have made a file, None for a file that no job makes. It counts where
    Snakemake has no record of a file, and so would not notice that it is of an earlier plan. What was found whole
    before, and has not changed since, is not read again.
    """
    known, whole, faults = _noted(), {}, {}
    for path in sorted(results.rglob("[!.]*")):
        state, recorded = _state(path), record("metadata", path).exists()
        if recorded and state is not None and known.get(str(path)) == state:
            whole[str(path)] = state
        elif (expected := {} if recorded else planned(path)) is not None:
            if fault := checksums.fault(path, expected):
                faults[path] = fault
            elif state is not None:
                whole[str(path)] = state
    for path in faults:
        _mark(path)
    part = WHOLE.with_suffix(".part")
    part.write_text(json.dumps(whole))
    os.replace(part, WHOLE)
    return faults


def tell(faults: Mapping[Path, str]) -> None:
    """Say on the terminal what is made again."""
    lines = [f"{path} is made again: {fault}" for path, fault in faults.items()]
    if len(lines) > NAMED:
        lines[NAMED:] = [f"{len(lines) - NAMED} more files are made again for such reasons"]
    print(*lines, sep="\n", end="\n" if lines else "", file=sys.stderr)


def _noted() -> dict[str, str]:
    try:
        noted = json.loads(WHOLE.read_bytes())
    except (OSError, ValueError):
        return {}
    return noted if isinstance(noted, dict) else {}


def _state(path: Path) -> str | None:
    """What changes whenever a file or its checksum is written to; the time of the last change cannot be set by hand."""
    try:
        states = [os.stat(one) for one in (path, checksums.beside(path))]
    except OSError:
        return None
    return " ".join(f"{one.st_size} {one.st_mtime_ns} {one.st_ctime_ns} {one.st_ino}" for one in states)


def _mark(path: Path) -> None:
    if path.is_dir():
        # Snakemake does not remove a folder in the place of a file.
        shutil.rmtree(path)
        return
    mark = record("incomplete", path)
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.write_text('{"external_jobid": null}')
