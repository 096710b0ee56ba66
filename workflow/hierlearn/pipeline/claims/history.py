"""Verdicts of registered designs, kept line by line: a claim whose design was revised shows what was found before, and
rows that were drawn more than once how often another draw had another verdict.

What was found of the rivals stands in a table of its own, a line for each, as a claim may have any number of them.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from hierlearn.pipeline.claims.verdicts import RESULTS, result
from hierlearn.pipeline.files import append_only_csv
from hierlearn.pipeline.files.errors import Fault

if TYPE_CHECKING:
    from hierlearn.pipeline.plan.study import Study

NAME = "verdicts.csv"
FILE = f"config/{NAME}"
RIVALS = "verdict_rivals.csv"
NOTHING, NOT_MEASURED = "nothing", "not measured"


@dataclass(frozen=True)
class Verdict:
    """A verdict with its interval, as claims.csv has it, and the registered design and draw that it is of.

    The columns from `quantity` on came later, and are "" where the history does not tell them. quantity: its component;
    method: what its interval is made from; level: of the interval; freedom: its degrees of freedom; question, design:
    canonical digests; limit: what the interval is compared with, slack included, two numbers under some rules; result:
    of the draw, as readers see it; scope: where the claim was measured; seeds: that the value rests on; commit: of the
    code that judged it, or that added the line where no more is known.
    """

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
    quantity: str = ""
    method: str = ""
    level: str = ""
    freedom: str = ""
    question: str = ""
    design: str = ""
    rule: str = ""
    limit: str = ""
    slack: str = ""
    side: str = ""
    result: str = ""
    scope: str = ""
    kind: str = ""
    seeds: str = ""
    commit: str = ""

    @property
    def first_columns(self) -> tuple[str, ...]:
        """What tells it from other lines: the columns that there were from the start."""
        return astuple(self)[:FIRST]

    def __str__(self) -> str:
        value, low, high = (f"{float(number):.3g}" if number else "–" for number in (self.value, self.low, self.high))
        return f"{result(self.verdict)}, {value}{f' [{low}, {high}]' if self.low and self.high else ''}"


@dataclass(frozen=True)
class Rival:
    """What was found of a rival where a claim was judged: its value with its interval, and its own result.

    measured_by: the learner, the probe or the claim that measures a rival of rivals.csv, `NOTHING` where none does; ""
    for the rival that the claim itself names. freedom: as of a `Verdict`; result: `NOT_MEASURED` without a value.
    """

    claim: str
    study: str
    preset: str
    revision: str
    draw: str
    digest: str
    rival: str
    measured_by: str
    value: str
    low: str
    high: str
    freedom: str
    result: str


COLUMNS = tuple(field.name for field in fields(Verdict))
RIVAL_COLUMNS = tuple(field.name for field in fields(Rival))
# How many columns there were from the start, and which of all say numbers.
FIRST = 10
NUMBERS = ("value", "low", "high", "level", "freedom", "slack", "seeds")


def read(file: Path, name: str = FILE) -> tuple[list[Verdict], list[Fault]]:
    """The lines of verdicts.csv and its faults. name: what messages call it."""
    lines, faults = append_only_csv.read(file, name, COLUMNS, _sound(COLUMNS, "verdict"), len(COLUMNS) - FIRST)
    return [Verdict(*row) for _, row in lines], faults


def read_rivals(file: Path, name: str = f"config/{RIVALS}") -> tuple[list[Rival], list[Fault]]:
    """The lines of verdict_rivals.csv and its faults. name: what messages call it."""
    lines, faults = append_only_csv.read(file, name, RIVAL_COLUMNS, _sound(RIVAL_COLUMNS, "rival"))
    return [Rival(*row) for _, row in lines], faults


def _sound(columns: Sequence[str], last: str) -> Callable[[Sequence[str]], bool]:
    """Whether all is there in a row up to a column, and what should be a number is one or is not there."""
    needed, numbers = columns.index(last) + 1, [columns.index(name) for name in NUMBERS if name in columns]

    def sound(row: Sequence[str]) -> bool:
        try:
            for place in numbers:
                float(row[place] or "nan")
        except ValueError:
            return False
        return all(row[:needed]) and row[columns.index("revision")].isdigit()

    return sound


def new(rows: Iterable[Mapping[str, str]], known: Iterable[Verdict]) -> list[Verdict]:
    """The verdicts of a claims.csv that are of registered designs and not known yet. rows: with what is known of the
    columns that came later."""
    found = [Verdict(*(row.get(name, "") for name in COLUMNS)) for row in rows if row["digest"] and row["verdict"]]
    there = {one.first_columns for one in known}
    return [one for one in found if one.first_columns not in there]


def earlier(
    study: "Study", lines: Iterable[Verdict], moved: Mapping[tuple[str, str], str] = MappingProxyType({})
) -> dict[str, str]:
    """What was found of every claim at earlier revisions of a study's preset.

    moved: by claim and digest the row that asks the question of such a line today, which the line is the history of.
    """
    found: dict[str, dict[tuple[int, str], Verdict]] = {}
    for line in lines:
        if (line.study, line.preset) == (study.name, study.preset) and int(line.revision) < study.revision:
            # The first line of a draw stands, also against later code.
            claim = moved.get((line.claim, line.digest), line.claim)
            found.setdefault(claim, {}).setdefault((int(line.revision), line.draw), line)
    return {claim: "; ".join(_told(known)) for claim, known in found.items()}


def further_draws(lines: Iterable[Verdict], primary: Mapping[str, str], presets: Collection[str]) -> str:
    """How often a further draw of one registered design, by a replicate or by a later revision that left the row as it
    was, had another verdict than the first, in words, for Markdown; "" where no row was drawn twice.

    primary: the primary rows and the digests of their present designs; presets: those that count.
    """
    drawn = _drawn_again(line for line in lines if line.preset in presets)
    if not drawn:
        return ""
    pairs, other, opposite = _moved(drawn)
    moved: dict[str, list[str]] = {}
    for (claim, digest), verdicts in drawn.items():
        if claim in primary and len(set(verdicts)) > 1:
            design = "" if digest == primary[claim] else "an earlier design: "
            moved.setdefault(claim, []).append(design + _draws(verdicts))
    named = ", ".join(f"`{claim}` ({'; '.join(designs)})" for claim, designs in moved.items())
    once = [f"`{claim}`" for claim, digest in sorted(primary.items()) if (claim, digest) not in drawn]
    second = f"Primary rows whose present design was drawn once: {', '.join(once)}"
    if not once:
        second = "Every primary row was drawn at least twice at its present design"
    return (
        f"Further draws of one registered design, at {' and '.join(f'`{preset}`' for preset in sorted(presets))}: "
        f"{pairs}, of which {other} had another result than the first and "
        f"{opposite} the opposite one. Primary rows of which draws of one design differ: {named or 'none'}. "
        f"{second} (a change of words makes another design)."
    )


def moved(lines: Iterable[Verdict], preset: str) -> tuple[int, int, int]:
    """How many further draws of one registered design there are, and how many had another and the opposite result."""
    return _moved(_drawn_again(line for line in lines if line.preset == preset))


def turned(lines: Iterable[Verdict], presets: Collection[str]) -> list[str]:
    """The claims of which a further draw of one registered design had the opposite result."""
    drawn = _drawn_again(line for line in lines if line.preset in presets)
    return sorted({claim for (claim, digest), results in drawn.items() if _moved({(claim, digest): results})[2]})


def _drawn_again(lines: Iterable[Verdict]) -> dict[tuple[str, str], list[str]]:
    """The results of every design that was drawn more than once, by claim and digest, draw after draw."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for line in lines:
        # The first line of a draw stands, also against later code.
        found.setdefault((line.claim, line.digest), {}).setdefault(line.draw, result(line.verdict))
    return {design: list(draws.values()) for design, draws in sorted(found.items()) if len(draws) > 1}


def _moved(drawn: Mapping[tuple[str, str], Sequence[str]]) -> tuple[int, int, int]:
    pairs = [(first, again) for first, *others in drawn.values() for again in others]
    opposite = {RESULTS["✓"], RESULTS["✗"]}
    return len(pairs), sum(first != again for first, again in pairs), sum({*pair} == opposite for pair in pairs)


def _draws(verdicts: Sequence[str]) -> str:
    """The verdicts of one design, each with how many of its draws have it."""
    return ", ".join(f"{verdict} on {count} of {len(verdicts)}" for verdict, count in Counter(verdicts).items())


def _told(known: Mapping[tuple[int, str], Verdict]) -> Iterator[str]:
    """The verdicts of one claim by revision and draw."""
    for (revision, draw), line in sorted(known.items(), key=lambda one: one[0]):
        yield f"revision {revision}{_replicate(draw)}: {line}"


def _replicate(draw: str) -> str:
    """What tells a replicate from the first draw."""
    return f", {draw.rpartition('/')[2]}" if draw.count("/") == 3 else ""
