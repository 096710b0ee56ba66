"""Judges the rows of a study again from what they were judged from, without a run: `hierlearn judge`."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hierlearn.core import registry
from hierlearn.core.words import show
from hierlearn.pipeline.claims import asked, evidence, outcomes
from hierlearn.pipeline.claims.outcomes import Draw
from hierlearn.pipeline.claims.verdicts import light
from hierlearn.pipeline.command import recording
from hierlearn.pipeline.plan import history

# Of a first draw, of a second one of the same designs, and the rows that were stored of the first.
FIRST, SECOND, ROWS = "judged.nc", "judged-2.nc", "claims.json"
NUMBERS = tuple(f"{side}{name}" for side in ("", "control_") for name in ("value", "low", "high"))
WORDS = ("verdict", "control_verdict")
# As claims.csv and verdicts.csv have numbers.
DIGITS = 1e-5
# The method of an interval whose draws are counted together.
SHARES = "exact binomial"

Row = Mapping[str, Any]


def lines(paths: Sequence[Path]) -> tuple[list[str], bool]:
    """Return what to print of some files or folders of studies, and whether a row differs from what is stored.

    Raises ValueError, one line, where there is no such file or it is none of these.
    """
    told, differs = [], False
    for path in paths:
        file = path / FIRST if path.is_dir() else path
        if not file.is_file():
            raise ValueError(f"{file}: found no file; expected {FIRST} of a study, or the study's folder")
        study, rows = judged(file)
        told += [f"{study['name']}, preset {study['preset']}, draw {study.get('draw') or 'none'}:", *map(_told, rows)]
        if file.name == FIRST:
            other = differing(rows, file.with_name(ROWS))
            told += [f"  {line}" for line in other] or [f"  {len(rows)} rows, all as stored in {ROWS}"]
            differs |= bool(other)
            second = file.with_name(SECOND)
            told += [f"  {line}" for line in of_two(rows, judged(second)[1])] if second.is_file() else []
    return told, differs


def judged(file: Path) -> tuple[Row, list[Row]]:
    """Return the study that a file is of, and its rows as they are judged from the file alone."""
    said, found = evidence.read(file)
    rows = evidence.rows(said, found)
    methods = {name: claim["quantity"]["name"] for name, claim in said["claims"].items()}
    return said["study"], [row | {"quantity": methods[row["claim"]]} for row in rows]


def differing(rows: Sequence[Row], file: Path) -> list[str]:
    """Return a line for every row that differs in a number or a word from a claims.json, none if there is no file."""
    if not file.is_file():
        return []
    stored = {row["claim"]: row for row in json.loads(file.read_text(encoding="utf-8"))["rows"]}
    found = [f"{row['claim']}: stored in {file.name} as another row" for row in rows if row["claim"] not in stored]
    for row in rows:
        known = stored.get(row["claim"], row)
        for name in (*WORDS, *NUMBERS):
            if not _same(row[name], known[name]):
                found.append(f"{row['claim']}: {name} is {show(row[name])}, stored as {show(known[name])}")
    return found


def of_two(first: Sequence[Row], second: Sequence[Row]) -> Iterator[str]:
    """Yield the outcome of every row that two draws of one design have."""
    root = registry.PACKAGE.parents[1]
    designs = asked.designs(history.read(root / history.FILE)[0])
    others = {(row["claim"], row["digest"]): row for row in second}
    for row in first:
        other = others.get((row["claim"], row["digest"]))
        if other is None or row["rule"] == "descriptive":
            continue
        attempts = max(1, designs.get(row["claim"], 1))
        limit = row["rule"], row["predicted"], row["slack"], row["side"] or "above"
        results = [_result(limit, pair, attempts) for pair in zip(drawn(row), drawn(other), strict=True)]
        own, rivals = results[0], [one for one in results[1:] if one]
        word = outcomes.outcome(own or outcomes.UNDECIDED, rivals)
        yield f"{asked.marked(word):<12} {row['claim']}, two draws at {100 * outcomes.level(attempts):.2f} %"


def drawn(row: Row) -> tuple[Draw | None, Draw | None]:
    """Return the draw of a row and that of its rival, None for what has no interval."""
    method = registry.implementation("quantities", row["quantity"]).METHOD
    detail, of_rival = row["detail"], row["detail"].get("control", {})
    freedoms = (
        recording.freedom(method, row["seeds"], detail.get("dof")),
        recording.freedom(method, of_rival.get("seeds", 0), of_rival.get("dof")),
    )
    counts = (row["seeds"], of_rival.get("seeds", 0)) if method == SHARES else (0, 0)
    overlap = row["seeds"] * detail.get("split_ratio", 0.0)
    found = []
    for side, freedom, trials in zip(("", "control_"), freedoms, counts, strict=True):
        numbers = [row[f"{side}{name}"] for name in ("value", "low", "high")]
        whole = all(number is not None for number in numbers)
        found.append(
            Draw(*numbers, float(freedom) if freedom else math.inf, trials, overlap / (1 + overlap)) if whole else None
        )
    return found[0], found[1]


def _result(limit: tuple[str, float, float | None, str], pair: tuple[Draw | None, Draw | None], attempts: int) -> str:
    """What two draws come to; "" where neither was measured."""
    known = [draw for draw in pair if draw is not None]
    if len(known) < 2:
        return outcomes.UNDECIDED if known else ""
    rule, predicted, slack, side = limit
    return outcomes.result(rule, known, predicted, slack, side, outcomes.level(attempts))[0]


def _told(row: Row) -> str:
    value, low, high = ("–" if row[name] is None else f"{row[name]:.3g}" for name in ("value", "low", "high"))
    return f"  {light(row['verdict']) or '(–)':<14} {row['claim']}: {value} [{low}, {high}]"


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=DIGITS, abs_tol=1e-12)
    return bool(one == other)
