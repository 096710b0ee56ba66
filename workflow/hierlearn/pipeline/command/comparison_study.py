"""The study that does on a cluster what `hierlearn compare` does here, as far as the workflow has the learners."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hierlearn.core import registry
from hierlearn.core.words import show

# Ridges of each learner, as many as a word of the library has settings.
KERNEL_RIDGES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
TAYLOR_RIDGES = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
LINEAR_RIDGES = (10.0, 1.0, 1e-1, 1e-2, 1e-3, 1e-4)
# Neurons of a Taylor model, as of `hierlearn.estimators`.
WIDTH = 64
# Rows for each direction of a whitened representation, and its features.
ROWS_PER_DIRECTION, FEATURES = 8, 256
# Training sizes that halve from the largest.
POINTS, SMALLEST = 5, 20


def write(folder: Path, name: str, given: dict[str, Any], learners: Sequence[str], seeds: int, sizes: Any) -> Path:
    """Write a study of a table into a folder of one's own; return its file.

    given: parameters of the input `table`. sizes: training rows, or None for halves of the largest. Raises ValueError,
    one line, for a learner that the workflow lacks, sizes beyond the rows, and a study that is there already.
    """
    file = folder / "studies" / f"{name}.yaml"
    if file.exists():
        raise ValueError(f"{file}: found a study; expected another folder, or none of that name")
    table: Any = registry.build("inputs", {"name": "table", **given, "dimension": 1})
    counted = table.finite()
    most, columns = counted["training"], counted["dimension"]
    chosen = sorted(set(sizes or _halves(most)))
    if not 1 <= chosen[0] <= chosen[-1] <= most:
        raise ValueError(f"--sizes: found {chosen}; expected 1 to {most}, the rows but for validation and test points")
    text = _text(name, given, [_learner(word, columns, chosen) for word in learners], seeds, chosen)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def _halves(most: int) -> list[int]:
    sizes = [most]
    while len(sizes) < POINTS and sizes[0] // 2 >= SMALLEST:
        sizes.insert(0, sizes[0] // 2)
    return sizes


def _learner(word: str, columns: int, sizes: Sequence[int]) -> str:
    """Return the lines of a learner: parameters, and ridges among which validation points decide."""
    # The input gives every column variance 1: bandwidths grow with the root of d, and biases are small beside relu's
    # features, which have linear ones among them.
    # Of points x with |x|^2 = d a quadratic model has weights smaller by its root; their fourth powers are penalised.
    wide = [ridge * columns**2 for ridge in TAYLOR_RIDGES]
    known = {
        "ntk": ("{name: kernel_ridge, kernel: {name: ntk, depth: 2}}", KERNEL_RIDGES, ""),
        "quad-neural": (f"{{name: taylor, order: 2, width: {WIDTH}}}", TAYLOR_RIDGES, "neural"),
        "quad": (f"{{name: taylor, order: 2, width: {WIDTH}}}", wide, ""),
        "rbf": (f"{{name: kernel_ridge, kernel: {{name: rbf, bandwidth: {columns**0.5:.3g}}}}}", KERNEL_RIDGES, ""),
        "ridge": ("{name: linear}", LINEAR_RIDGES, ""),
    }
    if word not in known:
        raise ValueError(f"--workflow: found the learner {show(word)}; expected one of {', '.join(known)}")
    learner, ridges, representation = known[word]
    listed = ", ".join(f"{ridge:.1e}" for ridge in ridges)
    lines = [f"  {word}:", f"    label: {word}", f"    learner: {learner}"]
    lines += [f"    representation: {representation}"] if representation else []
    return "\n".join([*lines, f"    select: {{ridge: [{listed}]}}", f"    samples: {{at: {list(sizes)}}}"])


def _text(name: str, given: dict[str, Any], learners: Sequence[str], seeds: int, sizes: Sequence[int]) -> str:
    table = json.dumps({"name": "table"} | given, ensure_ascii=False)
    parts = [
        "# Learning curves on a table of your own: what `hierlearn compare` does, as jobs of a cluster. Two things",
        "# differ: ridges are chosen on rows that are not trained on afterwards, and Taylor models have no intercept,",
        "# which costs `quad` the linear part of a target.",
        f"title: {json.dumps(f'Learning curves: {name}', ensure_ascii=False)}",
        f"problem: {{input: {table}}}",
        "# Every seed is another split of the rows.",
        f"seeds: {seeds}",
    ]
    if any("representation: neural" in text for text in learners):
        directions = max(1, min(FEATURES, sizes[-1] // ROWS_PER_DIRECTION))
        neural = f"name: neural, features: relu, count: {FEATURES}, whiten: truncated, directions: {directions}"
        parts += ["representations:", f"  neural: {{{neural}, unlabelled: {max(2, sizes[-1])}}}"]
    return "\n".join([*parts, "learners:", *learners, ""])
