"""Where modules lay before the package was parted into a library and a workflow, for files that still name them so."""

import re
from pathlib import Path

from hierlearn.pipeline.files import texts

MEASUREMENTS = ("probes", "experiments")
PIPELINE = ("plan", "claims", "files", "run", "command", "figures", "quantities", "schemas")
READERS = ("digits", "cifar", "pickles")
NAMES = {
    **{f"files.{name}": f"inputs._{name}" for name in READERS},
    **{name: f"pipeline.{name}" for name in PIPELINE},
    **{name: "pipeline.measurements" for name in MEASUREMENTS},
}
WORDS = "|".join(name.replace(".", "[./]") for name in NAMES)
FORMER = re.compile(rf"\bhierlearn([./])({WORDS})\b(?!\()")


def update(file: Path) -> bool:
    """Rewrite the names of modules and schemas in a file, and return whether there were any to rewrite."""
    before = file.read_text(encoding="utf-8")
    now = FORMER.sub(_present, before)
    if now != before:
        texts.put(file, now)
    return now != before


def _present(found: re.Match[str]) -> str:
    separator, name = found.groups()
    return f"hierlearn{separator}{NAMES[name.replace('/', '.')].replace('.', separator)}"
