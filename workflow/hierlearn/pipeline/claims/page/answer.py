"""What the learners of a study needed and reached, as tables for its page."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from hierlearn.pipeline.claims.readable import RAISED
from hierlearn.pipeline.quantities._tables import (
    FAILED,
    LARGEST,
    LETTERS,
    UNTRAINED,
    at,
    complexities,
    indexers,
    of_own,
)
from hierlearn.statistics.complexity import Complexities, bounds, medians
from hierlearn.statistics.exponents import FEWEST_SIZES, slope
from hierlearn.statistics.intervals import Estimate, median, median_interval
from hierlearn.statistics.learning_curves import LEFT_CENSORED, MISSING, RIGHT_CENSORED

AXIS = "dimension"
# As many learners fit into one sentence.
NAMED = 5
NOT_RUN, FAILURE = "–", "training failed"


@dataclass(frozen=True)
class Cell:
    """A number with its interval as a reader sees them; note: what stands there beside a number, or instead of one;
    rank: the number, infinite where only a lower bound is known."""

    value: str = ""
    interval: str = ""
    note: str = ""
    rank: float = math.nan


@dataclass(frozen=True)
class Line:
    """A learner at every size of the axis; exponent: how its numbers grow along it, in a table of n*."""

    label: str
    cells: Sequence[Cell]
    exponent: Cell = Cell()


@dataclass(frozen=True)
class Table:
    """place: the values of the other axes, in words; risk: what n* is read off at, None in a table of risks; letter:
    of the axis, whose values are the sizes; sentence: what the table says at its largest size, "" where it says
    little; measures: whether an exponent can be measured."""

    place: str
    risk: float | None
    letter: str
    sizes: Sequence[float]
    lines: Sequence[Line]
    sentence: str = ""

    @property
    def least(self) -> list[float]:
        """The smallest number at each size; NaN, which equals none, where there is none or one line alone."""
        ranks = ([line.cells[k].rank for line in self.lines] for k in range(len(self.sizes)))
        known = ([rank for rank in column if math.isfinite(rank)] for column in ranks)
        return [min(column) if column and len(self.lines) > 1 else math.nan for column in known]

    @property
    def measures(self) -> bool:
        """Whether some line has an exponent."""
        return any(line.exponent.value for line in self.lines)


def tables(cube: Any, said: Mapping[str, Any]) -> tuple[list[Table], list[Table]]:
    """Return the tables of n* and those of risks, each with the place first that the figure shows first.

    cube: scores.nc of a study, or None; said: labels, axes, risks and first, as `page_context.measured` says them.
    """
    if cube is None:
        return [], []
    axis = _along(cube, said["axes"])
    cube = cube.sortby(axis)
    first = said["first"]
    places = sorted(_places(cube, said["axes"], axis), key=lambda where: not first["place"].items() >= where.items())
    risks = list(dict.fromkeys(risk for own in said["risks"].values() for risk in own))
    risks.sort(key=lambda risk: risk != first["risk"])
    needed = [_needed(cube, said, axis, where, risk) for risk in risks for where in places]
    reached = [_reached(cube, said, axis, where) for where in places]
    return [table for table in needed if table.lines], [table for table in reached if table.lines]


def _along(cube: Any, axes: Sequence[str]) -> str:
    """The axis of the sizes: the dimension, or another one of several numbers where there is only one dimension."""
    several = (name for name in axes if cube.sizes.get(name, 1) > 1 and cube[name].dtype.kind in "if")
    return AXIS if cube.sizes[AXIS] > 1 else next((name for name in several if (cube[name] > 0).all()), AXIS)


def _places(cube: Any, axes: Sequence[str], axis: str) -> Iterator[dict[str, Any]]:
    """Every combination of the problem's other axes that have several values."""
    others = [name for name in axes if name != axis and cube.sizes.get(name, 1) > 1]
    for values in product(*(cube[name].values.tolist() for name in others)):
        yield dict(zip(others, values, strict=True))


def _variants(cube: Any, said: Mapping[str, Any], axis: str, where: Mapping[str, Any]) -> Iterator[tuple]:
    """(learner, label, place) of all that ran at a place, one for each combination of what a learner sweeps."""
    for name, label in said["labels"].items():
        if name not in cube.learner.values:
            continue
        chosen = of_own(cube.sel(learner=name, **indexers(where, axis)), (axis, "seed", "samples"))
        swept = sorted({*map(str, chosen.dims)} - {axis, "seed", "samples"})
        for values in product(*(chosen[one].values.tolist() for one in swept)):
            own = dict(zip(swept, values, strict=True))
            if not chosen.sel(own).status.isin(UNTRAINED).all():
                yield name, ", ".join(filter(None, [label, words(own)])), {**where, **own}


def words(where: Mapping[str, Any]) -> str:
    """A place in words, such as degree 4."""
    shown = ((axis, f"{value:g}" if isinstance(value, float) else str(value)) for axis, value in where.items())
    return ", ".join(f"{axis.replace('_', ' ')} {value}" for axis, value in shown)


def _needed(cube: Any, said: Mapping[str, Any], axis: str, where: Mapping[str, Any], risk: float) -> Table:
    """n* of every learner that was to reach a risk."""
    letter, sizes, lines = LETTERS.get(axis, axis.replace("_", " ")), cube[axis].values.tolist(), []
    for name, label, place in _variants(cube, said, axis, where):
        ran = ~at(cube, name, place, (axis, "seed", "samples")).status.isin(UNTRAINED)
        # A single size crosses nothing.
        if risk in said["risks"][name] and ran.sum("samples").max() > 1:
            table = complexities(cube, name, place, risk, axis=axis)
            failed = at(cube, name, place, (axis, "seed", "samples")).status.isin(FAILED).any(("seed", "samples"))
            cells = [_samples(table, k, bool(failed[k])) for k in range(len(sizes))]
            lines.append(Line(label, cells, _exponent(table)))
    sentence = _sentence(letter, sizes, lines, risk, words(where))
    return Table(words(where), risk, letter, sizes, lines, sentence)


def _samples(table: Complexities, k: int, failed: bool) -> Cell:
    """n* at one size: the median over seeds with its interval, or a bound."""
    status, seeds = table.status[k], len(table.status[k])
    if (status == MISSING).all():
        return Cell(note=FAILURE if failed else NOT_RUN)
    (low, high), (centres, obstacles) = bounds(table), medians(table)
    if (status == MISSING).any():
        return Cell(note=obstacles[k])
    told = ((RIGHT_CENSORED, "did not reach it"), (LEFT_CENSORED, "reached it at once"))
    counts = [(int(np.sum(status == side)), what) for side, what in told]
    note = "; ".join(f"{number} of {seeds} seeds {what}" for number, what in counts if 0 < number < seeds)
    if np.isfinite(centres[k]):
        found = interval_of(low[k], high[k])
        # What is open ends at the last size that was tried.
        ends = [_end(found.low, "<", table.samples[k].min()), _end(found.high, ">", table.samples[k].max())]
        return Cell(count(math.exp(centres[k])), f"{ends[0]} to {ends[1]}", note, centres[k])
    below, above = (math.exp(median(side[k])) for side in (low, high))
    if below > 0:
        return Cell(f"> {count(below)}", note=note, rank=math.inf)
    return Cell(f"≤ {count(above)}" if math.isfinite(above) else "", note=note or obstacles[k], rank=-math.inf)


def interval_of(low: np.ndarray, high: np.ndarray) -> Estimate:
    """The interval of a median over seeds (S,), between whose lows and highs each lies: that of the sign test, or the
    range of the seeds where they are too few for it."""
    found = median_interval(low, high)
    return found if not found.reason else Estimate(found.value, float(np.min(low)), float(np.max(high)))


def _end(log: float, sign: str, last: float) -> str:
    return count(math.exp(log)) if math.isfinite(log) else f"{sign} {count(last)}"


def _exponent(table: Complexities) -> Cell:
    """The slope of log n* in the log of the size; empty where too few sizes have a median."""
    if table.sizes.dtype.kind not in "if" or (table.sizes <= 0).any():
        return Cell()
    fit = slope(table)
    if len(fit.sizes_fitted) < FEWEST_SIZES:
        return Cell(note=f"{len(fit.sizes_fitted)} sizes" if fit.sizes_fitted else "")
    left_out = len(table.sizes) - len(fit.sizes_fitted)
    note = f"without {left_out} size{'s' * (left_out > 1)}" if left_out else ""
    return Cell(f"{fit.value:.2f}", f"{fit.low:.2f} to {fit.high:.2f}", note, fit.value)


def _sentence(letter: str, sizes: Sequence[float], lines: Sequence[Line], risk: float, place: str) -> str:
    """What the learners need at the largest size at which most of them have a number."""
    known = [sum(math.isfinite(line.cells[k].rank) for line in lines) for k in range(len(sizes))]
    if not any(known) or len(lines) > NAMED:
        return ""
    k = max(range(len(sizes)), key=lambda k: (known[k], sizes[k]))
    told = sorted((line for line in lines if line.cells[k].value), key=lambda line: line.cells[k].rank)
    parts = [f"{line.label} needs {_spoken(line.cells[k].value)}" for line in told]
    comma, last = ("; ", "; ") if any("," in line.label for line in told) else (", ", " and ")
    listed = last.join(filter(None, [comma.join(parts[:-1]), parts[-1]]))
    where = ", ".join(filter(None, [f"${letter} = {sizes[k]:g}$", place]))
    return f"To reach a test risk of {risk:g} at {where}: {listed} labelled samples."


def _spoken(value: str) -> str:
    return value.replace("> ", "more than ").replace("≤ ", "at most ")


def _reached(cube: Any, said: Mapping[str, Any], axis: str, where: Mapping[str, Any]) -> Table:
    """The test risk of every learner at its largest number of samples."""
    sizes, lines = cube[axis].values.tolist(), []
    for name, label, place in _variants(cube, said, axis, where):
        chosen = at(cube, name, {**place, "samples": LARGEST}, (axis, "seed"))
        trained = ~chosen.status.isin(UNTRAINED).values
        samples = np.broadcast_to(chosen.samples.values.astype(float), trained.shape)
        rows = zip(chosen.test_risk.values, samples, trained, strict=True)
        lines.append(Line(label, [_risk(risks[ran], n[ran]) for risks, n, ran in rows]))
    return Table(words(where), None, LETTERS.get(axis, axis.replace("_", " ")), sizes, lines)


def _risk(risks: np.ndarray, samples: np.ndarray) -> Cell:
    """The median over seeds of risks (S,) at numbers of samples (S,), which may differ where a search ended."""
    if not len(risks):
        return Cell(note=NOT_RUN)
    most = count(samples.min()), count(samples.max())
    beside = f"n = {most[0]}" if most[0] == most[1] else f"n = {most[0]} to {most[1]}"
    if not np.isfinite(risks).all():
        return Cell(note=FAILURE)
    found = interval_of(np.asarray(risks), np.asarray(risks))
    return Cell(decimal(np.median(risks)), f"{decimal(found.low)} to {decimal(found.high)}", beside)


def decimal(number: float) -> str:
    """A number to two significant digits, a small one with a power of ten."""
    digits, _, power = f"{number:.2g}".partition("e")
    return digits + (f"·10{str(int(power)).translate(RAISED)}" if power else "")


def count(number: float) -> str:
    """A number of samples to three significant digits, its thousands apart."""
    if number < 10:
        return f"{number:.2g}"
    return f"{float(f'{number:.3g}'):,.0f}"
