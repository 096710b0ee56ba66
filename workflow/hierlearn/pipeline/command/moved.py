"""What modules, attributes and methods were called once, and how a user's files are given their present names."""

import re
from pathlib import Path

from hierlearn.core.component import FORMER_METHODS
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
# A method where it is defined or called.
METHOD = re.compile(rf"(?<=def )({'|'.join(FORMER_METHODS)})(?=\()|(?<=[\w)\]]\.)({'|'.join(FORMER_METHODS)})(?=\()")


def update(file: Path) -> bool:
    """Rewrite the names of modules, schemas and attributes in a file, and return whether there were any to rewrite."""
    before = file.read_text(encoding="utf-8")
    now = FORMER.sub(_present, before)
    if file.suffix == ".py":
        for name, present in ATTRIBUTES.items():
            now = now.replace(name, present)
        now = METHOD.sub(lambda found: FORMER_METHODS[found.group()], now)
        if "hierlearn.core.protocols" in now:
            now = re.sub(r"\bSample\b(?! \w)", "TrainingData", now)
    if now != before:
        texts.put(file, now)
    return now != before


def _present(found: re.Match[str]) -> str:
    separator, name = found.groups()
    return f"hierlearn{separator}{NAMES[name.replace('/', '.')].replace('.', separator)}"
