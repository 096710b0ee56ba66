"""What a run of one study found, as tables: the samples that its learners need and their risks, and its claims."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from math import exp, isfinite
from pathlib import Path
from typing import Any

from hierlearn.pipeline.claims import asked
from hierlearn.pipeline.claims.verdicts import light
from hierlearn.pipeline.files import results
from hierlearn.pipeline.plan import page_context
from hierlearn.pipeline.plan.study import Study
from hierlearn.pipeline.plan.targets import Targets

# Rows of a table, at most.
MOST = 40
# Seeds from which a median has an interval; of fewer the range is shown.
ENOUGH = 6


@dataclass(frozen=True)
class Answer:
    """A table. words: the columns that hold words; cut: the one among them that may be long."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: Sequence[str]
    cut: str


def tables(study: Study, targets: Targets) -> Iterator[Answer]:
    """Yield the tables of a finished study. Raises OSError or ValueError, one line, for a file that is not whole."""
    if study.learners:
        yield from _of_learners(study, targets.file(study.name, "scores.nc"))
    if rows := results.read_claims(targets.file(study.name, "claims.json")):
        yield _of_claims(rows, page_context.stored(study))


def _of_learners(study: Study, file: str) -> Iterator[Answer]:
    """Yield for each threshold what every learner needs at each size, and its risk at the most samples."""
    # Here, as it takes longer than all else that a run says.
    from hierlearn.pipeline.files import cubes

    cube = cubes.load(Path(file))
    # Sizes are along the dimension; where a study has one alone, along the first axis that has several.
    axis = next((name for name in ("dimension", *study.axes) if cube.sizes.get(name, 1) > 1), "dimension")
    interval = "95 % interval" if study.seed_count >= ENOUGH else f"range of {study.seed_count} seeds"
    for threshold in study.samples.thresholds or (None,):
        head = ["learner", "at", axis, *(["n*", interval] if threshold else []), "risk at most samples"]
        title = f"n*: the samples to risk {threshold:g}, median over seeds" if threshold else "Risks, median over seeds"
        found = list(islice(_rows(cube, study, axis, threshold), MOST + 1))
        if len(found) > MOST:
            found[MOST:] = [["…", *[""] * (len(head) - 1)]]
        if not any(row[1] for row in found):
            head, found = [head[0], *head[2:]], [[row[0], *row[2:]] for row in found]
        yield Answer(title, head, found, ("learner", "at"), "learner")


def _rows(cube: Any, study: Study, axis: str, threshold: float | None) -> Iterator[list[str]]:
    """Yield for each learner, its place on other coordinates and its size what it needs, and its risk."""
    from hierlearn.pipeline.quantities import _tables
    from hierlearn.statistics.learning_curves import MISSING

    left = (axis, "seed", "samples")
    for name, entry in study.learners.items():
        label = entry.label or name
        own = _tables.of_own(cube.sel(learner=name), left)
        others = sorted(map(str, set(own.dims) - set(left)))
        for values in product(*(own[other].values.tolist() for other in others)):
            where = dict(zip(others, values, strict=True))
            place = ", ".join(f"{other} {value}" for other, value in where.items())
            table = _tables.complexities(cube, name, where, threshold or 1.0, axis=axis)
            last = _tables.at(cube, name, where | {"samples": _tables.LARGEST}, (axis, "seed"))
            for size, risks, status, needed in zip(
                table.sizes.tolist(), last.test_risk.values, table.status, _needed(table), strict=True
            ):
                if any(map(isfinite, risks)) or (status != MISSING).any():
                    yield [label, place, str(size), *(needed if threshold else ()), _risk(risks)]
                    label = ""


def _needed(table: Any) -> Iterator[list[str]]:
    """Yield the median n* of each size, "> n" where it lies beyond the largest n tried, and its interval or range."""
    from hierlearn.statistics.complexity import bounds
    from hierlearn.statistics.intervals import median, median_interval

    for low, high in zip(*bounds(table), strict=True):
        ends = median_interval(low, high)
        pair = (ends.low, ends.high) if len(low) >= ENOUGH else (min(low), max(high))
        yield [_between(median(low), median(high), "", ">", "<"), _between(*pair, " to ", "≥", "≤")]


def _between(low: float, high: float, joined: str, above: str, below: str) -> str:
    """Return what is known of a number from the ends, in logarithms, between which it lies."""
    first, last = (f"{float(f'{exp(end):.3g}'):.9g}" if isfinite(end) else "" for end in (low, high))
    if first and last:
        return f"{first}{joined}{last}" if joined else first
    return f"{above} {first}" if first else f"{below} {last}" if last else "–"


def _risk(risks: Sequence[float]) -> str:
    from hierlearn.statistics.intervals import median

    known = [risk for risk in risks if isfinite(risk)]
    return f"{median(known):.3g}" if known else "–"


def _of_claims(rows: Sequence[dict[str, Any]], stored: Mapping[str, str]) -> Answer:
    """Return the table of the rows of the ledger. stored: outcomes that stand beside the results of this draw."""
    shown = [
        [
            row["claim"],
            _value(row["value"]),
            f"{_value(row['low'])} to {_value(row['high'])}" if row["low"] is not None else "",
            light(row["verdict"], row["low"] is not None and row["low"] == row["value"] == row["high"]),
            *([asked.marked(stored.get(row["claim"], ""))] if stored else []),
            row["statement"],
        ]
        for row in rows[:MOST]
    ]
    words = ("claim", "result", *(("stored",) if stored else ()), "statement")
    return Answer("Claims", [words[0], "value", "95 % interval", *words[1:]], shown, words, "statement")


def _value(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"
