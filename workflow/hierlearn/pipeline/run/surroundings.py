"""What surrounds a run: the variables of its jobs, and what would end it with a traceback."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from hierlearn.core import process
from hierlearn.core.words import reason, show
from hierlearn.pipeline.run.job import MEMORY_VARIABLES


def put_in_order(workflow: Path) -> None:
    """Let every job find the package, and give equal bytes even where a library writes the words of a set.

    No file of the folder that a run is started in hides a library from its jobs, and what is said reaches any terminal.
    """
    paths = [str(workflow), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    os.environ["PYTHONHASHSEED"] = "0"
    # What a library warns of as Python starts or ends is no fault of a job's.
    os.environ.pop("PYTHONWARNINGS", None)
    for name, value in {"PYTHONSAFEPATH": "1", **MEMORY_VARIABLES}.items():
        os.environ.setdefault(name, value)
    process.restore()
    process.replace_letters()
    if surroundings := sorted(_hopeless(workflow)):
        sys.exit("\n".join(f"error: {line}" for line in surroundings))


def _hopeless(workflow: Path) -> Iterator[str]:
    """What surrounds a run and would end it with a traceback, a line each."""
    # Snakemake fills braces in the paths of scripts and environments; PYTHONPATH is a list of folders.
    if found := {"{", "}", os.pathsep} & set(str(workflow)):
        path, letters = show(str(workflow.parent)), " and ".join(sorted(found))
        yield f"path of the project: found {letters} in {path}; expected a path without {{, }} and {os.pathsep}"
    # Python marks each such letter with a surrogate, which no file of text can hold.
    for place in sorted({str(workflow.parent), os.getcwd()}):
        if any("\ud800" <= letter <= "\udfff" for letter in place):
            encoding = sys.getfilesystemencoding()
            yield f"path {show(place)}: found letters that {encoding} lacks; expected PYTHONUTF8=1 or a locale of UTF-8"
    # matplotlib reads one that lies here before all others, and fails where it cannot.
    settings = Path("matplotlibrc")
    try:
        settings.read_text(encoding="utf-8") if settings.is_file() else None
    except (OSError, UnicodeDecodeError) as error:
        yield f"{settings}: found a file that cannot be read ({reason(error)}); expected UTF-8"
