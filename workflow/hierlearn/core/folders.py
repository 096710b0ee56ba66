"""Where components lie: in the package, and in folders of a user's own, which hold rooms of the same names."""

import errno
import importlib
import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hierlearn.core.words import show

PACKAGE = Path(__file__).parents[1]
# How the jobs of a run, which are other processes, know the folders.
VARIABLE = "HIERLEARN_OWN"
# Where the package has the components of a room, below its own folder; a user's folder has them in the room itself.
ROOMS = {
    **{room: room for room in ("inputs", "teachers", "representations", "learners", "kernels")},
    **{room: "pipeline/measurements" for room in ("probes", "experiments")},
    **{room: f"pipeline/{room}" for room in ("quantities", "figures")},
}


class UnreadableFile(ValueError):
    """A file that cannot be read as what it should be; the message is one line that names it."""


def files(folder: Path, pattern: str) -> list[Path]:
    """Return the files below a folder that fit a pattern, sorted, without hidden files and folders: systems
    and editors leave such files beside those of a person."""
    found = sorted(folder.glob(pattern))
    return [file for file in found if not any(part.startswith(".") for part in file.relative_to(folder).parts)]


def path(given: Any, what: str) -> Path:
    """Return the path that a caller gives as text, bytes or a path. Raises ValueError, one line, for what is none."""
    try:
        found = os.fsdecode(given)
    except TypeError:
        raise ValueError(f"{what}: found {show(given)}; expected a path") from None
    if not found or "\0" in found:
        raise ValueError(f"{what}: found the path {show(found)}; expected the name of a file")
    return Path(found)


def ending(path: Path) -> Path:
    """Return the path itself. Raises OSError for a pipe or a device, which may have no end, and where nothing is."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise OSError(errno.EINVAL, "no regular file")
    return path


def own() -> tuple[Path, ...]:
    """Return the folders of a user's own, absolute, in the order in which the configuration names them."""
    return tuple(Path(name) for name in os.environ.get(VARIABLE, "").split(os.pathsep) if name)


def roots() -> tuple[Path, ...]:
    """Return all folders that may hold rooms, the package first."""
    return (PACKAGE, *own())


def root_of(file: Path) -> Path | None:
    """Return the root that a file lies below; None for a file elsewhere."""
    return next((root for root in roots() if root in file.parents), None)


def use(folders: Iterable[Path]) -> bool:
    """Take folders as a user's own, here and in processes started from here; return whether they have changed."""
    text = os.pathsep.join(str(Path(folder).resolve()) for folder in folders)
    if text == os.environ.get(VARIABLE, ""):
        return False
    for name in [name for name, module in sys.modules.items() if is_own(module)]:
        del sys.modules[name]
    os.environ[VARIABLE] = text
    extend()
    return True


def is_own(module: object) -> bool:
    """Return whether a module lies below a folder of a user's own."""
    file = getattr(module, "__file__", None)
    return file is not None and any(folder in Path(file).parents for folder in own())


def shelf(root: Path, room: str) -> Path:
    """Return the folder that holds the components of a room below a root."""
    return root / ROOMS[room] if root == PACKAGE else root / room


def package(room: str) -> str:
    """Return the package that the modules of a room are imported from, wherever their files lie."""
    return f"{PACKAGE.name}.{ROOMS[room].replace('/', '.')}"


def module(file: Path) -> str:
    """Return the name that a file below a root is imported by."""
    root = root_of(file) or PACKAGE
    inside = file.relative_to(root).parts[:-1]
    return ".".join([package(inside[0]) if root != PACKAGE else ".".join((PACKAGE.name, *inside)), file.stem])


def extend() -> None:
    """Let modules of a user's rooms be imported as those of the package are: hierlearn.inputs.<name>."""
    rooms: dict[str, list[str]] = {}
    for room in ROOMS:
        own_rooms = [str(root / room) for root in own() if (root / room).is_dir()]
        rooms.setdefault(package(room), [str(shelf(PACKAGE, room))]).extend(own_rooms)
    for name, paths in rooms.items():
        importlib.import_module(name).__path__[:] = paths


if own():
    extend()
