"""Judges the rows of a study again from what they were judged from, without a run: `hierlearn judge`."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hierlearn.core import registry
from hierlearn.core.words import show
from hierlearn.pipeline.claims import asked, evidence, history, outcomes
from hierlearn.pipeline.claims.outcomes import Draw
from hierlearn.pipeline.claims.tally import CHECK
from hierlearn.pipeline.claims.verdicts import light
from hierlearn.pipeline.command import recording

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
            others = judged(second)[1] if second.is_file() else []
            told += [f"  {line}" for line in of_two(rows, others)]
    return told, differs


def judged(file: Path) -> tuple[Row, list[Row]]:
    """Return the study that a file is of, and its rows as they are judged from the file alone."""
    said, found = evidence.read(file)
    rows = evidence.rows(said, found)
    methods = {name: claim["quantity"]["name"] for name, claim in said["claims"].items()}
    after = {name: claim.get("asked_after", "") for name, claim in said["claims"].items()}
    known = ({"quantity": methods[row["claim"]], "asked_after": after[row["claim"]]} for row in rows)
    return said["study"], [row | one for row, one in zip(rows, known, strict=True)]


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
    """Yield in words the outcome of every row that two draws of one design have, or one draw that is exact."""
    for row, word, attempts in _outcomes(first, second):
        told = "exact" if is_exact(row) else f"two draws at {100 * outcomes.level(attempts):.2f} %"
        yield f"{asked.marked(word):<12} {row['claim']}, {told}"


def current(folder: Path) -> dict[str, str]:
    """Return the outcomes of a stored study by claim, of the rows whose stored draws make one."""
    first, second = folder / FIRST, folder / SECOND
    if not first.is_file():
        return {}
    others = judged(second)[1] if second.is_file() else []
    return {row["claim"]: word for row, word, _ in _outcomes(judged(first)[1], others)}


def _outcomes(first: Sequence[Row], second: Sequence[Row]) -> Iterator[tuple[Row, str, int]]:
    """Every row with two draws of one design, or an exact one, its outcome, and how many designs judged it."""
    root = registry.PACKAGE.parents[1]
    after = {row["claim"]: row["asked_after"] for row in first if row.get("asked_after")}
    designs = asked.designs(history.read(root / history.FILE)[0], after)
    others = {(row["claim"], row["digest"]): row for row in second}
    for row in first:
        other = others.get((row["claim"], row["digest"]))
        if row["rule"] != "descriptive" and (other is not None or is_exact(row)):
            attempts = max(1, designs.get(row["claim"], 1))
            yield row, outcome(row, other, attempts), attempts


def outcome(row: Row, other: Row | None, attempts: int) -> str:
    """Return what two draws of a row come to: the rule for the claim, and for its own rival and all that were added.

    other: the second draw, None where the first is exact. What claim or rivals chose at an end of its list leaves the
    row undecided. attempts: how many designs judged it and all that it is asked after.
    """
    limit = row["rule"], row["predicted"], row["slack"], row["side"] or "above"
    if row["kind"] != CHECK and any(one["detail"].get("edges") for one in (row, other) if one):
        return outcomes.UNDECIDED
    draws = [drawn(one) for one in (row, other) if one]
    own, rival = ([one[side] for one in draws] for side in (0, 1))
    results = [_result(limit, rival, attempts)] if row["control_verdict"] else []
    added = [_of_added(one) for one in (row, other) if one]
    names = dict.fromkeys(name for one in added for name in one)
    results += [_result(limit, [one.get(name) for one in added], attempts) for name in names]
    return outcomes.outcome(_result(limit, own, attempts), results)


def _of_added(row: Row) -> dict[str, Draw | None]:
    """The draws of the rivals that were added beside a row's own, by name; None for what is not measured."""
    method = registry.implementation("quantities", row["quantity"]).METHOD
    return {one["rival"]: _draw(method, one, "", one, _common(row)) for one in row["detail"].get("rivals", ())}


def is_exact(row: Row) -> bool:
    """Return whether nothing in a row is random, so that it needs no second draw."""
    own, _ = drawn(row)
    return own is not None and own.is_exact and not own.trials


def drawn(row: Row) -> tuple[Draw | None, Draw | None]:
    """Return the draw of a row and that of its rival, None for what has no interval."""
    method, detail = registry.implementation("quantities", row["quantity"]).METHOD, row["detail"]
    rival = _draw(method, row, "control_", detail.get("control", {}), _common(row))
    return _draw(method, row, "", {"seeds": row["seeds"], "dof": detail.get("dof")}, _common(row)), rival


def _common(row: Row) -> float:
    """The share of its variance that a draw of a row has in common with another one, of seeds that split one set."""
    overlap = row["seeds"] * row["detail"].get("split_ratio", 0.0)
    return float(overlap / (1 + overlap))


def _draw(method: str, row: Row, side: str, rests_on: Row, common: float = 0.0) -> Draw | None:
    """The draw of a claim or a rival. side: what its columns begin with; rests_on: its seeds and degrees of freedom."""
    numbers = [row[f"{side}{name}"] for name in ("value", "low", "high")]
    if any(number is None for number in numbers):
        return None
    seeds = rests_on.get("seeds", 0)
    freedom = recording.freedom(method, seeds, rests_on.get("dof"))
    return Draw(*numbers, float(freedom) if freedom else math.inf, seeds if method == SHARES else 0, common)


def _result(limit: tuple[str, float, float | None, str], draws: Sequence[Draw | None], attempts: int) -> str:
    """What the draws of a claim or a rival come to: undecided where one of them was not measured."""
    known = [draw for draw in draws if draw is not None]
    if not known or (len(known) < len(draws)):
        return outcomes.UNDECIDED
    rule, predicted, slack, side = limit
    return outcomes.result(rule, known, predicted, slack, side, outcomes.level(attempts))[0]


def _told(row: Row) -> str:
    value, low, high = ("–" if row[name] is None else f"{row[name]:.3g}" for name in ("value", "low", "high"))
    return f"  {light(row['verdict'], is_exact(row)) or '(–)':<14} {row['claim']}: {value} [{low}, {high}]"


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=DIGITS, abs_tol=1e-12)
    return bool(one == other)
