"""What Python, numpy and torch keep for a whole process: as it is shipped, whatever a user's file has set."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
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
    """Forget what was set before the work of this process: the settings of libraries that are loaded, and warnings
    that are errors."""
    _set(_settings(shipped=True))
    if any(action == "error" for action, *_ in warnings.filters):
        warnings.resetwarnings()
        for kind in SILENT:
            warnings.simplefilter("ignore", kind)


@contextmanager
def kept() -> Iterator[None]:
    """Undo what a component's lines set inside; libraries that they load have the settings that they come with."""
    before = _settings()
    try:
        yield
    finally:
        # Most set nothing, and to set is slower than to ask.
        if _settings() != before:
            _set(before)


def _settings(shipped: bool = False) -> tuple[dict[str, str], dict[str, Any], Any]:
    """How numpy meets errors and prints, and torch's default kind of number: as set, or as shipped (None: float32)."""
    # Neither is imported: most processes that come by here compute nothing.
    numpy, torch = (None if shipped else sys.modules.get(name) for name in ("numpy", "torch"))
    errors, printed = (numpy.geterr(), numpy.get_printoptions()) if numpy else (ERRORS, PRINTED)
    return errors, printed, torch.get_default_dtype() if torch else None


def _set(settings: tuple[dict[str, str], dict[str, Any], Any]) -> None:
    errors, printed, number = settings
    if numpy := sys.modules.get("numpy"):
        numpy.seterr(**errors)
        numpy.set_printoptions(**printed)
    if torch := sys.modules.get("torch"):
        torch.set_default_dtype(number or torch.float32)


def replace_letters() -> None:
    """Let the terminal show ? for a letter that its encoding lacks."""
    for stream in (sys.stdout, sys.stderr):
        # A test's, or a notebook's, may have no encoding.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
