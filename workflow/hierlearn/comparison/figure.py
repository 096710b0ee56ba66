"""The learning curves of a comparison as a figure. The only module of the library that needs matplotlib."""

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from hierlearn.comparison.result import Comparison

# Okabe and Ito's colours, which readers who see few colours tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C8C00", "#7F7F7F")
MARKERS = "osD^vP*Xh"
LABELS = {"classes": "share of wrong classes", "regression": "error 1 - R²"}


def draw(found: "Comparison", path: str | PathLike[str] | None = None) -> Any:
    """Draw errors against training rows, with intervals; write them where a path is given. Returns the figure."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("plot: found no matplotlib; install it, such as by pip install matplotlib") from error
    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    axes = figure.add_subplot()
    positive = bool(np.all(found.errors[np.isfinite(found.errors)] > 0))
    order = sorted(range(len(found.learners)), key=lambda j: -np.nan_to_num(found.errors[j, :, -1].mean(), nan=-1.0))
    for j in order:
        _curve(axes, found, j, positive)
    if found.threshold is not None:
        axes.axhline(found.threshold, color="0.5", linewidth=0.8, linestyle=":", zorder=0)
    _scales(axes, found, positive)
    axes.set_xlabel("training rows")
    axes.set_ylabel(LABELS[found.kind])
    axes.set_title(title(found), loc="left", fontsize=11)
    if np.isfinite(found.errors).any():
        axes.legend(fontsize=8, frameon=False)
    splits = found.errors.shape[1]
    bars = f"Bars: 95 % intervals over {splits} {'splits of the table' if found.ratio else 'draws of training rows'}."
    line = "" if found.threshold is None else f" Dotted: the error {found.threshold:.3g} for which rows are counted."
    figure.supxlabel(bars + line, fontsize=8, color="0.35")
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure


def _scales(axes: Any, found: "Comparison", positive: bool) -> None:
    """Set logarithmic axes whose limits follow the curves: the bars of small samples may reach far beyond."""
    axes.set_xscale("log")
    axes.set_xticks(found.sizes, [str(size) for size in found.sizes])
    axes.minorticks_off()
    means = found.errors.mean(axis=1)
    means = means[np.isfinite(means)]
    if not means.size or not positive:
        axes.set_ylim(bottom=0.0)
        return
    low, high = 0.7 * float(means.min()), 1.4 * float(means.max())
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    ticks = [digit * 10.0**power for power in range(-6, 7) for digit in (1, 2, 3, 5, 7)]
    ticks = [tick for tick in ticks if low <= tick <= high]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()


def title(found: "Comparison") -> str:
    """Return what the figure shows: who has the least error, and who is within the interval."""
    close = [name for name in found.learners if name != found.best and _is_close(found, name)]
    others = f"; {', '.join(close)} within the interval" if 0 < len(close) <= 2 else ""
    many = f"; {len(close)} others within the interval" if len(close) > 2 else ""
    return f"{found.name}: {found.best} has the least error at {found.sizes[-1]} rows{others}{many}"


def _is_close(found: "Comparison", name: str) -> bool:
    """Return whether the interval of a learner's distance to the best reaches 0."""
    behind = found.behind(name)
    return bool(behind.low <= 0)


def _curve(axes: Any, found: "Comparison", place: int, positive: bool) -> None:
    ends = found.intervals(found.learners[place])
    values, low, high = (np.array([getattr(end, name) for end in ends]) for name in ("value", "low", "high"))
    shown = np.isfinite(values)
    if not shown.any():
        return
    # A bar that reaches below 0 has no end on an axis of logarithms.
    floor = values * 0.2 if positive else np.zeros_like(values)
    bars = [np.nan_to_num(values - np.maximum(low, floor)), np.nan_to_num(high - values)]
    # Side by side, so that bars of several learners are told apart.
    shift = 1.015 ** (place - (len(found.learners) - 1) / 2)
    axes.errorbar(
        np.array(found.sizes)[shown] * shift,
        values[shown],
        yerr=[np.maximum(bar[shown], 0.0) for bar in bars],
        color=COLOURS[place % len(COLOURS)],
        marker=MARKERS[place % len(MARKERS)],
        markersize=4.5,
        linewidth=1.4,
        elinewidth=0.8,
        capsize=2,
        label=found.learners[place],
    )
