"""How many times more samples, labelled and unlabelled, one kind of learner needs than its rivals."""

from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import MinLen

from hierlearn.core.parameters import UNIQUE, Count, Reference
from hierlearn.core.protocols import Dataset, Probes, Quantity
from hierlearn.quantities._bases import SomeCoordinates, Threshold
from hierlearn.quantities._tables import add_notes, at, complexities, doubts, span, without_interval
from hierlearn.statistics import estimates
from hierlearn.statistics.complexity import bounds


@dataclass(frozen=True, kw_only=True)
class TotalSamplesLogRatio(Quantity):
    """Mean over seeds of log((n* + n0)_above / (n* + n0)_below) at one dimension, n0 chosen by each seed.

    A side is a list of learners, such as one learner on representations of several n0; each seed takes the one whose
    n* on validation points, with its n0, is smallest, and n* is then read off the test points: what chooses is not
    what is reported. A side whose choice is censored is an end, not a value: the ratio then has only a bound.
    """

    UNIT: ClassVar[str] = "log ratio"
    above: Annotated[list[str], MinLen(1), UNIQUE, Reference("learners"), "Learners among which each seed chooses."]
    below: Annotated[list[str], MinLen(1), UNIQUE, Reference("learners"), "The same for the denominator."]
    dimension: Annotated[Count, Reference("dimensions"), "Dimension at which the totals are compared."]
    where: SomeCoordinates = field(default_factory=dict)
    threshold: Threshold = 0.5

    @property
    def learners(self) -> list[str]:
        return [*self.above, *self.below]

    def measure(self, cube: Dataset, probes: Probes) -> estimates.Measurement:
        """cube: scores.nc of a study. detail: both totals and the learner that each seed chose, side by side."""
        sides = [self._totals(cube, names) for names in (self.above, self.below)]
        (a_low, a_high, _, _), (b_low, b_high, _, _) = sides
        low, high = a_low - b_high, a_high - b_low
        measured = estimates.mean(np.where(low == high, low, np.nan))
        detail = {name: _plain(side) for name, side in zip(("above", "below"), sides, strict=True)}
        measured = replace(measured, detail=detail, sizes=span("dimension", [self.dimension]))
        ends = int(np.sum(low != high))
        failed, notes = zip(*(doubt for side in sides for doubt in side[3]), strict=True)
        measured = without_interval(measured, f"{ends} of {len(low)} seeds censored" if ends else "", *failed)
        return add_notes(measured, *notes)

    def _totals(self, cube: Dataset, names: list[str]) -> tuple[np.ndarray, np.ndarray, list[str], list[tuple]]:
        """Log total of the learner that each seed chooses (S,), as the lowest and highest that it can be; the names
        chosen; and the `doubts` of these."""
        here = cube.sel(dimension=[self.dimension])
        lows, highs, guesses, tables = [], [], [], []
        for name in names:
            spent = at(here, name, self.where).unlabelled_samples.max().item()
            table = complexities(here, name, self.where, self.threshold)
            low, high = bounds(table)
            lows.append(np.log(np.exp(low[0]) + spent))
            highs.append(np.log(np.exp(high[0]) + spent))
            chosen = complexities(here, name, self.where, self.threshold, "validation_risk")
            # What never falls to the threshold on validation points is never chosen, unless all are.
            guesses.append(np.exp(bounds(chosen)[1][0]) + spent)
            tables.append(table)
        best = np.argmin(np.array(guesses), axis=0)
        rows = np.arange(len(best))
        doubted = []
        for i, (name, table) in enumerate(zip(names, tables, strict=True)):
            own = best == i
            part = replace(table, samples=table.samples[:, own], status=table.status[:, own])
            doubted += [doubts(here.isel(seed=own), name, self.where, part)] if any(own) else []
        return np.array(lows)[best, rows], np.array(highs)[best, rows], [names[i] for i in best], doubted


def _plain(side: tuple) -> list[dict[str, Any]]:
    """The seeds of a side in the words of strict JSON; a total that has no value is None."""
    low, high, chosen, _ = side
    return [
        {"learner": name, "total": float(np.exp(a)) if a == b else None}
        for a, b, name in zip(low, high, chosen, strict=True)
    ]
