"""Files that are whole or absent, each with a hidden one beside it that says its checksum and which job made it.

`.NAME.checksum` is one line of JSON: the file's path, its SHA-256, and the provenance of the job. A file without one,
or with one that does not fit, is nobody's: no job reads it, and the next run makes it again.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from hierlearn.core import folders
from hierlearn.core.folders import UnreadableFile


def digest(content: bytes) -> str:
    """SHA-256, hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def scratch() -> str:
    """What the names of temporary folders begin with that jobs of runs in this folder make; no two runs work in one."""
    return f"hierlearn-{digest(os.fsencode(os.getcwd()))[:16]}-"


def beside(path: Path) -> Path:
    """Where the checksum of a file lies."""
    return path.with_name(f".{path.name}.checksum")


def write(path: str | os.PathLike, content: bytes, provenance: Mapping[str, str]) -> None:
    """Put `content` at `path` all at once. provenance: what provenance.attributes says of the job.

    Nothing half-written is ever seen at `path`; a writer that was orphaned and its successor take turns.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    line = json.dumps({**provenance, "path": _path_below(path), "sha256": digest(content)}, sort_keys=True)
    part = path.with_name(f".{path.name}.part")
    with _locked(part) as descriptor:
        try:
            os.ftruncate(descriptor, 0)
            with os.fdopen(os.dup(descriptor), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            # First, so that nobody sees the new file without it: the old one beside it is made again.
            beside(path).write_text(f"{line}\n", encoding="utf-8")
            os.replace(part, path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise


def read(path: str | os.PathLike, expected: Mapping[str, str] | None = None) -> bytes:
    """Return the content of a file after a check that it is the one that a job put there.

    expected: provenance.identity of that job. If it is None, any job's will do, and a file without a checksum beside
    it, such as one that was copied elsewhere alone, is not checked. Raises UnreadableFile, one line that names the
    file, what was found and what is expected.
    """
    path = Path(path)
    try:
        content = folders.ending(path).read_bytes()
    except OSError as error:
        raise UnreadableFile(f"{path}: found no file to read ({error.strerror}); run again") from error
    if expected is not None:
        fault = _fault(path, expected, digest(content))
    else:
        fault = _damage(path, digest(content), _noted(path)) if os.path.lexists(beside(path)) else ""
    if fault:
        raise UnreadableFile(f"{path}: {fault}; delete it and run again")
    return content


def fault(path: Path, expected: Mapping[str, str]) -> str:
    """What tells a file from the one that a job should have put there: what was found and expected; "" for nothing."""
    try:
        with folders.ending(path).open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return f"found no file to read ({error.strerror})"
    return _fault(path, expected, found)


def other_job(path: Path, expected: Mapping[str, str]) -> str:
    """What tells the job that made a file from another one, by its checksum alone; "" for nothing."""
    return _difference(_noted(path), expected)


def _difference(noted: Mapping[str, str], expected: Mapping[str, str]) -> str:
    """What a checksum says otherwise than expected; "" for nothing."""
    for key, value in expected.items():
        if noted.get(key) != value:
            return f"{key}: found {noted.get(key, 'nothing')}; expected {value}"
    return ""


def _fault(path: Path, expected: Mapping[str, str], found: str) -> str:
    """What tells a file with a digest from the one of a job; "" for nothing."""
    noted = _noted(path)
    other = _difference(noted, {"path": _path_below(path), **expected}) if noted else ""
    return other or _damage(path, found, noted)


def _damage(path: Path, found: str, noted: Mapping[str, str]) -> str:
    """What tells a file with a digest from the one that its checksum was written for; "" for nothing."""
    if not noted:
        return f"checksum: found none in {beside(path).name}; expected the line that was written with the file"
    return "" if noted["sha256"] == found else f"content: found SHA-256 {found}; expected {noted['sha256']}"


def _noted(path: Path) -> dict[str, str]:
    """The line beside a file; empty for none and for a damaged one."""
    try:
        noted = json.loads(folders.ending(beside(path)).read_bytes())
        return noted if isinstance(noted["sha256"], str) else {}
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return {}


def _path_below(path: Path) -> str:
    """A file's name in its folders, wherever the results lie."""
    return "/".join(path.absolute().parts[-3:])


@contextmanager
def _locked(part: Path) -> Iterator[int]:
    # Imported where a file is written: only POSIX has it, and files are read anywhere.
    import fcntl

    while True:
        descriptor = os.open(part, os.O_CREAT | os.O_RDWR, 0o666)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        # The former holder may have moved the file into place while we waited: then this is no scratch file any more.
        try:
            if os.fstat(descriptor).st_ino == os.stat(part).st_ino:
                break
        except FileNotFoundError:
            pass
        os.close(descriptor)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
