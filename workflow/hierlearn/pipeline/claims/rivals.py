"""The rivals of config/rivals.csv: what must fail at each place of a paper, beside the rival that a claim names.

A rival is measured in the claim's place where the study has its learner or probe and the claim's own rival shows which
part of the quantity it takes. What is not measured keeps a claim from its outcome.
"""

import csv
import functools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from hierlearn.pipeline.files import append_only_csv
from hierlearn.pipeline.files.errors import Fault

NAME, MEASURED, COVERAGE = "rivals.csv", "measured_rivals.csv", "coverage.csv"
FILE = f"config/{NAME}"
MUST_FAIL = "must fail"
ROLES = (MUST_FAIL, "compared")
# Whose a rival is: of the paper, of this project, or registered as the first one of some row.
FIRST = "first"
SOURCES = ("paper", "ours", FIRST)
# Parts of a quantity that name what is measured.
SEATS = ("learner", "probe", "above", "below")
LISTS = ("predictors",)

Quantity = Mapping[str, Any]


@dataclass(frozen=True)
class Listed:
    """A rival at a place of a paper. learner: its learner or probe in a study, "" where there is none; role: whether it
    must fail or is compared alone; source: whose it is; reason: why it is named, or why a place has none."""

    paper: str
    place: str
    rival: str
    learner: str
    role: str
    source: str
    sentence: str
    where: str
    reason: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from others."""
        return self.paper, self.place, self.rival


@dataclass(frozen=True)
class Measured:
    """That a row measures a rival of another by the quantity of that one. measured_by: the row; the other one itself
    where the rival that it names is the one that is listed."""

    row: str
    rival: str
    place: str
    measured_by: str


@dataclass(frozen=True)
class Known:
    """What is known of a paper's rivals. listed: with a name; measured: which rows measure some; places: under which
    places of the paper config/coverage.csv has a row."""

    listed: tuple[Listed, ...] = ()
    measured: tuple[Measured, ...] = ()
    places: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def of_row(self, row: str, place: str) -> list[Listed]:
        """Return the rivals that must fail where a row is asked: at the place that it says, or, where the list has it
        under another name, at those that have the row. One that was registered first belongs to its own row."""
        here = [one for one in self.listed if one.place == place]
        here = here or [one for one in self.listed if one.place in self.places.get(row, ())]
        return [one for one in here if one.role == MUST_FAIL and one.source != FIRST]

    def measuring(self, row: str) -> dict[str, str]:
        """Return which rows measure the rivals of a row, by the rival."""
        return {one.rival: one.measured_by for one in self.measured if one.row == row}


COLUMNS = tuple(one.name for one in fields(Listed))
MEASURED_COLUMNS = tuple(one.name for one in fields(Measured))


def read(file: Path, name: str = FILE) -> tuple[list[Listed], list[Fault]]:
    """Return the lines of rivals.csv, none where there is no file, and its faults. name: what messages call it."""
    lines, faults = append_only_csv.read(file, name, COLUMNS, _is_sound)
    return [Listed(*row) for _, row in lines], faults


def read_measured(file: Path, name: str = f"config/{MEASURED}") -> tuple[list[Measured], list[Fault]]:
    """Return the lines of measured_rivals.csv, none where there is no file, and its faults."""
    lines, faults = append_only_csv.read(file, name, MEASURED_COLUMNS, all)
    return [Measured(*row) for _, row in lines], faults


def beside(folder: Path, paper: str) -> Known:
    """Return what is known of a paper's rivals beside the studies of a folder. Faults are said elsewhere."""
    files = [folder / NAME, folder / MEASURED, folder / COVERAGE]
    return _beside(paper, *((file, _state(file)) for file in files)) if files[0].is_file() else Known()


@functools.cache
def _beside(paper: str, *files: tuple[Path, tuple[int, int]]) -> Known:
    """The same of files at a state of theirs: every study of a paper asks for it."""
    listed, measured, coverage = (file for file, _ in files)
    places: dict[str, list[str]] = {}
    if coverage.is_file():
        with coverage.open(encoding="utf-8", newline="") as stream:
            for line in csv.DictReader(stream):
                for row in line["rows"].split() if line["source"] == paper else ():
                    places.setdefault(row, []).append(line["place"])
    own = tuple(one for one in read(listed)[0] if one.paper == paper and one.rival)
    return Known(own, tuple(read_measured(measured)[0]), places)


def _state(file: Path) -> tuple[int, int]:
    said = file.stat() if file.is_file() else None
    return (said.st_mtime_ns, said.st_size) if said else (0, 0)


def _is_sound(row: list[str]) -> bool:
    one = Listed(*row)
    named = one.role in ROLES and one.source in SOURCES if one.rival else bool(one.reason)
    return bool(one.paper and one.place and named)


def added(listed: Iterable[Listed], called: str, quantity: Quantity, overlay: Quantity | None) -> Iterator[Listed]:
    """Yield the rivals that a claim meets beside its own.

    Left out is what the claim's own quantity or rival stands for: its own learner, what it is compared with, and the
    rival that it names.

    listed: by `Known.of_row`; called: the claim's own rival in words; overlay: what is other in the quantity that
    measures that one, None if there is none.
    """
    own = overlay or {}
    # Where the own rival is another place of the same learner, a further one of that learner is another place too.
    stands = _parts(quantity) if _taken(quantity, own) or len(_parts(quantity)) > 1 else set()
    known = {called} | stands | _parts(own)
    for one in listed:
        # A rival may stand at several places of a row, under several names.
        names = {one.rival, one.learner} - {""}
        if not names & known and not called.startswith(f"{one.rival},"):
            yield one
            known |= names


def measured(quantity: Quantity, overlay: Quantity | None, learner: str, known: Collection[str]) -> Quantity | None:
    """Return what is other in a claim's quantity where a further rival is measured; None where it is not.

    overlay: what is other for the claim's own rival, which shows what part a rival takes; known: the study's learners,
    and its probes, by the part that names one.
    """
    seat = seat_of(quantity, overlay or {})
    return {seat: learner} if seat and learner in known and learner not in _parts(quantity) else None


def seat_of(quantity: Quantity, overlay: Quantity) -> str:
    """Return the part of a quantity that its rival takes, "" where it takes none or several and it is not clear.

    overlay: what is other for the rival.
    """
    taken, named = _taken(quantity, overlay), [key for key in SEATS if key in quantity]
    if len(taken) == 1 and overlay.get("name", quantity.get("name")) == quantity.get("name"):
        return taken[0]
    return "learner" if not taken and named == ["learner"] else ""


def _taken(quantity: Quantity, overlay: Quantity) -> list[str]:
    """The parts of a quantity that a rival says otherwise."""
    return [key for key in SEATS if isinstance(overlay.get(key), str) and isinstance(quantity.get(key), str)]


def _parts(described: Quantity) -> set[str]:
    """The learners and probes that a quantity or a part of one names."""
    named = [described[key] for key in SEATS if isinstance(described.get(key), str)]
    return {*named, *(one for key in LISTS for one in described.get(key, ()) if isinstance(one, str))}
