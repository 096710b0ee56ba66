"""Learning curves, sample complexity against dimension, and exponents, for all learners of a study."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, get_args

import numpy as np
from annotated_types import MinLen

from hierlearn.core import protocols
from hierlearn.core.parameters import UNIQUE, Reference
from hierlearn.pipeline.figures._axes import broken, dimension_axis, surround, tidy
from hierlearn.pipeline.figures._censored import draw_bounds, limits, words
from hierlearn.pipeline.figures._identities import looks as identities
from hierlearn.pipeline.figures._legends import stand_below
from hierlearn.pipeline.figures._parameters import Shown, Text
from hierlearn.pipeline.figures._style import CLAIMS, band, blank, explain, has_points, headed, name_claims, remark
from hierlearn.pipeline.quantities._tables import at, complexities, regressor
from hierlearn.statistics.complexity import Complexities, medians
from hierlearn.statistics.exponents import slope

COUNTS = {
    "dimension": "$d$",
    "harmonic_dimension": "$N(d,p)$",
    "polynomial_dimension": r"$P_{\lceil p/2\rceil}$",
    "quadratic_dimension": "$P_2$",
    "quad_raw_dimension": "$d\\,N(d,p-2)$",
}
PREDICTED = "predicted: as the counted dimension"
AT_MOST = "\u2193 reached at once: an upper bound"
# The lowest and the highest risk that learning curves show.
LOWEST, HIGHEST = 0.008, 2.0
# Of the lower panels, relative to one another.
WIDTHS = {"b": 1.5, "c": 1.0, "d": 0.8, "e": 0.8}
# How points are drawn that count unlabelled ones.
TOTAL = {"marker": "x", "ms": 6, "mew": 1.6}
# Panels beside one another whose axes have room for words.
MANY = 6
# Panels beside one another whose axes are labelled like rows of exponents: in short lines.
NARROW = 8
# Sizes of a curve that is long enough for a learning curve.
FEW = 5
Learner = Annotated[str, Reference("learners")]
Letter = Literal["a", "b", "c", "d", "e"]
Counts = dict[
    Learner,
    Literal["dimension", "harmonic_dimension", "polynomial_dimension", "quadratic_dimension", "quad_raw_dimension"],
]
Sizes = dict[Learner, Annotated[list[int], UNIQUE, Reference("dimensions")]]


@dataclass(frozen=True, kw_only=True)
class SampleComplexity(protocols.Figure):
    """How learning curves fall, how n* grows with d, what theory says of the kernels, and the measured exponents."""

    threshold: Annotated[float, Reference("thresholds"), "Risk that n* reaches."] = 0.5
    main: Annotated[
        dict[str, Any], Reference("coordinates"), "Values of the other axes in the learning curves and the large panel."
    ] = field(default_factory=dict)
    control: Annotated[
        dict[str, Any],
        Reference("coordinates"),
        "Values of the other axes in the control panel, where no effect is predicted.",
    ] = field(default_factory=dict)
    marked: Annotated[
        list[float], UNIQUE, Reference("thresholds"), "Further risks that the learning curves show a line at."
    ] = field(default_factory=list)
    counted: Annotated[Counts, "Learner -> the counted dimension that its n* is compared with."] = field(
        default_factory=dict
    )
    control_counted: Annotated[
        Counts, "The same in the control panel, of learners whose prediction is another one there."
    ] = field(default_factory=dict)
    compared: Annotated[
        Counts, "Learner -> the counted dimension of its exponents at `main`, where a rival's is what it is judged by."
    ] = field(default_factory=dict)
    together: Annotated[
        dict[Learner, Annotated[list[Learner], UNIQUE]],
        "Learner -> others like it whose unlabelled points are counted too: the least of them in the large panel.",
    ] = field(default_factory=dict)
    hidden: Annotated[list[Learner], UNIQUE, "Learners that claims compare and the figure leaves out."] = field(
        default_factory=list
    )
    sizes: Annotated[Sizes, "Learner -> dimensions that lines are fitted to; all of the study's by default."] = field(
        default_factory=dict
    )
    control_sizes: Annotated[Sizes, "The same in the control panel, of learners that are fitted to others there."] = (
        field(default_factory=dict)
    )
    theory: Annotated[
        dict[Learner, Annotated[str, Reference("probe lines")]],
        "Learner -> name of its theory line.",
    ] = field(default_factory=dict)
    probe: Annotated[str, Reference("probes"), "Name of the probe that holds the theory lines."] = ""
    shows: Annotated[dict[Letter, Shown], "Claims that a panel shows; their names stand above it."] = field(
        default_factory=dict
    )
    titles: Annotated[dict[Letter, Text], "What one sees in a panel, in place of what it has on its axes."] = field(
        default_factory=dict
    )
    only: Annotated[list[Letter], MinLen(1), UNIQUE, "The panels that are drawn, of those that the study fills."] = (
        field(default_factory=lambda: list(get_args(Letter)))
    )

    @property
    def letters(self) -> tuple[str, ...]:
        filled = {"c": bool(self.control), "d": bool(self.probe)}
        return tuple(letter for letter in self.only if filled.get(letter, True))

    def alone(self, letter: Any) -> "SampleComplexity":
        return replace(self, only=[letter])

    def draw(self, cube: Any, probes: Mapping[str, Any], study: Mapping[str, Any], traces: Any = None) -> Any:
        """cube: scores.nc of the study; probes by name; study: labels of the learners, title."""
        from matplotlib.lines import Line2D

        every = [str(name) for name in cube.learner.values if str(name) not in self.hidden]
        looks = identities(study["labels"])
        # One that is trained elsewhere alone, at another degree, has nothing to show here.
        places = [self.main, self.control] if self.control else [self.main]
        names = [name for name in every if any(_has_risk(cube, name, where) for where in places)]
        lines = probes.get(self.probe)
        # Of a study whose only axis is the dimension no other value is fixed.
        used = {"b": True, "c": bool(self.control), "d": lines is not None, "e": True}
        letters = [letter for letter, there in used.items() if there and letter in self.only]
        figure, top, bottom = _areas("a" in self.only, bool(letters))
        curves = [name for name in names if _has_risk(cube, name, self.main)]
        if top is not None and curves:
            self._curves(top, cube, curves, looks, study["labels"])
        elif top is not None:
            place = top.subplots()
            place.set_title(headed("a", self.titles.get("a", _titled("Learning curves", self.main)), len(self.letters)))
            explain(place, "no risk was measured")
        if bottom is None:
            return figure
        ratios = [WIDTHS[letter] for letter in letters]
        (row,) = bottom.subplots(1, len(letters), width_ratios=ratios, squeeze=False)
        panels = dict(zip(letters, row, strict=True))
        tables = []
        for letter, where in (("b", self.main), ("c", self.control)):
            if letter in panels:
                tables += self._growth(panels[letter], cube, lines, names, looks, where)
                role = f"Samples to risk {self.threshold:g}" if where is self.main else "Control"
                words = self.titles.get(letter, _titled(role, where))
                panels[letter].set_title(headed(letter, words, len(self.letters)))
        at_most = any(np.isfinite(limits(table)[1]).any() for table in tables)
        if "b" in panels:
            self._totals(panels["b"], cube, looks)
        if "d" in panels:
            self._theory(panels["d"], lines, looks, study["labels"])
        if "e" in panels:
            self._exponents(panels["e"], cube, names, looks, study["labels"])
        for letter, panel in panels.items():
            name_claims(panel, self.shows.get(letter, ()))
        handles = [
            *(Line2D([], [], color=looks[k][0], marker=looks[k][1], label=study["labels"][k]) for k in names),
            Line2D([], [], color="#777777", ls="-", label="fitted power of $d$"),
            Line2D([], [], color="#777777", ls="", marker="|", ms=9, label=f"all {cube.sizes.get('seed', 1)} seeds"),
            *([Line2D([], [], color="#777777", ls=(0, (5, 3)), lw=0.9, label=PREDICTED)] if self.counted else []),
            *(
                [Line2D([], [], color="#777777", ls=":", label="theory (deterministic equivalent)")]
                if self.theory
                else []
            ),
            Line2D([], [], color="#777777", marker="o", mfc="white", ls="", label="\u2191 not reached: a lower bound"),
            *([Line2D([], [], color="#777777", marker="o", mfc="white", ls="", label=AT_MOST)] if at_most else []),
            *(
                Line2D([], [], color=looks[k][0], ls="", label=f"{study['labels'][k]}, unlabelled too", **TOTAL)
                for k in self.together
            ),
        ]
        stand_below(bottom, handles)
        return figure

    def _curves(self, area, cube, names, looks, labels) -> None:
        from matplotlib.colors import to_rgb
        from matplotlib.ticker import LogLocator

        panels = area.subplots(1, len(names), sharex=True, sharey=True, squeeze=False)[0]
        dimensions = cube.dimension.values
        for panel, name in zip(panels, names, strict=True):
            chosen = at(cube, name, self.main)
            for i, d in enumerate(dimensions):
                risk = chosen.test_risk.sel(dimension=d).values
                # A median over the seeds that are still walking would jump where one stops.
                shown = np.isfinite(risk).all(axis=0)
                white = 0.55 - 0.55 * i / max(len(dimensions) - 1, 1)
                shade = tuple(1 - (1 - channel) * (1 - white) for channel in to_rgb(looks[name][0]))
                n = chosen.samples.values[shown]
                # What a search visits near its crossing is no learning curve.
                if len(n) <= FEW:
                    continue
                band(panel, n, risk[:, shown].T, shade, alpha=0.2)
                end = (n[-1], np.median(risk[:, shown][:, -1]))
                panel.annotate(str(d), end, xytext=(2, -2), textcoords="offset points", fontsize=7)
            if not panel.get_lines():
                remark(panel, "sizes about its\ncrossing alone:\nsee b")
            for risk in (self.threshold, *self.marked):
                panel.axhline(risk, color="#777777", lw=0.7, ls="--")
            panel.set(xscale="log", yscale="log", ylim=(LOWEST, HIGHEST))
            if (most := float(chosen.test_risk.max())) < LOWEST:
                remark(panel, f"risk at most {most:.1g}\nat every size")
            label = labels[name].replace(" (", "\n(").replace(" on the", "\non the")
            panel.set_title(broken(label, len(names)), fontsize=8, loc="center")
            panel.set_xlabel("labelled samples $n$" if len(names) <= MANY else "$n$")
        # They share their axes.
        panels[0].xaxis.set_major_locator(LogLocator(numticks=4))
        tidy(panels[0])
        for risk in (self.threshold, *self.marked):
            beside = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
            panels[0].annotate(f"{risk:g}", (0, risk), (2, 2), fontsize=7, **beside)
        panels[0].set_ylabel("test risk (median, range)")
        words = self.titles.get("a", _titled("Learning curves", self.main))
        title = headed("a", f"{words}; numbers are $d$", len(self.letters))
        area.suptitle(title, fontsize=9, fontweight="bold", x=0.01, ha="left")
        if "a" in self.shows:
            area.text(0.99, 0.985, ", ".join(self.shows["a"]), **CLAIMS, ha="right", va="top")

    def _growth(self, panel, cube, lines, names, looks, where) -> list[Complexities]:
        """The tables of n* that the panel shows."""
        beside: Counter[int] = Counter()
        tables = []
        for name in names:
            colour, marker = looks[name]
            table = complexities(cube, name, where, self.threshold)
            tables.append(table)
            centre, _ = medians(table)
            known = np.isfinite(centre)
            for k in np.flatnonzero(known):
                seen = table.samples[k][table.status[k] == "observed"]
                panel.plot([table.sizes[k]] * 2, [seen.min(), seen.max()], color=colour, lw=1, alpha=0.5)
            panel.plot(table.sizes[known], np.exp(centre[known]), color=colour, marker=marker, ls="none")
            draw_bounds(panel, table, colour, marker, beside)
            reach = 1.5 * float(cube.dimension.values[-1])
            self._fit(panel, table, name, colour, where, reach)
            theory = self._line(lines, name, where)
            if theory is not None:
                near = theory.sel(dimension=slice(None, 1.5 * float(table.sizes[-1])))
                panel.plot(near.dimension, near, color=colour, ls=":", lw=1)
        surround(panel, cube.dimension.values)
        panel.set(xscale="log", yscale="log", xlabel="dimension $d$", ylabel="$n^*$")
        if not has_points(panel):
            explain(panel, words(tables))
            return tables
        if said := words(tables):
            remark(panel, said, 0.93)
        dimension_axis(panel, cube.dimension.values)
        return tables

    def _totals(self, panel, cube, looks) -> None:
        """The least number of points, labelled and not, over learners alike."""
        for name, others in self.together.items():
            least: dict[int, float] = {}
            for other in set(others) & set(cube.learner.values.tolist()):
                unlabelled = at(cube, other, self.main).unlabelled_samples.max(("seed", "samples")).values
                table = complexities(cube, other, self.main, self.threshold)
                centre, _ = medians(table)
                for size, total in zip(table.sizes.tolist(), np.exp(centre) + unlabelled, strict=True):
                    if np.isfinite(total):
                        least[size] = min(total, least.get(size, total))
            sizes = sorted(least)
            panel.plot(sizes, [least[size] for size in sizes], color=looks[name][0], ls="none", **TOTAL)

    def _theory(self, panel, lines, looks, labels) -> None:
        """The theory lines as far as they go, beside the exponent that they tend to."""
        for name in self.theory:
            colour, marker = looks[name]
            for where in (self.main, self.control):
                theory = self._line(lines, name, where) if where else None
                if theory is not None:
                    counted = regressor(self._dimensions(where)[name], lines.dimension.values, where)
                    panel.plot(lines.dimension, theory / counted, color=colour, marker=marker, ms=3, ls=":", lw=1.2)
                    end = (lines.dimension.values[-1], theory.values[-1] / counted[-1])
                    look = {"textcoords": "offset points", "fontsize": 7, "ha": "right"}
                    panel.annotate(f"{labels[name]}, {_words(where)}", end, (0, -10), **look)
        panel.margins(y=0.08)
        panel.set(xscale="log", yscale="log", xlabel="dimension $d$", ylabel="$n^*/N(d,p)$")
        dimension_axis(panel, [6, 20, 56, 160])
        panel.set_title(headed("d", self.titles.get("d", "Theory, kernels"), len(self.letters)))

    def _line(self, lines, name, where):
        """The theory line of a learner at a place, None where the probe has none."""
        if lines is None or name not in self.theory or not set(where) <= set(lines.dims):
            return None
        if any(value not in lines[axis].values for axis, value in where.items()):
            return None
        return lines.sample_complexity.sel(line=self.theory[name], threshold=self.threshold, **where)

    def _fit(self, panel, table, name, colour, where, reach) -> None:
        """The fitted line over its sizes, and beside it growth as the counted dimension, as far as `reach`."""
        fit = slope(table, None, self._sizes(name, table, where))
        if len(fit.sizes_fitted) < 2:
            return
        d = np.array([min(fit.sizes_fitted), max(fit.sizes_fitted)], dtype=float)
        panel.plot(d, np.exp(fit.intercept + fit.value * np.log(d)), color=colour, lw=1.4)
        counted = self._dimensions(where).get(name)
        if counted:
            d = np.unique(np.round(np.geomspace(min(fit.sizes_fitted), reach, 12)))
            centre = [m for m, size in zip(fit.medians, table.sizes, strict=True) if size in fit.sizes_fitted]
            shift = np.mean(np.asarray(centre) - np.log(regressor(counted, fit.sizes_fitted, where)))
            predicted = np.exp(shift) * regressor(counted, d, where)
            panel.plot(d, predicted, color=colour, lw=0.9, ls=(0, (5, 3)), alpha=0.8)

    def _dimensions(self, where) -> dict[str, str]:
        return self.counted if where is self.main else self.counted | self.control_counted

    def _sizes(self, name, table, where):
        sizes = self.sizes if where is self.main else self.sizes | self.control_sizes
        return sizes.get(name) or table.sizes.tolist()

    def _exponents(self, panel, cube, names, looks, labels) -> None:
        """A row per learner and degree: exponent in the counted dimension that its label names, with its interval."""
        from matplotlib.markers import CARETLEFTBASE, CARETRIGHTBASE

        rows, ticks, drawn, heads = 0.0, [], [], []
        for where in (self.main, self.control):
            if not where and where is not self.main:
                continue
            counted = self._dimensions(where) | (self.compared if where is self.main else {})
            # Where nothing is said of any learner, d itself is what n* is compared with.
            if not (self.counted or self.control_counted or self.compared):
                counted = dict.fromkeys(names, "dimension")
            for name in [name for name in names if name in counted]:
                table = complexities(cube, name, where, self.threshold)
                values = regressor(counted[name], table.sizes, where)
                fit = slope(table, values, self._sizes(name, table, where))
                if np.isfinite(fit.value):
                    drawn.append((rows, fit, *looks[name]))
                    if not (where is self.main and name in self.compared):
                        # Growth as what the learner itself needs; a count of a rival's says nothing of it.
                        panel.plot([1.0, 1.0], [rows - 0.5, rows + 0.5], color="#777777", lw=0.8, ls="--")
                    ticks.append((rows, f"{broken(labels[name], NARROW)}\nin {COUNTS[counted[name]]}"))
                    rows += 1
            if len(drawn) > len(heads) and where:
                heads.append((rows, _words(where)))
            rows += 0.6
        # A wide interval runs off the panel, to an arrow, rather than squeeze the others.
        left, right = 0.3, max([1.5, *(fit.value for _, fit, *_ in drawn)]) + 0.2
        for row, fit, colour, marker in drawn:
            if np.isfinite(fit.low):
                panel.plot(np.clip([fit.low, fit.high], left, right), [row, row], color=colour, lw=1.4)
                if fit.low < left:
                    panel.plot(left, row, marker=CARETLEFTBASE, color=colour, clip_on=False)
                if fit.high > right:
                    panel.plot(right, row, marker=CARETRIGHTBASE, color=colour, clip_on=False)
            panel.plot(fit.value, row, marker=marker, color=colour)
        for row, text in heads:
            panel.text(right, row - 0.35, text, fontsize=7, color="#777777", ha="right", va="center")
        panel.set_yticks([y for y, _ in ticks], [text for _, text in ticks], fontsize=6, linespacing=1.0)
        panel.invert_yaxis()
        panel.set_xlim(left, right)
        panel.set_xlabel("exponent of $n^*$")
        if not drawn:
            explain(panel, "no exponent:\nit takes $n^*$ at two\ndimensions or more")
        panel.set_title(headed("e", self.titles.get("e", "Exponents, 95 %"), len(self.letters)))


def _has_risk(cube, name, where) -> bool:
    return bool(np.isfinite(at(cube, name, where).test_risk).any())


def _titled(what: str, where: Mapping[str, Any]) -> str:
    return ", ".join(filter(None, (what, _words(where))))


def _words(where: Mapping[str, Any]) -> str:
    return ", ".join(f"${'p' if axis == 'degree' else axis}={value}$" for axis, value in where.items())


def _areas(above: bool, below: bool) -> tuple[Any, Any, Any]:
    """The figure, its part for the learning curves and its part for all other panels; None for a part without any."""
    if above and below:
        figure = blank(11, 8.4)
        return figure, *figure.subfigures(2, 1, height_ratios=(0.8, 1.25), hspace=0.02)
    figure = blank(11, 3.3 if above else 5.1)
    return figure, figure if above else None, figure if below else None
