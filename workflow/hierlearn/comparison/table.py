"""A comparison as text for a terminal."""

from typing import TYPE_CHECKING

import numpy as np

from hierlearn.statistics.intervals import Estimate

if TYPE_CHECKING:
    from hierlearn.comparison.result import Comparison

WHAT = {
    "classes": "the share of wrong classes",
    "regression": "1 - R², the squared error over the variance of the target (1: no better than its mean)",
}
# Names of constant columns that are listed.
LISTED = 4


def text(found: "Comparison") -> str:
    """Return the table with what it shows above, and what fits warned of below."""
    return "\n".join([*_head(found), "", *_aligned(_rows(found)), "", *_foot(found)])


def _head(found: "Comparison") -> list[str]:
    kind = "classes" if found.kind == "classes" else "a target of numbers"
    lines = [f"{found.name}: {found.rows} rows, {found.columns} columns, {kind}"]
    if found.constant:
        more = f" and {len(found.constant) - LISTED} more" if len(found.constant) > LISTED else ""
        listed = f"{', '.join(found.constant[:LISTED])}{more}"
        lines.append(f"Constant, so of no use: {listed}.")
    lines.append(f"Error: {WHAT[found.kind]}, by training rows; after ± half of a 95 % interval.")
    return lines


def _rows(found: "Comparison") -> list[list[str]]:
    sizes = [f"n = {size}" for size in found.sizes]
    needed = [] if found.threshold is None else [f"rows for {found.threshold:.3g}"]
    rows = [["learner", *sizes, "above best", *needed, "CPU s"]]
    # Small errors differ in the third decimal.
    digits = 3 if np.nanmin(found.errors, initial=1.0) < 0.1 else 2
    order = sorted(found.learners, key=lambda name: _last(found, name))
    for name in order:
        label = name if found.tuning.settings[name] > 1 else f"{name} (as given)"
        cells = [cell(interval, digits) for interval in found.intervals(name)]
        behind = "best" if name == found.best else cell(found.behind(name), digits, sign=True)
        rows.append([label, *cells, behind, *([rows_needed(found, name)] if needed else []), _seconds(found, name)])
    return rows


def _last(found: "Comparison", name: str) -> float:
    value = float(found.mean(name)[-1])
    return value if np.isfinite(value) else np.inf


def _seconds(found: "Comparison", name: str) -> str:
    values = found.seconds[found.place(name), :, -1]
    return f"{np.mean(values):.2g}" if np.isfinite(values).all() else "-"


def cell(found: Estimate, digits: int, sign: bool = False) -> str:
    """Return a number with half of its interval. digits: decimals; sign: whether a plus is written."""
    if not np.isfinite(found.value):
        return "failed"
    number = f"{found.value:{'+' if sign else ''}.{digits}f}"
    half = (found.high - found.low) / 2
    return f"{number} ± {half:.{digits}f}" if np.isfinite(half) else number


def rows_needed(found: "Comparison", name: str) -> str:
    """Return the rows that a learner needs for the asked error, in words."""
    needed = found.needed(name)
    if needed is None:
        return ""
    if needed.state == "missing":
        return "failed"
    if needed.state != "observed":
        return f"> {found.sizes[-1]}" if needed.state == "right_censored" else f"< {found.sizes[0]}"
    if np.isfinite(needed.rows.value):
        ends = f" ({needed.rows.low:.0f} to {needed.rows.high:.0f})" if np.isfinite(needed.rows.low) else ""
        return f"{needed.rows.value:.0f}{ends}"
    beyond = int(np.sum(needed.status == "right_censored"))
    median = np.median(np.where(needed.status == "right_censored", np.inf, needed.samples))
    return f"{median:.0f} (not in {beyond} of {len(needed.status)} splits)" if beyond else f"{median:.0f}"


def _foot(found: "Comparison") -> list[str]:
    count, tuning = found.errors.shape[1], found.tuning
    if found.ratio:
        over = f"{count} random splits with {found.test_rows} test rows each; intervals are of splits of this table,"
        lines = [f"{over} corrected for their overlap (Nadeau and Bengio 2003)."]
    else:
        over = (
            f"{count} draws of training rows, tested on the same {found.test_rows} rows; intervals are of these draws"
        )
        lines = [f"{over} alone."]
    tuned = sorted({number for number in tuning.settings.values() if number > 1})
    if tuned:
        numbers = " or ".join(map(str, tuned))
        how = f"{tuning.folds} folds below {tuning.folded_rows} training rows, else {tuning.share:.0%} held out"
        lines.append(
            f"Tuning: each learner chose among {numbers} settings on the same rows ({how}), then took all rows."
        )
    if 1 in tuning.settings.values():
        lines.append("(as given): fitted with the parameters that it came with.")
    if found.threshold is not None:
        why = "as asked" if found.asked is not None else f"what the best reaches with {found.sizes[-2]} rows"
        lines.append(f"Rows for {found.threshold:.3g}: training rows for this error, {why}.")
    return [*lines, *(f"note: {note}" for note in found.notes)]


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(
            [row[0].ljust(widths[0]), *(one.rjust(width) for one, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    ]
