"""`hierlearn compare`: learners on a file of your own, without a workflow. Prints the table, writes csv and figure."""

import re
import shlex
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np

from hierlearn.comparison.compare import LEARNERS, run
from hierlearn.comparison.data import Data, check
from hierlearn.comparison.splits import TEST_SHARE
from hierlearn.datasets import Table, read_table


def compare(asked: Namespace) -> None:
    """Compare learners on a table. Raises ValueError, one line, for files, columns and options that are not allowed."""
    if asked.workflow is not None:
        _write_study(asked)
        return
    name = _stem(asked.file)
    stem = Path(asked.out or f"{name}-comparison")
    files = [stem.with_name(f"{stem.name}.{ending}") for ending in ("csv", "png")]
    if not stem.parent.is_dir():
        raise ValueError(f"--out: found no folder {stem.parent}; expected one that is there")
    has_own = asked.test == "file"
    table = read_table(asked.file, asked.target, asked.columns, kind=asked.kind or "auto", test=has_own)
    share = 0.0 if has_own else _share(asked.test)
    splits, seed = 5 if asked.splits is None else asked.splits, asked.seed or 0
    found = run(of_table(table), asked.learners or LEARNERS, share, asked.sizes, splits, asked.error, seed, _say, name)
    print(found)
    found.to_csv(files[0])
    try:
        found.plot(files[1])
    except ImportError as error:
        files.pop()
        _say(f"note: {error}")
    print(f"written: {', '.join(map(str, files))}")


def _write_study(asked: Namespace) -> None:
    """Write the study that does the same on a cluster, and say how to run it."""
    # Imported where it is used: the comparison itself does without the workflow.
    from hierlearn.pipeline.command import comparison_study

    has_own = asked.test == "file"
    read_table(asked.file, asked.target, asked.columns, kind=asked.kind or "auto", test=has_own)
    given: dict[str, Any] = {"file": asked.file, "target": asked.target, "columns": asked.columns, "kind": asked.kind}
    given |= {"test": "file"} if has_own else {"share": _share(asked.test)}
    stated = {key: value for key, value in given.items() if value is not None}
    # What a study may be called: small letters, digits and hyphens.
    plain = re.sub(r"[^a-z0-9]+", "-", _stem(asked.file).lower())[:40].strip("-")
    name, folder = f"{plain or 'table'}-comparison", Path(asked.workflow)
    learners, seeds = asked.learners or LEARNERS, 5 if asked.splits is None else asked.splits
    if seeds < 1:
        raise ValueError(f"--splits: found {seeds}; expected a whole number of at least 1")
    file = comparison_study.write(folder, name, stated, learners, seeds, asked.sizes)
    own = shlex.quote(str(folder))
    print(f"{file}: run it by hierlearn run {name} --own {own}; docs/cluster.md says how on a cluster")


def of_table(table: Table) -> Data:
    """Return the rows of a file as a comparison takes them, classes by their names."""
    y: Any = np.array(table.classes)[table.y] if table.classes else table.y.reshape(len(table.y), -1)
    kind, count = "classes" if table.classes else "regression", len(table.x) - table.test
    own = (table.x[count:], y[count:]) if table.test else None
    return check(table.x[:count], y[:count], kind, own, list(table.names))


def _share(text: str | None) -> float:
    if text is None:
        return TEST_SHARE
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found < 1:
        raise ValueError(f"--test: found {text!r}; expected a share between 0 and 1, or file")
    return found


def _stem(file: str) -> str:
    """Return a file's name without its endings."""
    return Path(file.rstrip("/")).name.removesuffix(".gz").rpartition(".")[0] or Path(file).name


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
