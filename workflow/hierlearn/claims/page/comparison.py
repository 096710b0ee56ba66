"""Two runs side by side: the rows that have another verdict in the claims.csv of the other."""

from collections.abc import Sequence
from dataclasses import dataclass

from hierlearn.claims.ledger import Row
from hierlearn.claims.tally import NUMBERS, other_run


@dataclass(frozen=True)
class Change:
    """A row of this run, and what the other has of it; numbers are NaN where there are none."""

    row: Row
    verdict: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Comparison:
    """name: where the other run's table lies; preset: of the other run; shared, here, there: how many rows both have,
    and each alone; changed: primary rows first."""

    name: str
    preset: str
    shared: int
    here: int
    there: int
    changed: Sequence[Change]


def comparison(rows: Sequence[Row], file: str) -> Comparison:
    """Compares rows with those of a claims.csv. Raises ValueError, one line, where it is none."""
    others = other_run(file)
    shared = [row for row in rows if row.claim in others]
    changed = [
        Change(row, other["verdict"], *(other[name] for name in NUMBERS))
        for row in shared
        if (other := others[row.claim])["verdict"] != row.verdict
    ]
    changed.sort(key=lambda one: one.row.rank != "primary")
    presets = ", ".join(sorted({other["preset"] for other in others.values()}))
    alone = len(rows) - len(shared), len(others) - len(shared)
    return Comparison(file, presets, len(shared), *alone, changed)
