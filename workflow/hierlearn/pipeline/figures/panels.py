"""Panels of curves: a probe's variables, risks, n* or trajectories of training, and published numbers beside them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import ceil, comb, lcm
from typing import Annotated, Any

import numpy as np
from annotated_types import Interval, MinLen

from hierlearn.core import protocols
from hierlearn.pipeline.figures import _identities
from hierlearn.pipeline.figures._axes import name_values, tick_values, tidy
from hierlearn.pipeline.figures._legends import at_the_ends, at_the_top, legend
from hierlearn.pipeline.figures._notes import Told, note, words
from hierlearn.pipeline.figures._parameters import Panel
from hierlearn.pipeline.figures._published import LABEL, overlay, overlay_row
from hierlearn.pipeline.figures._style import band, blank, centre, explain, has_points, headed, name_claims, points
from hierlearn.pipeline.quantities._tables import along, at, complexities
from hierlearn.statistics.complexity import medians
from hierlearn.statistics.learning_curves import value_at
from hierlearn.theory.dimensions import composition_risk_bound, composition_sample_bound, harmonics

# Theory goes on to so many times the largest place where a learner was measured, which it would squeeze otherwise.
BEYOND = 2.0
# Rows above a panel of bars for the names of its levels.
ROOM = 0.7
LETTERS = "abcdefghijklmnop"


@dataclass(kw_only=True)
class _Given:
    """What a figure is drawn from, and what its panels have shown so far."""

    cube: Any
    probes: Mapping[str, Any]
    labels: Mapping[str, str]
    traces: Any
    seen: dict[str, _identities.Look] = field(default_factory=dict)
    told: list[Told] = field(default_factory=list)


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
        given = _Given(cube=cube, probes=probes, labels=study["labels"], traces=traces)
        places = _places(figure, rows, columns, len(self.panels))
        for letter, place, panel in zip(LETTERS, places, self.panels, strict=False):
            place.set_title(headed(letter, panel["title"], len(self.panels)))
            name_claims(place, panel.get("shows", ()))
            told = Told(letter, panel)
            if panel["kind"] == "bars":
                self._bars(place, panel, given, told)
            else:
                self._curves(place, panel, given, told)
            given.told.append(told)
        note(figure, words(given.told))
        return figure

    def _curves(self, place, panel, given, told) -> None:
        place.set(xscale=panel.get("xscale", "log"), yscale=panel.get("yscale", "log"))
        ours = [line for line in panel["lines"] if "published" not in line]
        looks, guides = _identities.of_lines(ours, _identities.looks(given.labels), given.seen), []
        for line, look in zip(ours, looks, strict=True):
            if "probe" not in line:
                guides += self._line(place, panel, line, look, given, told)
        reach = BEYOND * place.dataLim.x1
        for line, (colour, _) in zip(ours, looks, strict=True):
            if "probe" in line:
                self._theory(place, panel, line, colour, given.probes[line["probe"]], reach)
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
        if "named" in panel:
            name_values(place, panel["named"])
        for level in panel.get("verticals", []):
            place.axvline(level["value"], color="#777777", lw=0.9, ls=":")
            at_the_top(place, level["value"], level["label"])
        for mark in told.marks:
            at_the_top(place, *mark)
        told.slopes = bool(guides)
        if not at_the_ends(place, guides):
            legend(place)

    def _line(self, place, panel, line, look, given, told) -> list[tuple[str, float, str]]:
        """Draws a line, and its guide, whose name is the answer: text, height and colour."""
        colour, marker = look
        cube, labels, traces = given.cube, given.labels, given.traces
        where, axis = line.get("where", {}), panel["x"]
        label = _name(line, labels)
        if "errors" in line:
            x, values = np.array(line["errors"]), self._norms(line, where, traces)
        elif panel["kind"] == "probe":
            x, values = along(given.probes[panel["probe"]], line["variable"], axis, where)
        elif panel["kind"] == "trace":
            x, values = self._trace(line, where, traces)
            self._marks(place, line, where, cube, colour, told)
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
        elif "named" in panel:
            points(place, x, values, colour, marker=marker, label=label, of=of)
            told.add(values, joined=False)
        else:
            # of many steps a few are marked, to tell the lines apart without colours
            every = 0.15 if panel["kind"] == "trace" else None
            band(place, x, values, colour, marker=marker, markevery=every, label=label, of=of)
            told.add(values, to_0=place.get_yscale() == "log" and bool((values <= 0).any()))
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

    def _bars(self, place, panel, given, told) -> None:
        """One row a learner, the smallest centre first: every seed, and their centre. Published numbers stand in the
        row of a learner where they say so, else in rows of their own."""
        of, rows = panel.get("centre", "median"), {}
        ours = [number for number, line in enumerate(panel["lines"]) if "published" not in line]
        lines = [panel["lines"][number] for number in ours]
        looks = dict(zip(ours, _identities.of_rows(lines, _identities.looks(given.labels)), strict=True))
        measured = {number: self._risks(panel, panel["lines"][number], given.cube) for number in ours}
        middle = {number: centre(values[None], of)[0] for number, values in measured.items()}
        # Those that were not measured come last, in the order of the file.
        for number in sorted(ours, key=lambda one: middle[one] if np.isfinite(middle[one]) else np.inf):
            rows[number] = len(rows)
            values, (colour, marker) = measured[number], looks[number]
            points(place, [rows[number]], values[None], colour, marker=marker, of=of, across=True)
            if np.isfinite(values).any():
                told.add(values[None], joined=False)
        names = [_name(panel["lines"][number], given.labels) for number in rows]
        beside = 0
        for line in (line for line in panel["lines"] if "published" in line):
            label, row = line.get("label", LABEL), rows.get(line.get("row_of", 0) - 1)
            if row is not None:
                overlay_row(place, line, row, 0, label)
                continue
            overlay_row(place, line, len(names), beside)
            names.append(label)
            beside += 1
        place.set_xscale(panel.get("xscale", "log"))
        if not has_points(place):
            explain(place, "nothing was measured\nthat this axis can show")
            return
        place.set_yticks(range(len(names)), names, fontsize=7)
        place.set_ylim(len(names) - 0.5, -0.5 - ROOM * bool(panel.get("levels")))
        _levels(place.axvline, {"level": panel["level"]} if "level" in panel else {})
        place.set(xlabel=panel.get("ylabel", "test risk"))
        for number, level in enumerate(panel.get("levels", [])):
            place.axvline(level["value"], color="#777777", lw=0.9, ls=DASHES[number % len(DASHES)])
        for level in panel.get("levels", []):
            at_the_top(place, level["value"], level["label"])
        if place.get_legend_handles_labels()[0]:
            legend(place)
        place.grid(axis="y", color="#dddddd", lw=0.5)
        tidy(place)

    def _risks(self, panel, line, cube):
        return at(cube, line["learner"], line.get("where", {}), ("seed",))[panel.get("risk", "test_risk")].values

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

    def _marks(self, place, line, where, cube, colour, told) -> None:
        """Thin vertical lines where something happened to the learner, at the median over the seeds it happened to."""
        for number, (name, label) in enumerate(line.get("marks", {}).items()):
            steps = at(cube, line["learner"], where, ("seed",))[name].values
            steps = steps[np.isfinite(steps)]
            if len(steps):
                place.axvline(np.median(steps), color=colour, lw=0.8, ls=DASHES[number % len(DASHES)])
                told.marks.append((np.median(steps), label, colour))

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


def _places(figure, rows: int, columns: int, panels: int) -> list[Any]:
    """Axes for so many panels; a first row of fewer is as wide as the others, unless that is one."""
    first = panels - (rows - 1) * columns
    if first == 1:
        places = figure.subplots(rows, columns, squeeze=False).ravel()
        for place in places[panels:]:
            place.set_axis_off()
        return list(places)
    parts = lcm(columns, first)
    grid = figure.add_gridspec(rows, parts)
    found = []
    for row in range(rows):
        wide = parts // (columns if row else first)
        found += [figure.add_subplot(grid[row, k : k + wide]) for k in range(0, parts, wide)]
    return found


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


def _name(line, labels) -> str:
    """The label of a line, or its learner's, or its variable."""
    return line.get("label", labels[line["learner"]] if "learner" in line else line["variable"].replace("_", " "))


def _ylabel(panel, lines) -> str:
    """What the panel shows, where its file does not say."""
    if panel["kind"] == "growth":
        return "n*"
    variables = {line["variable"] for line in lines} if panel["kind"] == "trace" else set()
    return variables.pop().replace("_", " ") if len(variables) == 1 else "test risk"
