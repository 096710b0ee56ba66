"""What a run finds in its folder may be what a killed run left there, or may have been damaged since.

All of it is put in order before the first job, so that the same command finishes whatever happened: orphans are ended,
half-written files go, and so does a file that is not what its job put there: Snakemake makes it again as soon as it is
asked for.
"""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

import psutil
from snakemake.settings.types import WorkflowSettings

from hierlearn.pipeline.files import checksums
from hierlearn.pipeline.run.records import FOLDER, DamagedRecords, Records, UnusableRecords

if TYPE_CHECKING:
    # The workflow of Snakemake imports what imports this.
    from snakemake.workflow import Workflow

    from hierlearn.pipeline.plan.rule_inputs import Inputs

# The states of files and checksums that were found whole: what has not been written to since is not read again.
WHOLE = FOLDER / "whole.json"
# As many files are named one by one.
NAMED = 10


def prepare(inputs: "Inputs", workflow: "Workflow") -> IO[str]:
    """Put the folder in order before the first job; the lock, to be held as long as the run.

    workflow: Snakemake's, which says where its records and its temporary files are.
    """
    held = lock()
    cancel_orphans()
    end_orphans()
    _note_scratch(held, workflow.snakemake_tmp_dir)
    results = Path(inputs.targets.results)
    clear(results)
    try:
        records = Records.mended(workflow.workflow_settings, map(Path, inputs.targets.all_files))
    except UnusableRecords as error:
        sys.exit(f"error: {error}")
    tell(verify(results, inputs, records))
    # Every job has this in its environment.
    os.environ["HIERLEARN_RUN"] = os.getcwd()
    return held


def refuse_damaged_records(inputs: "Inputs", settings: WorkflowSettings) -> None:
    """End a dry run that meets a record that Snakemake cannot read: it changes nothing, so it cannot go on."""
    cure = "a run without --dry-run puts it in order"
    try:
        for file in Records(settings).damaged(map(Path, inputs.targets.all_files)):
            sys.exit(f"error: {file} has a damaged record; {cure}")
    except DamagedRecords as error:
        sys.exit(f"error: {error}; {cure}")
    except UnusableRecords as error:
        sys.exit(f"error: {error}")


def lock() -> IO[str]:
    """The lock of this folder, held as long as the file is open; Snakemake's own locks outlive a killed run."""
    FOLDER.mkdir(exist_ok=True)
    file = open(FOLDER / "run.lock", "a+")  # noqa: SIM115
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        sys.exit("error: another run works in this folder; wait for it, or stop it and start again")
    return file


def _note_scratch(held: IO[str], scratch: Path) -> None:
    """Note in the lock where Snakemake keeps temporary files, and remove those of an earlier run that was killed."""
    held.seek(0)
    number, _, path = held.read().strip().partition(" ")
    earlier, own = Path(path), str(os.stat(held.fileno()).st_ino)
    # A copy of this folder has the line of a run that may still work in the first. And nothing else, whoever wrote it.
    is_ours = number == own and earlier.parent == scratch.parent and earlier.name.startswith("snakemake")
    if is_ours and earlier != scratch:
        shutil.rmtree(earlier, ignore_errors=True)
    held.truncate(0)
    held.write(f"{own} {scratch}\n")
    held.flush()


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


def cancel_orphans() -> None:
    """Cancel the cluster's jobs of an earlier run in this folder that was killed: they would write beside this one."""
    asked = ["squeue", "--me", "--noheader", "--format=%F|%j|%Z"]
    for _ in range(60):
        try:
            listed = subprocess.run(asked, capture_output=True, timeout=60, check=True).stdout.decode(errors="replace")
        except (OSError, subprocess.SubprocessError):
            return
        fields = [line.split("|", 2) for line in listed.splitlines()]
        orphans = {job for job, name, folder in fields if name.startswith("hierlearn_") and folder == os.getcwd()}
        if not orphans:
            return
        subprocess.run(["scancel", *orphans], check=False)
        time.sleep(1)
    sys.exit("error: jobs of an earlier run in this folder do not end; scancel them and start again")


def run_of(process: psutil.Process) -> str | None:
    """The folder of the run that started a process; None for all others."""
    try:
        return process.environ().get("HIERLEARN_RUN")
    except (psutil.Error, OSError):
        return None


def clear(results: Path) -> None:
    """Remove what is half-written, and what killed jobs left."""
    # Seals are the checksums of an older layout.
    for pattern in (".*.part", ".*.seal"):
        for scratch in results.rglob(pattern):
            _delete(scratch)
    for script in (FOLDER / "scripts").glob("tmp*"):
        script.unlink()
    # A job that is killed at the wrong moment leaves one.
    for folder in Path(tempfile.gettempdir()).glob(f"{checksums.scratch()}*"):
        shutil.rmtree(folder, ignore_errors=True)
    for checksum in results.rglob(".*.checksum"):
        # A link to a disk that is not there now counts as a file.
        if not os.path.lexists(checksum.with_name(checksum.name.removeprefix(".").removesuffix(".checksum"))):
            _delete(checksum)


def verify(results: Path, inputs: "Inputs", records: Records) -> dict[Path, str]:
    """Remove what is not what its job put there, with its checksum; the files of the plan, with what is wrong.

    What another job made than the planned one counts as interrupted: it stays until it is asked for. Snakemake notices
    it by itself where it has a record of the file. What was found whole before, and has not changed since, is not read
    again.
    """
    noted, whole, faults = _noted(), {}, {}
    for path in sorted(results.rglob("[!.]*")):
        state, planned = _state(path), path.as_posix() in inputs.targets.all_files
        unchanged = state is not None and noted.get(str(path)) == state
        if planned and not unchanged and (fault := checksums.fault(path, {})):
            _remove(path)
            faults[path] = fault
            continue
        if planned and not records.notes(path) and (fault := checksums.other_job(path, inputs.identity(path) or {})):
            records.distrust(path)
            faults[path] = fault
        if state is not None and (planned or unchanged):
            whole[str(path)] = state
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
    except (OSError, ValueError, RecursionError):
        return {}
    return noted if isinstance(noted, dict) else {}


def _state(path: Path) -> str | None:
    """What changes whenever a file or its checksum is written to; the time of the last change cannot be set by hand."""
    try:
        states = [os.stat(one) for one in (path, checksums.beside(path))]
    except OSError:
        return None
    return " ".join(f"{one.st_size} {one.st_mtime_ns} {one.st_ctime_ns} {one.st_ino}" for one in states)


def _remove(path: Path) -> None:
    _delete(path)
    _delete(checksums.beside(path))


def _delete(path: Path) -> None:
    """Remove what lies at a path, whatever it is; of a link the link alone."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
