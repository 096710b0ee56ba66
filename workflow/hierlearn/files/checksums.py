"""Seals: a hidden line beside a file says what was put there, so that a later run notices what damaged it since."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path


def digest(content: bytes) -> str:
    """SHA-256, hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def scratch() -> str:
    """What the names of temporary folders begin with that jobs of runs in this folder make; no two runs work in one."""
    return f"hierlearn-{digest(os.getcwd().encode())[:16]}-"


def put(path: Path, content_digest: str) -> None:
    """Seal a file that has just been put in place."""
    _seal(path).write_text(f"{content_digest} {_stamp(path)}\n")


def lift(path: Path) -> None:
    """Unseal a file before another takes its place; without a seal nothing is claimed about it."""
    _seal(path).unlink(missing_ok=True)


def broken(folder: Path) -> Iterator[Path]:
    """The sealed files below a folder that are there but are not what was put there."""
    for seal in sorted(folder.rglob(".*.seal")):
        path = seal.with_name(seal.name.removeprefix(".").removesuffix(".seal"))
        try:
            words = seal.read_bytes().decode("ascii", errors="replace").split()
            # A seal that was itself damaged claims nothing; an unchanged stamp spares reading the file.
            if len(words) != 5 or " ".join(words[1:]) == _stamp(path):
                continue
            whole = digest(path.read_bytes()) == words[0]
        except FileNotFoundError:
            seal.unlink()
            continue
        except OSError:
            whole = False
        if whole:
            # Touched, or copied from elsewhere.
            put(path, words[0])
        else:
            yield path


def _seal(path: Path) -> Path:
    return path.with_name(f".{path.name}.seal")


def _stamp(path: Path) -> str:
    """What changes whenever a file is written to; the time of the last change cannot be set by hand."""
    state = os.stat(path)
    return f"{state.st_size} {state.st_mtime_ns} {state.st_ctime_ns} {state.st_ino}"
