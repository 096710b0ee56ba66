"""Trains all settings of a quadratic DenseNet for all seeds, and measures features on the way."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from hierlearn.core.protocols import Fit, Monitor, State, TrainingData
from hierlearn.learners._runs import BLOCK_ROWS, Runs, Setting, best_fits, grid, weakly
from hierlearn.learners._selection import error
from hierlearn.learners.densenets.parameters import FEATURE_ERRORS, TRACED_POINTS
from hierlearn.learners.densenets.student import Student
from hierlearn.solvers.densenets.model import Layout
from hierlearn.solvers.densenets.phases import Schedule
from hierlearn.statistics.features import feature_errors
from hierlearn.theory import quadratic_densenets

GRAPHS = ("own", "skip", "chain", "dense")
# Looks of a trace per phase: so many evenly spaced ones, and so many in the logarithm of the time since its start.
EVEN, EARLY = 8, 6
# What `QuadraticTraining.forward` returns.
Pass = tuple[list[np.ndarray], list[np.ndarray]]


def train(learner: Any, sample: TrainingData, monitor: Monitor) -> Fit:
    """Train; return for each seed the run with the least error on validation points."""
    learner.raise_for_data(sample)
    runs, data = DensenetRuns(learner, sample, grid(sample.choices)), sample.data
    runs.train(monitor, f"n{sample.n}-seed{data.seeds[0]}-{len(data.seeds)}")
    fits = best_fits([runs], monitor, {"validation": data.held_out})
    fit = Fit.stack(one["validation"] for one in fits)
    if "graph" in fit.choices:
        fit.choices["graph"] = np.array([float(GRAPHS.index(name)) for name in fit.choices["graph"]])
    return fit


class DensenetRuns(Runs):
    """All settings of all seeds in lockstep; R = S * G, seed after seed, in what is the training's.

    streams: of every run; label_sizes (R,): roots of the mean squared label, in the teacher's own units.
    """

    traced = TRACED_POINTS

    def __init__(self, learner: Any, sample: TrainingData, settings: Sequence[Setting]) -> None:
        self.student = Student.of(learner, sample.data)
        names, depth = [setting.get("graph", "own") for setting in settings], self.student.depth
        own_links = {"own": self.student.links}
        graphs = [own_links.get(name) or quadratic_densenets.links_by_name(name, depth) for name in names]
        inputs = self.student.columns(sample.features.draw("validation", 1))
        own = [learner.layout(inputs, replace(self.student, links=links)) for links in graphs]
        # What layers see in any of the graphs.
        union = tuple(tuple(sorted(set().union(*blocks))) for blocks in zip(*graphs, strict=True))
        self.student = replace(self.student, links=union)
        self.layout = learner.layout(inputs, self.student)
        super().__init__(learner, sample, settings)
        self.schedule, seeds = phase_schedule(learner, self.student.depth, self.steps), len(self.data.seeds)
        self.streams = [sample.streams.take([seed]) for seed in range(seeds) for _ in settings]
        points = self.data.draw("training", min(sample.n, TRACED_POINTS))
        sizes = np.sqrt(np.mean((points.labels / self.student.scale[:, None, None]) ** 2, axis=(1, 2)))
        self.label_sizes = np.repeat(sizes, len(settings))
        self.training = learner.training(
            self,
            self._start(own),
            alphas=self._alphas(),
            own=own * seeds,
            rates=np.tile([one["learning_rate"] for one in settings], seeds),
            decays=np.tile([one["weight_decay"] for one in settings], seeds),
            loss="logistic" if self.data.kind == "classes" else "squared",
            sharpness=learner.sharpness,
            optimiser=learner.optimiser,
            momentum=learner.momentum,
            clip=learner.clip,
        )
        self.training.on_phase = weakly(self._measure_before)
        self.entries = sum(values[0].size for values in self.training.weights.values())
        self.looks = steps_to_look_at(self.schedule)
        # Errors of features when a layer came, or would have come: which one, and the layer below the one that came.
        layers = [layer for layer in self.layout.layers[:-1] if f"S_{layer}" in self._hidden]
        self.moments = {
            f"{kind}_{layer}_before": (f"{kind}_{layer}", layer) for layer in layers for kind in FEATURE_ERRORS
        }
        if {2, 3} <= set(layers):
            self.moments["feature_error_2_after_3"] = "feature_error_2", 3
        self.before = {name: np.full(len(self.streams), np.nan) for name in self.moments}
        # The weights that the correction of a layer is measured from: at the start, and when the layer above came.
        self.past: dict[str, np.ndarray] = {}
        for layer in self.layout.layers[:-1]:
            weights = self.training.weights[f"layer_{layer}"]
            self.past |= {f"{layer}_start": weights.astype(np.float64), f"{layer}": np.full(weights.shape, np.nan)}

    def network_input(self, x: np.ndarray) -> np.ndarray:
        return self.student.network_input(x, self.layout)

    def see(self, x: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return points and labels as Runs does, in the teacher's own units."""
        return self.network_input(x), labels / self.student.scale.astype(np.float32)[:, None, None]

    def state(self) -> State:
        return super().state() | {f"before_{name}": values for name, values in (self.before | self.past).items()}

    def restore(self, arrays: State) -> None:
        super().restore(arrays)
        self.before = {name: arrays[f"before_{name}"].copy() for name in self.before}
        self.past = {name: arrays[f"before_{name}"].copy() for name in self.past}

    @np.errstate(over="ignore", invalid="ignore")
    def look(self) -> dict[str, np.ndarray]:
        result = {"train_loss": self._errors(*self.traced_points["training"])[-1]}
        validation = self.traced_points["validation"]
        passes = list(self._passes(validation[0]))
        risks = self._errors(*validation, passes)
        result |= {f"risk_layer_{layer}": risk for layer, risk in zip(self.layout.layers, risks, strict=True)}
        result["validation_risk"] = risks[-1]
        weights = self.training.weights.values()
        squares = [np.sum(np.square(values, dtype=np.float64), axis=(1, 2)) for values in weights]
        result["frobenius_norm"] = np.sqrt(sum(squares))
        return self._by_seed(result | self.training.look() | self._feature_errors(passes))

    def points(self, role: str, count: int) -> tuple[np.ndarray, np.ndarray]:
        x, labels = self.network_input(self.sample.features.draw(role, count)), self.data.draw(role, count).labels
        return np.repeat(x, len(self.settings), axis=0), np.repeat(labels, len(self.settings), axis=0)

    def errors(self, role: str, count: int) -> np.ndarray:
        return self._errors(*self.points(role, count))[-1].reshape(self.shape)

    def measures(self) -> dict[str, np.ndarray]:
        starts = self.training.clock.layer_starts()
        own = self.training.measures() | self.before | self._weight_correlations()
        own |= {f"start_{layer}": starts[:, layer - 2] for layer in self.layout.layers}
        result = self.look() | self._by_seed(own)
        return {name: values for name, values in result.items() if name not in ("train_loss", "validation_risk")}

    def weights(self, seed: int, column: int) -> State:
        """Return what Runs does, and what the student took from the teacher."""
        run = seed * len(self.settings) + column
        state = {name: values[run].copy() for name, values in self.training.final().items()}
        return state | {name: values[seed] for name, values in self.student.constants().items()}

    def _start(self, own: Sequence[Layout]) -> State:
        """Return the weights of every run at the start, (R, ...); own: the layout of every setting."""
        starts = {one: self.learner.start(one, self.student, self.sample.streams) for one in set(own)}

        def widen(one: Layout, name: str) -> np.ndarray:
            values, layer = starts[one][name], int(name.removeprefix("layer_"))
            if one == self.layout:
                return values
            wide = np.zeros((*values.shape[:2], self.layout.size(layer)), values.dtype)
            wide[..., one.within(self.layout, layer)] = values
            return wide

        every = {name: [widen(one, name) for one in own] for name in starts[own[0]]}
        return {name: np.stack(parts, axis=1).reshape(-1, *parts[0].shape[1:]) for name, parts in every.items()}

    def _alphas(self) -> np.ndarray:
        """(R, L - 1)."""
        every = np.repeat(self.student.alphas[:, None], len(self.settings), axis=1)
        for i, setting in enumerate(self.settings):
            if "gap" in setting:
                every[:, i] = quadratic_densenets.layer_weights(self.student.depth, None, setting["gap"])
        return every.reshape(-1, every.shape[-1])

    def _measure_before(self, runs: np.ndarray) -> None:
        errors = self._feature_errors(self._passes(self.traced_points["validation"][0]))
        phase = self.training.clock.phase
        for name, (measure, layer) in self.moments.items():
            here = runs & (phase == layer - 1)
            self.before[name][here] = errors[measure][here]
        for layer in self.layout.layers[:-1]:
            here = runs & (phase == layer - 1)
            self.past[f"{layer}"][here] = self.training.weights[f"layer_{layer}"][here]

    def _weight_correlations(self) -> State:
        """Of the weights of every layer but the last with its past ones, (R,) by name; NaN where there are none."""
        result = {}
        for name, past in self.past.items():
            now = self.training.weights[f"layer_{name.partition('_')[0]}"].astype(np.float64)
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                inner, *sizes = (np.sum(a * b, axis=(1, 2)) for a, b in ((now, past), (now, now), (past, past)))
                result[f"weight_correlation_{name}"] = inner / np.sqrt(sizes[0] * sizes[1])
        return result

    def _passes(self, x: np.ndarray) -> Iterator[Pass]:
        """Return what all layers make of points, block by block."""
        return (self.training.forward(x[:, i : i + BLOCK_ROWS]) for i in range(0, x.shape[1], BLOCK_ROWS))

    def _feature_errors(self, passes: Iterable[Pass]) -> dict[str, np.ndarray]:
        """Errors of all features against the teacher's on validation points, and E|S_l|^2; (R,) by name."""
        result: dict[str, np.ndarray] = {}
        parts = zip(*(features for features, _ in passes), strict=True)
        for layer, pieces in zip(self.layout.layers, parts, strict=True):
            features = np.concatenate(pieces, axis=1).astype(np.float64)
            result[f"feature_size_{layer}"] = np.mean(np.sum(features**2, axis=-1), axis=-1)
            if f"S_{layer}" in self._hidden:
                teacher = np.repeat(self._hidden[f"S_{layer}"], len(self.settings), axis=0)
                each = feature_errors(features, teacher)
                result |= {f"{kind}_{layer}": one for kind, one in zip(FEATURE_ERRORS, each, strict=True)}
        return result

    @cached_property
    def _hidden(self) -> dict[str, np.ndarray]:
        """The teacher's features on the points that are looked at, (S, n, k_l) each; nothing if it has none."""
        truth = self.data.oracle
        if truth is None:
            return {}
        x = self.data.draw("validation", min(self.data.held_out, TRACED_POINTS)).x
        return truth.teacher.hidden(truth.state, x)

    def _by_seed(self, values: State) -> State:
        return {name: one.reshape(self.shape) for name, one in values.items()}

    def _errors(self, x: np.ndarray, labels: np.ndarray, passes: Iterable[Pass] | None = None) -> np.ndarray:
        """(L - 1, R) of the layers up to 2 .. L, in the problem's units. passes: of these points, if they are known."""
        passes = passes or self._passes(x)
        outputs = np.concatenate([self.training.cumulative(arguments) for _, arguments in passes], axis=1)
        if self.student.mean is not None:
            outputs = outputs + x[..., 2 * self.layout.inputs :]
        outputs = outputs * np.repeat(self.student.scale, len(self.settings))[:, None, None]
        return np.stack([error(one[..., None], labels, self.data.kind) for one in np.moveaxis(outputs, -1, 0)])


def phase_schedule(learner: Any, depth: int, total: int) -> Schedule:
    """Return the learner's schedule in steps. Raises ValueError where its lists do not fit the depth."""
    parts = learner.starts
    if parts is None:
        parts = [(i + 1) / (depth - 1) for i in range(depth - 2)]
    if len(parts) != depth - 2 or list(parts) != sorted(set(parts)):
        raise ValueError(f"starts: {parts}; expected {depth - 2} parts of the training, growing")
    thresholds = learner.thresholds or []
    if len(thresholds) not in (0, depth - 2):
        raise ValueError(f"thresholds: {thresholds}; expected {depth - 2} losses, one for each layer from 3 on")
    starts = tuple(max(i + 1, round(part * total)) for i, part in enumerate(parts))
    return Schedule(learner.schedule, depth, starts, tuple(thresholds), total, learner.annealing)


def steps_to_look_at(schedule: Schedule) -> list[int]:
    """Return the steps at which a trace looks: fast changes follow each planned start, the slow ones last long."""
    edges = [0, *(step for step in schedule.starts if step < schedule.total), schedule.total]
    steps = {schedule.total}
    for first, last in pairwise(edges):
        since = [*np.geomspace(1, last - first, EARLY), *np.linspace(1, last - first, EVEN + 1)]
        steps |= {first + round(float(step)) for step in since}
    return sorted(steps)
