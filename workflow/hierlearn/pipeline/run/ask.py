"""A question asked from Python: the workflow compares learners on a target, and its scores come back."""

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hierlearn.core import folders
from hierlearn.core.limits import TYPES, plain
from hierlearn.core.provenance import PACKAGE
from hierlearn.core.words import show
from hierlearn.pipeline.files import cubes

ROOT = PACKAGE.parents[1]
# The keys of a question that are numbers of something.
COUNTS = ("dimension", "seeds", "cap")


def ask(
    teacher: Mapping[str, Any],
    learners: str | Mapping[str, Any] | Iterable[Any],
    dimension: int | Iterable[int],
    cores: int | None = None,
    **more: Any,
) -> Any:
    """Ask how learners do on a teacher: their scores as an xarray Dataset.

    The page is results/question/quick/my-question/index.html. The arguments are those of the key `question` of the
    configuration: learners by name, or mappings of their parameters; more: input, seeds, threshold, cap, and `own`, the
    folders of one's own. One of something needs no list, and numbers may be numpy's. Raises ValueError for what no file
    can say, RuntimeError with the lines that say what is wrong. Needs the checkout with the workflow, in an environment
    with Snakemake.
    """
    own = [os.fspath(folders.path(folder, "own")) for folder in _several(more.pop("own", []))]
    cores = plain(os.cpu_count() or 1 if cores is None else cores)
    if not TYPES["integer"](cores) or cores < 1:
        raise ValueError(f"cores: found {show(cores)}; expected an integer of at least 1, or None for all")
    question = {"teacher": plain(teacher), "learners": _several(learners), "dimension": _several(dimension)}
    question |= plain(more)
    for place, found in _unsayable(question, "question"):
        raise ValueError(f"{place}: found {show(found)}; expected what a file can say: texts, finite numbers, lists")
    question |= {key: _counted(question[key]) for key in COUNTS if key in question}
    given = [f"question={json.dumps(question)}", f"own={json.dumps(own)}"]
    words = ["--snakefile", str(ROOT / "Snakefile"), "--workflow-profile", str(ROOT / "profiles" / "default")]
    words += ["--cores", str(cores), "--config", *given]
    done = subprocess.run(
        [sys.executable, "-P", "-m", "snakemake", *words],
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
        encoding="utf-8",
        errors="replace",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode:
        lines = done.stdout.splitlines()
        raise RuntimeError("\n".join([line for line in lines if line.startswith("error:")] or lines[-20:]))
    return cubes.load(Path("results/question/quick/my-question/scores.nc"))


def _unsayable(value: Any, at: str) -> Iterator[tuple[str, Any]]:
    """(place, value) of what no file can say; value: in the types that files have, if it can be."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _unsayable(part, f"{at}.{key}") if isinstance(key, str | int) else [(at, key)]
    elif isinstance(value, list):
        for i, part in enumerate(value):
            yield from _unsayable(part, f"{at}[{i}]")
    elif isinstance(value, str):
        # Half of a letter, as Python has it of a file's name in another encoding.
        if any("\ud800" <= letter <= "\udfff" for letter in value):
            yield at, value
    elif not (value is None or isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))):
        yield at, value


def _counted(value: Any) -> Any:
    """Whole numbers as integers, as arithmetic has made them others."""
    if isinstance(value, list):
        return [_counted(part) for part in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _several(value: Any) -> list[Any]:
    """A list of what is one or several, in the types that files have."""
    value = plain(value)
    return value if isinstance(value, list) else [value]
