"""Places that a run lies in and writes to: one line where it cannot, such as on a disk that is read-only or full."""

import errno
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # Planning does without.
    from snakemake.workflow import Workflow

UNWRITABLE = (errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM)
# What the smallest run needs: Snakemake's notes of it, and copies of the rules and scripts, with room to spare.
NOTES, COPIES = 2**15, 2**20


@contextmanager
def in_one_line() -> Iterator[None]:
    """End the program with one line where a place cannot be written to."""
    try:
        yield
    except OSError as error:
        if error.errno not in UNWRITABLE:
            raise
        place = f"{str(error.filename).removeprefix(os.getcwd() + os.sep)}: " if error.filename else ""
        found = (error.strerror or type(error).__name__).lower()
        sys.exit(f"error: {place}found {found}; expected a place with room that this user may write to")


def need(folder: Path, room: int) -> None:
    """Check that so many bytes can be written to a folder, or to what it would be made in.

    Raises OSError, with the folder's name, where they cannot.
    """
    there = next(above for above in (folder.absolute(), *folder.absolute().parents) if above.is_dir())
    try:
        # It has no name where the system can do without, so that a kill leaves nothing.
        with tempfile.TemporaryFile(dir=there) as file:
            file.write(bytes(room))
            file.flush()
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(folder)) from error


def spare_matplotlib(folder: Path) -> None:
    """Give matplotlib a place of its own in a folder, where it cannot write to that of the user.

    Else every job looks for all fonts anew, and says so.
    """
    given = os.environ.get("MPLCONFIGDIR")
    homes = [("XDG_CONFIG_HOME", "~/.config"), ("XDG_CACHE_HOME", "~/.cache")]
    users = [Path(os.environ.get(name) or home, "matplotlib") for name, home in homes]
    try:
        for place in [Path(given)] if given else users:
            need(place.expanduser(), NOTES)
    except (OSError, RuntimeError):
        os.environ["MPLCONFIGDIR"] = str((folder / "matplotlib").absolute())


def refuse_braces(project: Path) -> None:
    """End the program where the path of the project has braces: Snakemake takes them for wildcards."""
    if found := sorted({letter for letter in str(project) if letter in "{}"}):
        sys.exit(f"error: {project}: found {' and '.join(found)} in the path; expected a folder without them")


def refuse_prefix(results: str, workflow: "Workflow") -> None:
    """End the program where a workflow that has this one as a module gives results another prefix.

    Jobs know each other's files by the names that the configuration gives them.
    """
    moved = workflow.modifier.path_modifier.replace_prefix(f"{results}/")
    if moved != f"{results}/":
        allowed = "no prefix; `results` in the module's config names another folder"
        sys.exit(f"error: module: found a prefix that makes {results}/ {moved}; expected {allowed}")
