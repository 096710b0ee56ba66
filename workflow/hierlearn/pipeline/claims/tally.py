"""Counts of a ledger's rows by kind, scope and result, the promises that its rows break, and another run's rows."""

import csv
import io
import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hierlearn.core.words import reason
from hierlearn.pipeline.claims.ledger import COLUMNS, as_text, from_json
from hierlearn.pipeline.claims.verdicts import MARKS, RESULTS, SEEN, light, result, scope
from hierlearn.pipeline.files import checksums, results

CHECK, DESCRIPTION = "check", "description"
# A check is true by construction and a description has no rule, so that neither counts for or against a paper.
NO_EVIDENCE = (CHECK, DESCRIPTION)
NOT_DECIDED = ("inconclusive", "vacuous")
# Outcomes of a control that is none.
WITHOUT_CONTROL = ("", "missing")
NUMBERS = ("value", "low", "high")
COMPARED = ("claim", "preset", "verdict", *NUMBERS)
NEEDED = ("claim", "kind", "rank", "regime", "verdict", "control_verdict", "digest", "draw")

Row = Mapping[str, str]


def read(file: str | os.PathLike, needed: Sequence[str] = NEEDED) -> list[dict[str, str]]:
    """The rows of a claims.csv. Raises ValueError, one line, where there is no file, it lacks a column, or it is not
    the one that the checksum beside it was written for."""
    file = Path(file)
    if not file.is_file():
        raise ValueError(f"{file}: found no ledger; expected that of a run, which ends with it")
    content = checksums.read(file)
    try:
        reader = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""))
        columns, rows = reader.fieldnames or (), list(reader)
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{file}: found no table, {reason(error)}; expected that of a run") from error
    if missing := [column for column in needed if column not in columns]:
        raise ValueError(f"{file}: found no column {', '.join(missing)}; expected that of a run with this code")
    return rows


def judged(file: str | os.PathLike) -> list[dict[str, str]]:
    """Return the rows of a study's claims.json in the words of claims.csv. Raises ValueError, one line, where it is
    damaged or of other columns."""
    try:
        return [as_text(from_json({name: row[name] for name in COLUMNS})) for row in results.read_claims(file)]
    except KeyError as error:
        raise ValueError(f"{file}: found no column {error.args[0]}; expected a run with this code") from error


def other_run(file: str | os.PathLike) -> dict[str, dict[str, Any]]:
    """What another run has of its rows, by claim: `COMPARED`, numbers as float, NaN where there are none.

    Raises ValueError, one line, where the file is no such table.
    """
    rows, found = read(file, COMPARED), {}
    for i, row in enumerate(rows, start=2):
        one = {name: row[name] or "" for name in COMPARED}
        for name in NUMBERS:
            try:
                one[name] = float(one[name] or "nan")
            except ValueError as error:
                raise ValueError(f"{file}: found {name} {one[name]!r} on line {i}; expected a number") from error
        found[one["claim"]] = one
    return found


def comparison(rows: Sequence[Any], file: str) -> dict[str, Any]:
    """Rows of the ledger beside those of another run's claims.csv. Raises ValueError, one line, where it is none.

    name: where that table lies; preset: of the other run; shared, here, there: how many rows both have, and each alone;
    changed: what the other run has of rows with another result, beside the `row` of this one, primary rows first.
    """
    others = other_run(file)
    shared = [row for row in rows if row.claim in others]
    changed = [
        others[row.claim] | {"row": row} for row in shared if _another(others[row.claim]["verdict"], row.verdict)
    ]
    return {
        "name": file,
        "preset": ", ".join(sorted({other["preset"] for other in others.values()})),
        "shared": len(shared),
        "here": len(rows) - len(shared),
        "there": len(others) - len(shared),
        "changed": sorted(changed, key=lambda one: one["row"].rank != "primary"),
    }


def _another(word: str, other: str) -> bool:
    """Whether two words of files are other results. A word that is not known is other than all that are."""
    return MARKS.get(word, word) != MARKS.get(other, other)


def is_exact(row: Row) -> bool:
    """Return whether nothing in a judged row is random, so that it needs no second draw."""
    return bool(row["verdict"]) and bool(row["value"]) and row["low"] == row["value"] == row["high"]


def counts(rows: Sequence[Row], seen: Collection[str] = ()) -> Iterator[str]:
    """Lines of a table: rows and primary rows by kind, scope and result; checks last, as they are no evidence.

    seen: claims whose limit a result suggested, which are counted apart from their kinds.
    """
    kinds = [SEEN if row["claim"] in seen else row["kind"] for row in rows]
    keys = [
        (kind, scope(row["kind"], row["regime"]), result(row["verdict"])) for kind, row in zip(kinds, rows, strict=True)
    ]
    found = Counter(keys)
    primary = Counter(key for key, row in zip(keys, rows, strict=True) if row["rank"] == "primary")
    yield f"{'kind':<12} {'scope':<14} {'result':<10} {'rows':>5} {'primary':>8}"
    words = list(RESULTS.values())
    for key in sorted(found, key=lambda key: (key[0] in (SEEN, *NO_EVIDENCE), *key[:2], words.index(key[2]))):
        kind, within, found_word = key
        yield f"{kind:<12} {within:<14} {found_word:<10} {found[key]:>5} {primary[key] or '':>8}"
    judged = [row for row in rows if row["kind"] not in NO_EVIDENCE and row["rank"] == "primary"]
    decided = sum(row["verdict"] not in NOT_DECIDED for row in judged)
    yield f"{len(rows)} rows; {decided} of {len(judged)} primary rows are decided, checks apart"
    if exact := sum(map(is_exact, rows)):
        yield f"{exact} {'row is' if exact == 1 else 'rows are'} exact: nothing is random there, and one draw is enough"


def breaches(rows: Sequence[Row]) -> Iterator[str]:
    """One line for every kind of broken promise: how many rows break it, and which."""
    judged = [row for row in rows if row["kind"] != DESCRIPTION]
    open_ = [row["claim"] for row in judged if row["kind"] != CHECK and row["control_verdict"] in WITHOUT_CONTROL]
    # A pilot is not judged for the record.
    unregistered = [row["claim"] for row in judged if not row["digest"] and row["draw"] != "pilot"]
    for names, what in ((open_, "without a control"), (unregistered, "on a design that is not registered")):
        if names:
            named = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
            yield f"{len(names)} rows judged {what}: {named}"


def outcome(rows: Sequence[Row]) -> str:
    """What was found of a study in one line: primary rows by their results, others by their marks alone, checks and
    descriptions apart."""
    judged = [row for row in rows if row["kind"] not in NO_EVIDENCE]
    primary = Counter(MARKS[row["verdict"]] for row in judged if row["rank"] == "primary")
    others = Counter(MARKS[row["verdict"]] for row in judged if row["rank"] != "primary")
    failed = sum(row["kind"] == CHECK and MARKS[row["verdict"]] != "✓" for row in rows)
    first = ", ".join(f"{mark} {primary[mark]} {word}" for mark, word in RESULTS.items() if primary[mark])
    second = " ".join(f"{mark} {others[mark]}" for mark in RESULTS if others[mark])
    parts = first and f"primary {first}", second and f"secondary {second}", failed and f"{failed} checks fail"
    rest = [(sum(row["kind"] == kind for row in rows), kind) for kind in NO_EVIDENCE]
    told = ", ".join(f"{count} {kind}{'s' * (count > 1)}" for count, kind in rest if count)
    return "; ".join(filter(None, parts)) or told or "no rows"


def by_kind(rows: Sequence[Row]) -> Iterator[str]:
    """A line for every kind: how many rows have which result, and how many of these are primary."""
    for kind in dict.fromkeys([*(row["kind"] for row in rows if row["kind"] not in NO_EVIDENCE), CHECK]):
        own = [row for row in rows if row["kind"] == kind]
        found = Counter(MARKS[row["verdict"]] for row in own if row["verdict"])
        told = ", ".join(f"{mark} {found[mark]} {word}" for mark, word in RESULTS.items() if found[mark])
        primary = sum(row["rank"] == "primary" for row in own)
        if own:
            yield f"{kind:<12}{told}" + (f" ({primary} primary)" if primary else "")


def unconvincing(rows: Sequence[Row], stored: Mapping[str, str] = MappingProxyType({})) -> Iterator[str]:
    """A line for every primary row that failed, was not decided, or has a control that passes too. stored: the stored
    outcomes, each behind its mark, beside which the results of a run's draw stand, by claim."""
    primary = [row for row in rows if row["rank"] == "primary" and row["verdict"] and MARKS[row["verdict"]] != "✓"]
    width = max((len(light(row["verdict"], is_exact(row))) for row in primary), default=0)
    for row in sorted(primary, key=lambda row: list(RESULTS).index(MARKS[row["verdict"]])):
        beside = f"; stored: {stored[row['claim']]}" if row["claim"] in stored else ""
        told = f"{light(row['verdict'], is_exact(row)):<{width}}"
        yield f"{told}  {row['claim']} ({row['study']}, {row['place']}){beside}"
