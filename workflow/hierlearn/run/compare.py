"""A comparison of learners from Python: the workflow runs it, its scores come back."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hierlearn.core.limits import plain
from hierlearn.core.provenance import PACKAGE
from hierlearn.files import cubes

ROOT = PACKAGE.parents[1]


def compare(
    teacher: Mapping[str, Any],
    learners: str | Mapping[str, Any] | Iterable[Any],
    dimension: int | Iterable[int],
    cores: int | None = None,
    **more: Any,
) -> Any:
    """Scores of learners on a teacher as an xarray Dataset; the page is results/question/quick/index.html.

    The arguments are those of the key `question` of the configuration: learners by name, or mappings of their
    parameters; more: input, seeds, threshold, cap, and `own`, the folders of one's own. One of something needs no list,
    and numbers may be numpy's. Raises ValueError for what no file can say, RuntimeError with the lines that say what is
    wrong. Needs the checkout with the workflow, in an environment with Snakemake.
    """
    own = [os.fspath(folder) for folder in _several(more.pop("own", []))]
    question = {"teacher": plain(teacher), "learners": _several(learners), "dimension": _several(dimension)}
    if cores is not None and cores < 1:
        raise ValueError(f"cores: found {cores}; expected at least 1, or None for all")
    try:
        asked = json.dumps(question | plain(more), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"question: found a value that no file can say ({error}); expected texts and numbers"
        ) from error
    given = [f"question={asked}", f"own={json.dumps(own)}"]
    words = ["--snakefile", str(ROOT / "Snakefile"), "--workflow-profile", str(ROOT / "profiles" / "default")]
    words += ["--cores", str(cores or os.cpu_count()), "--config", *given]
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


def _several(value: Any) -> list[Any]:
    """A list of what is one or several, in the types that files have."""
    value = plain(value)
    return value if isinstance(value, list) else [value]
