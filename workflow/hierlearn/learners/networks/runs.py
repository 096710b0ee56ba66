"""Trains all settings (learning rate, weight decay) of a network for all seeds, and chooses among them."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Features, Monitor, State
from hierlearn.core.streams import Streams
from hierlearn.learners._runs import BLOCK_ROWS, Runs
from hierlearn.learners._selection import best, divergence, error, report_divergence
from hierlearn.learners.networks.batches import Batches
from hierlearn.solvers.networks.training import NetworkTraining, Recipe

Settings = Sequence[tuple[float, float]]
# Points of the training and validation sets that a trace looks at, and how many looks there are.
TRACED_POINTS = 500
LOOKS = 24
# Weights, velocities and activations of the runs that are trained together stay below this.
BYTES_TOGETHER = 512 * 2**20


def trained_grid(
    learner: Any,
    problem: Problem,
    features: Features,
    samples: int,
    settings: Settings,
    streams: Streams,
    monitor: Monitor,
) -> list[dict[str, dict[str, Any]]]:
    """For each seed the run that is kept, by the points on which it was chosen ("validation", "test").

    A run is a dict of `state`, `choices`, `measures`, `trace` and `scalars` (status, risks, flops).
    """
    seeds, inputs = len(problem.seeds), learner.with_bias(features.draw("validation", 1)).shape[-1] - learner.bias
    start = learner.initial_weights(inputs, problem.outputs, streams)
    bytes_per_run = 12 * sum(values[0].size for values in start.values()) + 24 * learner.batch * learner.width
    columns = int(np.clip(BYTES_TOGETHER // bytes_per_run, 1, len(settings)))
    rows = int(np.clip(BYTES_TOGETHER // (columns * bytes_per_run), 1, seeds))
    found = []
    for first in range(0, seeds, rows):
        positions = list(range(first, min(first + rows, seeds)))
        part, seen = problem.take(positions), features.take(positions)
        weights = {name: values[positions] for name, values in start.items()}
        runs = [
            NetworkRuns(learner, part, seen, samples, settings[i : i + columns], weights, streams.take(positions))
            for i in range(0, len(settings), columns)
        ]
        for i, block in enumerate(runs):
            block.train(monitor, f"n{samples}-seed{part.seeds[0]}-part{i}")
        found += _chosen(runs, monitor)
    return found


class NetworkRuns(Runs):
    """Some settings of some seeds in lockstep. start: the initial weights, (S, ...) each."""

    def __init__(
        self,
        learner: Any,
        problem: Problem,
        features: Features,
        samples: int,
        settings: Settings,
        start: State,
        streams: Streams,
    ):
        self.learner, self.problem, self.features = learner, problem, features
        self.samples, self.settings, self.start = samples, settings, start
        self.batches = Batches(problem, features, samples, learner.batch, learner.online, streams, learner.with_bias)
        epochs = 1 if learner.online else learner.epochs
        fixed = None if learner.online else learner.steps
        recipe = Recipe(
            architecture=learner.architecture,
            trained=learner.trained,
            loss=learner.loss,
            optimiser=learner.optimiser,
            momentum=learner.momentum,
            steps=epochs * self.batches.per_epoch if fixed is None else fixed,
            milestones=tuple(learner.milestones),
            ratio=learner.learning_rate_ratio,
            phases=learner.phases(),
        )
        rates, decays = (np.array(values, np.float32) for values in zip(*settings, strict=True))
        shared = {name: values[:, None] for name, values in start.items()}
        self.training = NetworkTraining(recipe, shared, rates, decays)
        # About evenly spaced in their logarithm, the last step among them.
        self.looks = sorted({int(step) for step in np.round(np.geomspace(1, recipe.total, LOOKS))})

    def looked(self) -> dict[str, np.ndarray]:
        """Errors on points of two sets, and norms; (S, G) by name."""
        found = {}
        for name, (x, labels) in self._traced.items():
            found[name] = error(self._predicted(x, self.training.outputs), labels, self.problem.teacher.kind)
        return found | self.norms()

    def predictions(self, role: str, count: int, outputs: Callable | None = None) -> np.ndarray:
        """(S, G, count, k) float64 of every run; outputs: of the training, by default those of the whole network."""
        return self._predicted(self._points(role, count), outputs or self.training.outputs)

    def finite(self) -> np.ndarray:
        """Which runs (S, G) have finite weights."""
        weights = self.training.weights.values()
        parts = [np.isfinite(values).all(axis=tuple(range(2, values.ndim))) for values in weights]
        return np.logical_and.reduce(parts)

    def norms(self) -> dict[str, np.ndarray]:
        """Frobenius norms (S, G) of the weights that are trained, and of how far they moved."""
        whole, moved = 0.0, 0.0
        for name, values in self.training.weights.items():
            origin = 0.0 if self.learner.trained == "tangent" else self.training.start[name]
            axes = tuple(range(2, values.ndim))
            whole = whole + np.square(values, dtype=np.float64).sum(axes)
            moved = moved + np.square(values - origin, dtype=np.float64).sum(axes)
        squares = {"frobenius_norm": whole, "movement": moved}
        return {name: np.sqrt(values) for name, values in squares.items()}

    def weights(self, seed: int, column: int) -> State:
        """What `predict` needs of one run."""
        moved = {name: values[seed, column].copy() for name, values in self.training.weights.items()}
        start = {name: values[seed] for name, values in self.start.items()}
        if self.learner.trained in ("last", "tangent"):
            return moved | {f"start_{name}": values for name, values in start.items()}
        return start | moved

    def entries(self) -> int:
        """As in Runs."""
        return sum(values[0].size for name, values in self.start.items() if name != "second_bias")

    @cached_property
    def _traced(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Points and labels of what is looked at."""
        counts = {
            "train_loss": ("training", min(self.samples, TRACED_POINTS)),
            "validation_risk": ("validation", min(self.problem.held_out, TRACED_POINTS)),
        }
        return {
            name: (self._points(role, count), self.problem.draw(role, count).labels[:, None])
            for name, (role, count) in counts.items()
        }

    def _points(self, role: str, count: int):
        return self.learner.with_bias(self.features.draw(role, count))[:, None]

    def _predicted(self, x, outputs: Callable) -> np.ndarray:
        parts = [outputs(x[:, :, i : i + BLOCK_ROWS]).astype(np.float64) for i in range(0, x.shape[2], BLOCK_ROWS)]
        return np.concatenate(parts, axis=2)


def _chosen(blocks: Sequence[NetworkRuns], monitor: Monitor) -> list[dict[str, dict[str, Any]]]:
    """For each seed the run that is kept, by the points on which it was chosen; (S, G) tables over all settings."""
    problem = blocks[0].problem
    place = [(block, i) for block in blocks for i in range(len(block.settings))]
    pool = problem.pools.get("test")
    counts = {"validation": problem.held_out} | ({} if pool is None else {"test": pool.x.shape[1]})
    with np.errstate(over="ignore", invalid="ignore"):
        errors = {role: _errors(blocks, role, count) for role, count in counts.items()}
        base = _base_errors(blocks, problem.held_out)
    finite = np.concatenate([block.finite() for block in blocks], axis=1)
    finite = np.logical_and.reduce([finite, *(np.isfinite(values) for values in errors.values())])
    named = [
        dict(zip(("learning_rate", "weight_decay"), setting, strict=True))
        for block in blocks
        for setting in block.settings
    ]
    found = []
    for seed in range(len(problem.seeds)):
        report_divergence(monitor, blocks[0].samples, problem.seeds[seed], finite[seed], named)
        kept_by = {}
        for role in counts:
            losses = np.where(finite[seed], errors[role][seed], np.nan)
            kept = best(losses, losses)
            block, column = place[kept]
            here = seed, column
            risk, sound = errors["validation"][seed, kept], finite[seed, kept]
            kept_by[role] = block.kept(seed, here, block.weights(*here), risk, sound, len(place)) | {
                "choices": named[kept],
                "measures": {
                    **divergence(finite[seed]),
                    **{name: values[here] for name, values in block.norms().items()},
                    **({} if base is None else {"base_error": base[seed, kept]}),
                },
            }
        found.append(kept_by)
    return found


def _errors(blocks: Sequence[NetworkRuns], role: str, count: int) -> np.ndarray:
    """(S, G) against labels."""
    problem = blocks[0].problem
    labels = problem.draw(role, count).labels[:, None]
    parts = [error(block.predictions(role, count), labels, problem.teacher.kind) for block in blocks]
    return np.concatenate(parts, axis=1)


def _base_errors(blocks: Sequence[NetworkRuns], count: int) -> np.ndarray | None:
    """E|out_1 - F|^2 (S, G) of a ResNet on validation points, where the teacher names its base F."""
    problem, learner = blocks[0].problem, blocks[0].learner
    if learner.architecture != "resnet" or learner.trained in ("last", "tangent"):
        return None
    parts = problem.teacher.parts(problem.state, problem.draw("validation", count).x)
    if "base" not in parts:
        return None
    base = (parts["base"] * problem.factor[:, None, None])[:, None]
    found = [block.predictions("validation", count, block.training.first_block) for block in blocks]
    return np.concatenate([error(outputs, base, "regression") for outputs in found], axis=1)
