"""The outcome of a comparison: errors with intervals, rows needed for an error, as text, csv and figure."""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from hierlearn.comparison import table
from hierlearn.core.words import nearest, show
from hierlearn.statistics.curves import SampleComplexity, sample_complexity
from hierlearn.statistics.intervals import Estimate, split_interval

COLUMNS = (
    *("data", "learner", "settings", "rows", "error", "low", "high", "behind", "behind_low", "behind_high"),
    *("cpu_seconds", "splits", "failed", "asked_error", "rows_needed", "rows_needed_low", "rows_needed_high"),
    "rows_needed_status",
)


@dataclass(frozen=True)
class Tuning:
    """How every learner was tuned.

    settings: how many each chose from, 1 where it was fitted as it is. folds: with fewer training rows than folded_rows
    settings were compared on so many folds, else on one share that was held out.
    """

    settings: Mapping[str, int]
    folds: int
    folded_rows: int
    share: float


@dataclass(frozen=True)
class Needed:
    """Training rows that a learner needs for an error.

    samples, status: (S,) of each split, as `hierlearn.statistics.sample_complexity` gives them. rows: their geometric
    mean with its interval over splits, without one where a split is censored.
    """

    samples: np.ndarray
    status: np.ndarray
    rows: Estimate

    @property
    def state(self) -> str:
        """Status of the median split."""
        order = ("left_censored", "observed", "right_censored", "missing")
        return sorted(self.status.tolist(), key=order.index)[len(self.status) // 2]


@dataclass(frozen=True)
class Comparison:
    """Learning curves of learners on one table.

    name: of the data. kind: "classes" or "regression". rows, columns: of the table. constant: names of columns that
    have one value. test_rows: of each split. sizes: training rows. learners: names. errors, seconds: (learners, splits,
    sizes) float64, NaN where a fit failed; processor seconds with tuning. ratio: by which intervals are corrected, 0
    for test rows of their own. asked: error for which rows are counted, if it was given. notes: what fits warned of.
    """

    name: str
    kind: str
    rows: int
    columns: int
    constant: list[str]
    test_rows: int
    sizes: list[int]
    learners: list[str]
    errors: np.ndarray
    seconds: np.ndarray
    ratio: float
    asked: float | None
    tuning: Tuning
    notes: list[str]

    def place(self, learner: str) -> int:
        """Return where a learner stands. Raises ValueError for a name that is none."""
        if learner not in self.learners:
            raise ValueError(f"learner: found {show(learner)}; expected {nearest(learner, self.learners)}")
        return self.learners.index(learner)

    def mean(self, learner: str) -> np.ndarray:
        """Return the mean error of a learner at every size, NaN where a fit failed."""
        return np.asarray(self.errors[self.place(learner)].mean(axis=0))

    def intervals(self, learner: str) -> list[Estimate]:
        """Return the mean error of a learner with its interval over splits, at every size."""
        return [split_interval(values, self.ratio) for values in self.errors[self.place(learner)].T]

    @cached_property
    def best(self) -> str:
        """The learner of least mean error at the largest size; the first of several."""
        last = self.errors[:, :, -1].mean(axis=1)
        return self.learners[int(np.argmin(np.where(np.isfinite(last), last, np.inf)))]

    def behind(self, learner: str) -> Estimate:
        """Return how far a learner's error lies above that of the best at the largest size, split by split."""
        with np.errstate(invalid="ignore"):
            gaps = self.errors[self.place(learner), :, -1] - self.errors[self.place(self.best), :, -1]
        return split_interval(gaps, self.ratio)

    @cached_property
    def threshold(self) -> float | None:
        """The error for which rows are counted; None where there is a single size, or the best error is 0."""
        if self.asked is not None:
            return self.asked
        if len(self.sizes) < 2:
            return None
        means = self.errors[:, :, -2].mean(axis=1)
        means = means[np.isfinite(means) & (means > 0)]
        return float(means.min()) if means.size else None

    def needed(self, learner: str) -> Needed | None:
        """Return the training rows that a learner needs for the error `threshold`; None where there is none."""
        if self.threshold is None:
            return None
        found: SampleComplexity = sample_complexity(self.sizes, self.errors[self.place(learner)], self.threshold)
        if not np.all(found.status == "observed"):
            count = int(np.sum(found.status != "observed"))
            return Needed(found.samples, found.status, Estimate(np.nan, np.nan, np.nan, f"{count} splits do not tell"))
        log = split_interval(np.log(found.samples), self.ratio)
        rows = Estimate(float(np.exp(log.value)), float(np.exp(log.low)), float(np.exp(log.high)), log.reason)
        return Needed(found.samples, found.status, rows)

    def __str__(self) -> str:
        return table.text(self)

    def to_csv(self, path: str | PathLike[str] | None = None) -> str:
        """Return the table as csv, a line for each learner and size, and write it where a path is given."""
        out = io.StringIO()
        writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.records())
        if path is not None:
            Path(path).write_text(out.getvalue(), encoding="utf-8")
        return out.getvalue()

    def records(self) -> list[dict[str, Any]]:
        """Return a mapping from `COLUMNS` to values for each learner and size; errors have six decimals."""
        return [row for learner in self.learners for row in self._records(learner)]

    def _records(self, learner: str) -> list[dict[str, Any]]:
        place, needed, behind = self.place(learner), self.needed(learner), self.behind(learner)
        rows = []
        for k, found in enumerate(self.intervals(learner)):
            values = self.errors[place, :, k]
            row = {
                "data": self.name,
                "learner": learner,
                "settings": self.tuning.settings[learner],
                "rows": self.sizes[k],
                "error": _rounded(found.value),
                "low": _rounded(found.low),
                "high": _rounded(found.high),
                "cpu_seconds": f"{np.mean(self.seconds[place, :, k]):.3f}",
                "splits": len(values),
                "failed": int(np.sum(np.isnan(values))),
                "asked_error": "" if self.threshold is None else _rounded(self.threshold),
            }
            if k == len(self.sizes) - 1:
                ends = zip(
                    ("behind", "behind_low", "behind_high"), (behind.value, behind.low, behind.high), strict=True
                )
                row |= {key: _rounded(value) for key, value in ends}
            if needed is not None:
                names = ("rows_needed", "rows_needed_low", "rows_needed_high")
                ends = zip(names, (needed.rows.value, needed.rows.low, needed.rows.high), strict=True)
                row |= {key: _rounded(value, 1) for key, value in ends} | {"rows_needed_status": needed.state}
            rows.append(row)
        return rows

    def plot(self, path: str | PathLike[str] | None = None) -> Any:
        """Draw the learning curves; write them where a path is given. Needs matplotlib.

        Returns matplotlib's figure. Raises ImportError, one line, where matplotlib is not installed.
        """
        # Imported where it is used: the library does without.
        from hierlearn.comparison import figure

        return figure.draw(self, path)


def _rounded(value: float, decimals: int = 6) -> str:
    return f"{value:.{decimals}f}" if np.isfinite(value) else ""
