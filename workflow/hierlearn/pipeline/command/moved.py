"""What modules and attributes were called before the package was parted into a library and a workflow."""

import re
from pathlib import Path

from hierlearn.pipeline.files import texts

MEASUREMENTS = ("probes", "experiments")
PIPELINE = ("plan", "claims", "files", "run", "command", "figures", "quantities", "schemas")
READERS = ("digits", "cifar", "pickles")
NAMES = {
    "core.boundary": "core.contracts",
    "solvers.in_place": "solvers.blas_inplace",
    **{f"files.{name}": f"inputs._{name}" for name in READERS},
    **{name: f"pipeline.{name}" for name in PIPELINE},
    **{name: "pipeline.measurements" for name in MEASUREMENTS},
}
WORDS = "|".join(name.replace(".", "[./]") for name in NAMES)
FORMER = re.compile(rf"\bhierlearn([./])({WORDS})\b(?!\()")

# What learners were fitted on was a problem, with the truth behind its labels.
ATTRIBUTES = {"sample.problem.teacher.kind": "sample.data.kind", "sample.problem": "sample.data"}


def update(file: Path) -> bool:
    """Rewrite the names of modules, schemas and attributes in a file, and return whether there were any to rewrite."""
    before = file.read_text(encoding="utf-8")
    now = FORMER.sub(_present, before)
    for name, present in ATTRIBUTES.items() if file.suffix == ".py" else ():
        now = now.replace(name, present)
    if now != before:
        texts.put(file, now)
    return now != before


def _present(found: re.Match[str]) -> str:
    separator, name = found.groups()
    return f"hierlearn{separator}{NAMES[name.replace('/', '.')].replace('.', separator)}"
