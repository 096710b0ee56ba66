"""Trains all settings of a quadratic DenseNet for all seeds, chooses among them, and measures features on the way."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Features, Fit, Monitor, State
from hierlearn.core.streams import Streams
from hierlearn.learners._runs import BLOCK_ROWS, Runs
from hierlearn.learners._selection import best, divergence, error, report_divergence
from hierlearn.learners.densenets.parameters import TRACED_POINTS
from hierlearn.learners.densenets.settings import GRAPHS, Settings, graph, looks, scheduled, union
from hierlearn.learners.densenets.student import Student
from hierlearn.learners.networks.batches import Batches
from hierlearn.solvers.densenets.model import Layout
from hierlearn.statistics.alignment import feature_errors
from hierlearn.theory import quadratic_densenets


def fitted(
    learner: Any,
    problem: Problem,
    features: Features,
    samples: int,
    settings: Settings,
    streams: Streams,
    monitor: Monitor,
) -> Fit:
    """For each seed the run with the least error on validation points."""
    runs = DensenetRuns(learner, problem, features, samples, settings, streams)
    runs.train(monitor, f"n{samples}-seed{problem.seeds[0]}-{len(problem.seeds)}")
    found = runs.chosen(monitor)

    def stacked(part):
        return {name: np.stack([kept[part][name] for kept in found]) for name in found[0][part]}

    scalars = stacked("scalars")
    return Fit(
        state=stacked("state"),
        status=scalars["status"].astype(np.int8),
        validation_risk=scalars["validation_risk"],
        train_risk=scalars["train_risk"],
        choices=stacked("choices"),
        measures=stacked("measures"),
        trace=stacked("trace"),
        flops=scalars["flops"],
    )


class DensenetRuns(Runs):
    """All settings of all seeds in lockstep; a run's place is seed * settings + setting."""

    def __init__(
        self,
        learner: Any,
        problem: Problem,
        features: Features,
        samples: int,
        settings: Settings,
        streams: Streams,
    ):
        self.learner, self.problem, self.features, self.samples = learner, problem, features, samples
        self.settings = list(settings)
        self.student = Student.of(learner, problem)
        graphs = [graph(setting.get("graph", "own"), self.student) for setting in settings]
        inputs = self.student.columns(features.draw("validation", 1))
        own = [learner.layout(inputs, replace(self.student, links=links)) for links in graphs]
        self.student = replace(self.student, links=union(graphs))
        self.layout = learner.layout(inputs, self.student)
        self.batches = Batches(problem, features, samples, learner.batch, learner.online, streams, self.seen)
        total = self.batches.per_epoch * (1 if learner.online else learner.epochs)
        total = learner.steps if learner.steps is not None and not learner.online else total
        self.schedule = scheduled(learner, self.student.depth, total)
        rates, decays = (
            np.tile([one[name] for one in settings], len(problem.seeds)) for name in ("learning_rate", "weight_decay")
        )
        every = len(self.settings)
        labels = self._trained[1] / self.student.scale[:, None, None]
        self.training = learner.training(
            self.layout,
            self.student,
            self.schedule,
            self._start(own, streams),
            np.repeat(np.sqrt(np.mean(labels**2, axis=(1, 2))), every),
            [streams.take([s]) for s in range(len(problem.seeds)) for _ in self.settings],
            alphas=self._alphas(),
            own=own * len(problem.seeds),
            rates=rates,
            decays=decays,
            loss="logistic" if problem.teacher.kind == "classes" else "squared",
        )
        self.training.entered = self._entered
        self.looks = looks(self.schedule)
        runs = len(problem.seeds) * len(self.settings)
        # Errors of the features of each layer when the one above it came, or would have come.
        self.before = {name: np.full(runs, np.nan) for name in self._feature_measures()}

    def seen(self, x: np.ndarray) -> np.ndarray:
        """Points as the network sees them."""
        return self.student.seen(x, self.layout)

    def points_at(self, step):
        """As in Runs, in the teacher's own units."""
        seen, labels = self.batches.at(step)
        return seen, labels / self.student.scale.astype(np.float32)[:, None, None, None]

    def state(self):
        """As in Runs."""
        return super().state() | {f"before_{name}": values for name, values in self.before.items()}

    def restore(self, arrays):
        """As in Runs."""
        super().restore(arrays)
        self.before = {name: arrays[f"before_{name}"].copy() for name in self.before}

    def chosen(self, monitor: Monitor) -> list[dict[str, Any]]:
        """For each seed the run that is kept."""
        problem, count = self.problem, self.problem.held_out
        labels, finite = problem.draw("validation", count).labels, self._finite()
        with np.errstate(over="ignore", invalid="ignore"):
            outputs = self._outputs(self._points("validation", count))[-1]
            errors = self._errors(outputs, labels)
            finite = finite & np.isfinite(errors)
            final = self.looked() | self.training.measures()
            final |= {f"{name}_before": values for name, values in self.before.items()}
        starts = self.training.clock.layer_starts()
        final |= {f"start_{layer}": starts[:, layer - 2] for layer in self.layout.layers}
        state, constants = self.training.final(), self.student.constants()
        dropped = ("train_loss", "validation_risk")
        found = []
        for seed in range(len(problem.seeds)):
            rows = np.arange(len(self.settings)) + seed * len(self.settings)
            report_divergence(monitor, self.samples, problem.seeds[seed], finite[rows], self.settings)
            losses = np.where(finite[rows], errors[rows], np.nan)
            setting = best(losses, losses)
            run = rows[setting]
            kept = {name: values[run].copy() for name, values in state.items()}
            kept |= {name: values[seed] for name, values in constants.items()}
            found.append(
                self.kept(seed, run, kept, errors[run], finite[run], len(self.settings))
                | {
                    "choices": {
                        name: float(GRAPHS.index(value) if name == "graph" else value)
                        for name, value in self.settings[setting].items()
                    },
                    "measures": divergence(finite[rows])
                    | {name: values[run] for name, values in final.items() if name not in dropped},
                }
            )
        return found

    def entries(self) -> int:
        """As in Runs."""
        return sum(values[0].size for values in self._weights)

    def _start(self, own: Sequence[Layout], streams: Streams) -> State:
        """The weights of every run at the start, (R, ...); own: the layout of every setting."""
        drawn = {one: self.learner.start(one, self.student, streams) for one in set(own)}

        def widened(one, name, values):
            if one == self.layout:
                return values
            layer = int(name.removeprefix("layer_"))
            wide = np.zeros((*values.shape[:2], self.layout.size(layer)), values.dtype)
            wide[..., one.within(self.layout, layer)] = values
            return wide

        every = {name: [widened(one, name, drawn[one][name]) for one in own] for name in next(iter(drawn.values()))}
        return {name: np.stack(parts, axis=1).reshape(-1, *parts[0].shape[1:]) for name, parts in every.items()}

    def _alphas(self) -> np.ndarray:
        """(R, L - 1)."""
        every = np.repeat(self.student.alphas[:, None], len(self.settings), axis=1)
        for i, setting in enumerate(self.settings):
            if "gap" in setting:
                every[:, i] = quadratic_densenets.layer_weights(self.student.depth, None, setting["gap"])
        return every.reshape(-1, every.shape[-1])

    def _entered(self, runs: np.ndarray) -> None:
        measured = self._feature_errors()
        phases = self.training.clock.phase
        for name, values in self.before.items():
            # The layer that came with the phase that ends here.
            ending = runs & (phases == int(name.rsplit("_", 1)[1]) - 1)
            values[ending] = measured[name][ending]

    @np.errstate(over="ignore", invalid="ignore")
    def looked(self) -> dict[str, np.ndarray]:
        """What is known at the present step, (R,) by name."""
        found: dict[str, np.ndarray] = {}
        seen, labels = self._trained
        found["train_loss"] = self._errors(self._outputs(seen)[-1], labels)
        seen, labels = self._traced
        for layer, outputs in zip(self.layout.layers, self._outputs(seen), strict=True):
            found[f"risk_layer_{layer}"] = self._errors(outputs, labels)
        found["validation_risk"] = found[f"risk_layer_{self.student.depth}"]
        squares = [np.sum(np.square(values, dtype=np.float64), axis=(1, 2)) for values in self._weights]
        found["frobenius_norm"] = np.sqrt(sum(squares))
        return found | self.training.looked() | self._feature_errors()

    def _feature_measures(self) -> Iterator[str]:
        # No layer comes above the last.
        for layer in self.layout.layers[:-1]:
            if f"S_{layer}" in self._hidden:
                yield f"feature_error_{layer}"
                yield f"linear_feature_error_{layer}"

    def _feature_errors(self) -> dict[str, np.ndarray]:
        """Errors of all features against the teacher's on validation points, and E|S_l|^2; (R,) by name."""
        found: dict[str, np.ndarray] = {}
        parts = [self.training.features(block) for block in self._blocks(self._traced[0])]
        for layer, pieces in zip(self.layout.layers, zip(*parts, strict=True), strict=True):
            features = np.concatenate(pieces, axis=1).astype(np.float64)
            found[f"feature_size_{layer}"] = np.mean(np.sum(features**2, axis=-1), axis=-1)
            if f"S_{layer}" in self._hidden:
                wanted = self._hidden[f"S_{layer}"]
                each = [feature_errors(values, wanted[i // len(self.settings)]) for i, values in enumerate(features)]
                found[f"feature_error_{layer}"], found[f"linear_feature_error_{layer}"] = np.array(each).T
        return found

    @cached_property
    def _trained(self):
        count = min(self.samples, TRACED_POINTS)
        return self._points("training", count), self.problem.draw("training", count).labels

    @cached_property
    def _traced(self):
        count = min(self.problem.held_out, TRACED_POINTS)
        return self._points("validation", count), self.problem.draw("validation", count).labels

    @cached_property
    def _hidden(self) -> dict[str, np.ndarray]:
        """The teacher's features on the points that are looked at, (S, n, k_l) each; nothing if it has none."""
        x = self.problem.draw("validation", min(self.problem.held_out, TRACED_POINTS)).x
        return self.problem.teacher.hidden(self.problem.state, x)

    @property
    def _weights(self) -> list[np.ndarray]:
        return list(self.training.weights.values())

    def _points(self, role: str, count: int):
        """(R, count, .) as the network sees them."""
        return np.repeat(self.seen(self.features.draw(role, count)), len(self.settings), axis=0)

    def _blocks(self, seen):
        return [seen[:, i : i + BLOCK_ROWS] for i in range(0, seen.shape[1], BLOCK_ROWS)]

    def _outputs(self, seen) -> np.ndarray:
        """Outputs (L - 1, R, n, 1) of the layers up to 2 .. L in the problem's units, float64."""
        outputs = np.concatenate([self.training.cumulative(block) for block in self._blocks(seen)], axis=1)
        if self.student.mean is not None:
            outputs = outputs + seen[..., 2 * self.layout.inputs :]
        scale = np.repeat(self.student.scale, len(self.settings))[:, None, None]
        return np.moveaxis(outputs * scale, -1, 0)[..., None]

    def _errors(self, outputs: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """(R, n, 1) against labels (S, n, 1): (R,)."""
        return error(outputs, np.repeat(labels, len(self.settings), axis=0), self.problem.teacher.kind)

    def _finite(self) -> np.ndarray:
        """Which runs (R,) have finite weights."""
        return np.logical_and.reduce([np.isfinite(values).all(axis=(1, 2)) for values in self._weights])
