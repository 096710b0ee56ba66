"""What Python and numpy keep for a whole process: as they are shipped, whatever a user's file or variable has set."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

ERRORS = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
PRINTED = {
    "edgeitems": 3,
    "threshold": 1000,
    "precision": 8,
    "suppress": False,
    "linewidth": 75,
    "nanstr": "nan",
    "infstr": "inf",
    "sign": "-",
    "formatter": None,
    "floatmode": "maxprec",
    "legacy": False,
}
# Warnings that Python itself does not show.
SILENT = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)


def restore() -> None:
    """Forget what was set before, for the work of this process: numpy's settings if it is loaded, and warnings that
    are errors."""
    # Not imported: most processes that come by here compute nothing.
    if numpy := sys.modules.get("numpy"):
        _set(numpy, ERRORS, PRINTED)
    if any(action == "error" for action, *_ in warnings.filters):
        warnings.resetwarnings()
        for kind in SILENT:
            warnings.simplefilter("ignore", kind)


@contextmanager
def kept() -> Iterator[None]:
    """Undo what a component's lines set inside of numpy's settings."""
    before = sys.modules.get("numpy")
    settings = (before.geterr(), before.get_printoptions()) if before else (ERRORS, PRINTED)
    try:
        yield
    finally:
        if numpy := sys.modules.get("numpy"):
            _set(numpy, *settings)


def _set(numpy: Any, errors: dict[str, str], printed: dict[str, Any]) -> None:
    numpy.seterr(**errors)
    numpy.set_printoptions(**printed)


def replace_letters() -> None:
    """Let the terminal show ? for a letter that its encoding lacks."""
    for stream in (sys.stdout, sys.stderr):
        # A test's, or a notebook's, may have no encoding.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
