"""Panels of curves: a probe's variables, risks, n* or trajectories of training, and published numbers beside them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil, comb
from typing import Annotated, Any

import numpy as np
from annotated_types import Interval, MinLen

from hierlearn.core import protocols
from hierlearn.pipeline.figures import _identities
from hierlearn.pipeline.figures._axes import name_guides, tick_values, tidy
from hierlearn.pipeline.figures._legends import legend
from hierlearn.pipeline.figures._parameters import Panel
from hierlearn.pipeline.figures._published import LABEL, overlay, overlay_row
from hierlearn.pipeline.figures._style import band, blank, centre, explain, has_points, name_claims
from hierlearn.pipeline.quantities._tables import along, at, complexities
from hierlearn.statistics.complexity import medians
from hierlearn.statistics.learning_curves import value_at
from hierlearn.theory.dimensions import composition_risk_bound, composition_sample_bound, harmonics

# Theory goes on to so many times the largest place where a learner was measured, which it would squeeze otherwise.
BEYOND = 2.0
LETTERS = "abcdefghijklmnop"


@dataclass(frozen=True, kw_only=True)
class Panels(protocols.Figure):
    """Medians or means over seeds with the range of the seeds, log-log unless a panel says otherwise."""

    columns: Annotated[int, Interval(ge=1, le=4), "Panels in a row."] = 2
    panels: Annotated[list[Panel], MinLen(1), "The panels, each of one kind."]

    @property
    def letters(self) -> tuple[str, ...]:
        return tuple(LETTERS[: len(self.panels)])

    def alone(self, letter: str) -> "Panels":
        return replace(self, columns=1, panels=[self.panels[LETTERS.index(letter)]])

    def draw(self, cube: Any, probes: Mapping[str, Any], study: Mapping[str, Any], traces: Any = None) -> Any:
        """cube: scores.nc of the study, None if it trains nothing; probes by name; study: labels of the learners;
        traces: traces.nc, None as cube."""
        rows, columns = ceil(len(self.panels) / self.columns), min(self.columns, len(self.panels))
        figure = blank(4.1 * columns, 3.5 * rows)
        places = figure.subplots(rows, columns, squeeze=False).ravel()
        for place in places[len(self.panels) :]:
            place.set_axis_off()
        seen: dict[str, _identities.Look] = {}
        for letter, place, panel in zip(LETTERS, places, self.panels, strict=False):
            place.set_title(f"{letter}  {panel['title']}")
            name_claims(place, panel.get("shows", ()))
            if panel["kind"] == "bars":
                self._bars(place, panel, cube, study["labels"])
            else:
                self._curves(place, panel, cube, probes, study["labels"], traces, seen)
        return figure

    def _curves(self, place, panel, cube, probes, labels, traces, seen) -> None:
        place.set(xscale=panel.get("xscale", "log"), yscale=panel.get("yscale", "log"))
        ours = [line for line in panel["lines"] if "published" not in line]
        looks, guides = _identities.of_lines(ours, _identities.looks(labels), seen), []
        for line, look in zip(ours, looks, strict=True):
            if "probe" not in line:
                guides += self._line(place, panel, line, look, cube, probes, labels, traces)
        reach = BEYOND * place.dataLim.x1
        for line, (colour, _) in zip(ours, looks, strict=True):
            if "probe" in line:
                self._theory(place, panel, line, colour, probes[line["probe"]], reach)
        for number, line in enumerate(line for line in panel["lines"] if "published" in line):
            overlay(place, line, panel["x"], number)
        if not has_points(place):
            explain(place, "nothing was measured\nthat these axes can show")
            return
        if "counting" in panel and panel["kind"] == "growth":
            self._counted(place, panel)
        elif "counting" in panel:
            self._counting(place, panel["counting"])
        _levels(place.axhline, panel)
        place.set_xlabel(panel.get("xlabel", panel["x"].replace("_", " ")))
        place.set_ylabel(panel.get("ylabel", _ylabel(panel, ours)))
        tidy(place)
        tick_values(place, panel["x"])
        name_guides(place, guides)
        handles, _ = place.get_legend_handles_labels()
        if handles:
            legend(place)

    def _line(self, place, panel, line, look, cube, probes, labels, traces) -> list[tuple[str, float, str]]:
        """Draws a line, and its guide, whose name is the answer: text, height and colour."""
        colour, marker = look
        where, axis = line.get("where", {}), panel["x"]
        label = line.get("label", labels[line["learner"]] if "learner" in line else line["variable"].replace("_", " "))
        if "errors" in line:
            x, values = np.array(line["errors"]), self._norms(line, where, traces)
        elif panel["kind"] == "probe":
            x, values = along(probes[panel["probe"]], line["variable"], axis, where)
        elif panel["kind"] == "trace":
            x, values = self._trace(line, where, traces)
            self._marks(place, line, where, cube, colour)
        elif panel["kind"] == "growth":
            table = complexities(cube, line["learner"], where, panel.get("threshold", 0.5), axis=axis)
            x, values = self._growth(place, table, colour, f"{label}: at least")
        else:
            chosen = at(cube, line["learner"], where, (axis, "seed")).sortby(axis)
            x, values = chosen[axis].values, chosen[panel.get("risk", "test_risk")].values
        of = panel.get("centre", "median")
        known = np.isfinite(values).all(axis=1)
        if place.get_xscale() == "log" and panel["kind"] == "trace":
            # before the first step there is nothing to take the logarithm of
            known &= x > 0
        if place.get_yscale() == "log":
            # what has its centre at 0 or below has no place on the axis
            known &= centre(np.where(known[:, None], values, 1.0), of) > 0
        if not known.any():
            return []
        x, values = x[known].astype(float), values[known]
        middle = centre(values, of)
        if line.get("bound"):
            place.plot(x, middle, color=colour, lw=0.9, ls="-.", label=label)
        else:
            # of many steps a few are marked, to tell the lines apart without colours
            every = 0.15 if panel["kind"] == "trace" else None
            band(place, x, values, colour, marker=marker, markevery=every, label=label, of=of)
        if "slope" not in line:
            return []
        guide = line.get("shift", 1) * middle[-1] * (x / x[-1]) ** line["slope"]
        place.plot(x, guide, color=colour, lw=0.9, ls=(0, (5, 3)))
        return [(f"slope {line['slope']:.2g}".replace("-", "\u2212"), guide[-1], colour)]

    def _theory(self, place, panel, line, colour, probe, reach) -> None:
        """A probe's variable beside learners as far as `reach`, in the legend where it has a label."""
        x, values = along(probe, line["variable"], panel["x"], line.get("where", {}))
        known = np.isfinite(values).all(axis=1) & (x <= reach)
        label = line.get("label", "_nolegend_")
        place.plot(x[known], np.median(values[known], axis=1), color=colour, ls=":", lw=1, label=label)

    def _bars(self, place, panel, cube, labels) -> None:
        """One row a learner: every seed, and their centre."""
        ours = [line for line in panel["lines"] if "published" not in line]
        looks, names, beside = iter(_identities.of_rows(ours, _identities.looks(labels))), [], 0
        for row, line in enumerate(panel["lines"]):
            if "published" in line:
                overlay_row(place, line, row, beside)
                names.append(line.get("label", LABEL))
                beside += 1
                continue
            values = at(cube, line["learner"], line.get("where", {}), ("seed",))[panel.get("risk", "test_risk")].values
            colour, marker = next(looks)
            place.plot(values, np.full(len(values), row), ".", color=colour, alpha=0.5)
            place.plot(centre(values[None], panel.get("centre", "median"))[0], row, marker, color=colour)
            names.append(line.get("label", labels[line["learner"]]))
        place.set_xscale(panel.get("xscale", "log"))
        if not has_points(place):
            explain(place, "nothing was measured\nthat this axis can show")
            return
        _levels(place.axvline, panel)
        if panel.get("levels"):
            legend(place)
        place.set_yticks(range(len(names)), names, fontsize=7)
        place.invert_yaxis()
        place.set(xscale=panel.get("xscale", "log"), xlabel=panel.get("ylabel", "test risk"))
        place.grid(axis="y", color="#dddddd", lw=0.5)
        tidy(place)

    def _growth(self, place, table, colour, label):
        """Sizes (K,) and n* (K, S), NaN where half the seeds or more never crossed: there n* is at least what open
        triangles show, or at most where these point down."""
        middle, _ = medians(table)
        known = np.isfinite(middle)
        above = ~known & (table.status == "right_censored").any(axis=1)
        if above.any():
            limits = np.nanmax(table.samples[above], axis=1)
            place.plot(table.sizes[above], limits, color=colour, marker="^", mfc="white", ls="none", label=label)
        below = ~known & (table.status == "left_censored").any(axis=1)
        if below.any():
            most, at_most = np.nanmin(table.samples[below], axis=1), label.replace("at least", "at most")
            place.plot(table.sizes[below], most, color=colour, marker="v", mfc="white", ls="none", label=at_most)
        shown = np.where(table.status == "observed", table.samples, np.exp(middle)[:, None])
        return table.sizes, np.where(known[:, None], shown, np.nan)

    def _trace(self, line, where, traces):
        """Steps (T,) and what a learner recorded (T, S), of the seeds that it was trained for at this place."""
        learner, variable = line["learner"], line["variable"]
        if traces is None or variable not in traces or learner not in traces.learner.values:
            return np.empty(0), np.empty((0, 1))
        chosen = at(traces[[variable]], learner, where, ("step", "seed"))
        values = chosen[variable].values
        trained = np.isfinite(values).any(axis=0)
        return chosen.step.values, values[:, trained] if trained.any() else values

    def _norms(self, line, where, traces):
        """The norms (K, S) at the training errors of a line; NaN where a training does not get there."""
        if traces is None or line["learner"] not in traces.learner.values:
            return np.full((len(line["errors"]), 1), np.nan)
        chosen = at(traces[["train_loss", "frobenius_norm"]], line["learner"], where, ("seed", "step"))
        recorded = list(zip(chosen.train_loss.values, chosen.frobenius_norm.values, strict=True))
        return np.array([[value_at(*row, error) for row in recorded] for error in line["errors"]])

    def _marks(self, place, line, where, cube, colour) -> None:
        """Thin vertical lines where something happened to the learner, at the median over the seeds it happened to."""
        for number, (name, label) in enumerate(line.get("marks", {}).items()):
            steps = at(cube, line["learner"], where, ("seed",))[name].values
            steps = steps[np.isfinite(steps)]
            if len(steps):
                place.axvline(np.median(steps), color=colour, lw=0.8, ls=DASHES[number % len(DASHES)], label=label)

    def _counted(self, place, panel) -> None:
        """The samples from which counting allows every kernel the threshold, along the dimension or the order."""
        counting, threshold = panel["counting"], panel.get("threshold", 0.5)
        low, high = place.dataLim.intervalx
        sizes = np.unique(np.geomspace(max(low, counting.get("order", 2)), high, 50).round().astype(int)).tolist()
        places = [counting | {panel["x"]: size} for size in sizes]
        least = [
            composition_sample_bound(threshold * _norm(at_), at_["dimension"], at_["order"], at_["alpha"])
            for at_ in places
        ]
        at_d = f" at $d={counting['dimension']}$" if "dimension" in counting else ""
        place.plot(sizes, least, color="#777777", lw=1, ls="--", label=f"every kernel{at_d}, by counting")

    def _counting(self, place, at_) -> None:
        low, high = place.get_xlim()
        if "degree" in at_:
            count, label = harmonics(at_["dimension"], at_["degree"]), "bound $1-n/N(d,p)$"
        else:
            of, spans = (at_["dimension"], at_["order"], at_["alpha"]), at_.get("spans", 1)
            count = comb(at_["dimension"], at_["order"]) / spans
            head = "k\\alpha^2" if _norm(at_) == 1 else "\\alpha^2/(1+\\alpha^2)"
            label = f"bound ${head}(1-{'' if spans == 1 else spans}N/C(d,k))$"
        n = np.geomspace(max(low, 1.0), min(high, 0.98 * count), 200)
        bound = 1.0 - n / count if "degree" in at_ else composition_risk_bound(spans * n, *of) / _norm(at_)
        place.plot(n, bound, color="#777777", lw=1, ls="--", label=label)
        if "features" in at_:
            name = f"the same, $D={at_['features']}$ in place of $N$"
            least = composition_risk_bound(at_["features"], *of) / _norm(at_)
            place.axhline(least, color="#777777", lw=1, ls="-.", label=name)


def _norm(counting) -> float:
    """E|H|^2 in the target's own units, over which risks are with `scale: unit`; 1 with `scale: paper`."""
    return counting["order"] * (1 + counting["alpha"] ** 2) if counting.get("scale") == "unit" else 1.0


# Named levels are told apart without colours.
DASHES = (":", (0, (4, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (1, 1)))


def _levels(line, panel) -> None:
    """Lines of reference across a panel. line: axhline or axvline of the axes."""
    if "level" in panel:
        line(panel["level"], color="#777777", lw=0.8, ls=":")
    for number, level in enumerate(panel.get("levels", [])):
        line(level["value"], color="#777777", lw=0.9, ls=DASHES[number % len(DASHES)], label=level["label"])


def _ylabel(panel, lines) -> str:
    """What the panel shows, where its file does not say."""
    if panel["kind"] == "growth":
        return "n*"
    variables = {line["variable"] for line in lines} if panel["kind"] == "trace" else set()
    return variables.pop().replace("_", " ") if len(variables) == 1 else "test risk"
