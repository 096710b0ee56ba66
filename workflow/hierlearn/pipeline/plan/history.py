"""Verdicts of registered designs, kept line by line: a claim whose design was revised shows what was found before, and
rows that were drawn more than once how often another draw had another verdict."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from hierlearn.pipeline.claims.verdicts import RESULTS, result
from hierlearn.pipeline.files import kept_lines
from hierlearn.pipeline.files.faults import Fault
from hierlearn.pipeline.plan.study import Study

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
        value, low, high = (f"{float(number):.3g}" if number else "–" for number in (self.value, self.low, self.high))
        return f"{result(self.verdict)}, {value}{f' [{low}, {high}]' if self.low and self.high else ''}"


COLUMNS = tuple(field.name for field in fields(Verdict))


def read(file: Path, name: str = FILE) -> tuple[list[Verdict], list[Fault]]:
    """The lines of verdicts.csv and its faults. name: what messages call it."""
    lines, faults = kept_lines.read(file, name, COLUMNS, _sound)
    return [Verdict(*row) for _, row in lines], faults


def _sound(row: Sequence[str]) -> bool:
    """Whether all is there but for numbers, which a verdict may lack."""
    try:
        for number in filter(None, row[7:]):
            float(number)
    except ValueError:
        return False
    return all(row[:7]) and row[3].isdigit()


def new(rows: Iterable[Mapping[str, str]], known: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts of a claims.csv that are of registered designs and not known yet."""
    found = [Verdict(*(row[name] for name in COLUMNS)) for row in rows if row["digest"] and row["verdict"]]
    return [one for one in found if one not in known]


def earlier(study: Study, lines: Iterable[Verdict]) -> dict[str, str]:
    """What was found of every claim at earlier revisions of a study's preset."""
    found: dict[str, dict[tuple[int, str], Verdict]] = {}
    for line in lines:
        if (line.study, line.preset) == (study.name, study.preset) and int(line.revision) < study.revision:
            # The last line of a draw counts: code may have changed since the one before.
            found.setdefault(line.claim, {})[int(line.revision), line.draw] = line
    return {claim: "; ".join(_told(known)) for claim, known in found.items()}


def further_draws(lines: Iterable[Verdict], primary: Mapping[str, str], presets: Collection[str]) -> str:
    """How often a further draw of one registered design, by a replicate or by a later revision that left the row as it
    was, had another verdict than the first, in words, for Markdown; "" where no row was drawn twice.

    primary: the primary rows and the digests of their present designs; presets: those that count.
    """
    found: dict[tuple[str, str], dict[str, str]] = {}
    for line in lines:
        if line.preset in presets:
            # The last line of a draw counts: code may have changed since the one before.
            found.setdefault((line.claim, line.digest), {})[line.draw] = result(line.verdict)
    drawn = {design: list(draws.values()) for design, draws in sorted(found.items()) if len(draws) > 1}
    if not drawn:
        return ""
    pairs = [(first, again) for first, *others in drawn.values() for again in others]
    other = sum(first != again for first, again in pairs)
    opposite = sum({first, again} == {RESULTS["✓"], RESULTS["✗"]} for first, again in pairs)
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
        f"{len(pairs)}, of which {other} had another result than the first and "
        f"{opposite} the opposite one. Primary rows of which draws of one design differ: {named or 'none'}. "
        f"{second} (a change of words makes another design)."
    )


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
