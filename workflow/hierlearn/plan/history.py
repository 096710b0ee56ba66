"""Verdicts of registered designs, kept line by line: a claim whose design was revised shows what was found before."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from pathlib import Path

from hierlearn.plan import kept_lines
from hierlearn.plan.faults import Fault
from hierlearn.plan.study import Study

NAME = "verdicts.csv"
FILE = f"config/{NAME}"


@dataclass(frozen=True)
class Verdict:
    """A verdict with its interval, as claims.csv has it, and the registered design and draw that it is of."""

    claim: str
    study: str
    preset: str
    revision: str
    draw: str
    digest: str
    verdict: str
    value: str
    low: str
    high: str

    def __str__(self) -> str:
        interval = f" [{self.low}, {self.high}]" if self.low and self.high else ""
        return f"{self.verdict}, {self.value or '–'}{interval}"


COLUMNS = tuple(field.name for field in fields(Verdict))


def read(file: Path, name: str = FILE) -> tuple[list[Verdict], list[Fault]]:
    """The lines of verdicts.csv and its faults. name: what messages call it."""
    lines, faults = kept_lines.read(file, name, COLUMNS, lambda row: all(row[:7]) and row[3].isdigit())
    return [Verdict(*row) for _, row in lines], faults


def new(rows: Iterable[Mapping[str, str]], known: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts of a claims.csv that are of registered designs and not known yet."""
    found = [Verdict(*(row[name] for name in COLUMNS)) for row in rows if row["digest"] and row["verdict"]]
    return [one for one in found if one not in known]


def earlier(study: Study, lines: Iterable[Verdict]) -> dict[str, str]:
    """What was found of every claim at earlier revisions of a study's preset, each with why it was revised."""
    found: dict[str, dict[tuple[int, str], Verdict]] = {}
    for line in lines:
        if (line.study, line.preset) == (study.name, study.preset) and int(line.revision) < study.revision:
            # The last line of a draw counts: code may have changed since the one before.
            found.setdefault(line.claim, {})[int(line.revision), line.draw] = line
    reasons = study.revisions.get(study.preset, [])
    return {claim: "; ".join(_told(known, reasons)) for claim, known in found.items()}


def _told(known: Mapping[tuple[int, str], Verdict], reasons: Sequence[str]) -> Iterator[str]:
    """The verdicts of one claim by revision and draw; why a design was revised stands once, behind all of its draws."""
    for revision, lines in groupby(sorted(known.items()), key=lambda one: one[0][0]):
        yield from (f"revision {revision}{_replicate(draw)}: {line}" for (_, draw), line in lines)
        yield f"revised: {reasons[revision]}"


def _replicate(draw: str) -> str:
    """What tells a replicate from the first draw."""
    return f", {draw.rpartition('/')[2]}" if draw.count("/") == 3 else ""
