"""Which systems the workflow runs on; the library asks for none."""

import os
import sys


def refuse_windows() -> None:
    """End the program with one line on Windows: a run locks files and sends signals as POSIX has it."""
    if os.name == "nt":
        sys.exit("error: system: found Windows; expected Linux or macOS, or Windows' Subsystem for Linux")
