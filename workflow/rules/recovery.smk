# What a run finds in its folder may be what a killed run left there, or may have been damaged since. All of it is put in
# order before the first job, so that the same command finishes whatever happened.
import base64
import json
import shutil
import tempfile

import psutil
from snakemake.persistence import MetadataRecord

from hierlearn.files import checksums


def end_orphans():
    """Ends this machine's jobs of an earlier run in this folder that was killed: they would write beside this one."""
    for _ in range(60):
        orphans = [process for process in psutil.process_iter() if run_of(process) == os.getcwd()]
        if not orphans:
            return
        for process in orphans:
            with suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(orphans, timeout=1)
    sys.exit("error: jobs of an earlier run in this folder do not end; stop them and start again")


def run_of(process):
    """The folder of the run that started a process; None for all others."""
    try:
        return process.environ().get("HIERLEARN_RUN")
    except (psutil.Error, OSError):
        return None


def unreadable_records():
    """Snakemake's records that are damaged, each with the output that it is about: what made it is not known any more."""
    folder = Path(".snakemake/metadata")
    for file in sorted(file for file in folder.rglob("*") if file.is_file()):
        try:
            MetadataRecord.model_validate(json.loads(file.read_bytes()))
        except ValueError:
            name = "".join(part.removeprefix("@") for part in file.relative_to(folder).parts)
            with suppress(ValueError):
                yield file, Path(base64.urlsafe_b64decode(name).decode())


def remove(path):
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def clear():
    """Removes what is half-written or damaged; the jobs that make it run again."""
    for scratch in [*Path(RESULTS).rglob(".*.part"), *Path(".snakemake/scripts").glob("tmp*")]:
        scratch.unlink()
    # A job that is killed at the wrong moment leaves one.
    for folder in Path(tempfile.gettempdir()).glob(f"{checksums.scratch()}*"):
        shutil.rmtree(folder, ignore_errors=True)
    for path in checksums.broken(Path(RESULTS)):
        print(f"{path} is not what was written there and is made again", file=sys.stderr)
        remove(path)
    for record, output in unreadable_records():
        print(f"{output} has a damaged record and is made again", file=sys.stderr)
        remove(output)
        record.unlink()


if workflow.is_main_process and not DRY:
    end_orphans()
    clear()
    # Every job has this in its environment.
    os.environ.update(HIERLEARN_RUN=os.getcwd())
elif workflow.is_main_process:
    # A dry run changes nothing, and Snakemake cannot read these.
    for record, output in unreadable_records():
        sys.exit(f"error: {output} has a damaged record, {record}; a run without --dry-run makes it again")
