"""Trains all settings (learning rate, weight decay) of a network for all seeds, and chooses among them."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from hierlearn.core.protocols import Fit, Monitor, State, TrainingData
from hierlearn.learners._runs import BLOCK_ROWS, Runs, Setting, best_fits, take
from hierlearn.learners._selection import error, points_of_rules
from hierlearn.solvers.networks import NetworkTraining, Recipe, trainable

# Points of the training and validation sets that a trace looks at, and how many looks there are.
TRACED_POINTS = 500
LOOKS = 24
# Weights, velocities and activations of the settings of a seed that are trained together stay below the first, those of
# all seeds below the second if one seed does: what stays in a core's cache takes up to a fifth less time.
BYTES_TOGETHER, BYTES_IN_CACHE = 512 * 2**20, 8 * 2**20


def train_grid(
    learner: Any, sample: TrainingData, settings: Sequence[Setting], monitor: Monitor
) -> list[dict[str, Fit]]:
    """Train a grid; return a fit of each seed's best run, by the points on which it is best ("validation", "test")."""
    data, fits = sample.data, []
    inputs = learner.with_bias(sample.features.draw("validation", 1)).shape[-1] - learner.bias
    start = learner.initial_weights(inputs, data.outputs, sample.streams)
    bytes_per_run = 12 * sum(values[0].size for values in start.values()) + 24 * learner.batch * learner.width
    columns = int(np.clip(BYTES_TOGETHER // bytes_per_run, 1, len(settings)))
    rows = int(np.clip(BYTES_IN_CACHE // (columns * bytes_per_run), 1, len(data.seeds)))
    for first in range(0, len(data.seeds), rows):
        part = take(sample, range(first, min(first + rows, len(data.seeds))))
        weights = {name: values[first : first + rows] for name, values in start.items()}
        blocks = [
            NetworkRuns(learner, part, settings[i : i + columns], weights) for i in range(0, len(settings), columns)
        ]
        for i, block in enumerate(blocks):
            block.train(monitor, f"n{sample.n}-seed{part.data.seeds[0]}-part{i}")
        fits += best_fits(blocks, monitor, points_of_rules(data))
    return fits


class NetworkRuns(Runs):
    """Some settings of some seeds in lockstep. start: the initial weights, (S, ...) each."""

    traced = TRACED_POINTS

    def __init__(self, learner: Any, sample: TrainingData, settings: Sequence[Setting], start: State) -> None:
        super().__init__(learner, sample, settings)
        self.start = start
        self.entries = sum(values[0].size for name, values in start.items() if name != "second_bias")
        # For each phase the number of blocks and the weights that move.
        names = trainable(learner.architecture, learner.trained, learner.bias)
        phases: tuple[tuple[int, tuple[str, ...]], ...] = ((2, names),)
        if learner.schedule == "layerwise":
            phases = (1, ("first",)), (2, tuple(name for name in names if name != "first"))
        recipe = Recipe(
            architecture=learner.architecture,
            trained=learner.trained,
            loss=learner.loss,
            optimiser=learner.optimiser,
            momentum=learner.momentum,
            steps=self.steps,
            milestones=tuple(learner.milestones),
            ratio=learner.learning_rate_ratio,
            phases=phases,
        )
        rates, decays = (np.array([setting[name] for setting in settings], np.float32) for name in settings[0])
        self.training = NetworkTraining(
            recipe, {name: values[:, None] for name, values in start.items()}, rates, decays
        )
        # About evenly spaced in their logarithm, the last step among them.
        self.looks = sorted({int(step) for step in np.round(np.geomspace(1, recipe.total, LOOKS))})

    def network_input(self, x: np.ndarray) -> np.ndarray:
        return self.learner.with_bias(x)

    def points(self, role: str, count: int) -> tuple[np.ndarray, np.ndarray]:
        x = self.network_input(self.sample.features.draw(role, count))
        return x[:, None], self.data.draw(role, count).labels[:, None]

    def look(self) -> dict[str, np.ndarray]:
        """Return errors on points of two sets, and norms."""
        names = {"train_loss": "training", "validation_risk": "validation"}
        errors = {name: self._error(*self.traced_points[role], self.training.outputs) for name, role in names.items()}
        return errors | self.norms()

    def errors(self, role: str, count: int) -> np.ndarray:
        return self._error(*self.points(role, count), self.training.outputs)

    def measures(self) -> dict[str, np.ndarray]:
        """Return norms, and E|out_1 - F|^2 of a ResNet on validation points, where the teacher names its base F."""
        truth, learner, count = self.data.oracle, self.learner, self.data.held_out
        if truth is None or learner.architecture != "resnet" or learner.trained in ("last", "tangent"):
            return self.norms()
        parts = truth.teacher.parts(truth.state, self.data.draw("validation", count).x)
        if "base" not in parts:
            return self.norms()
        base = (parts["base"] * truth.factor[:, None, None])[:, None]
        x, _ = self.points("validation", count)
        first_block = partial(self.training.outputs, blocks=1)
        return self.norms() | {"base_error": self._error(x, base, first_block, "regression")}

    def norms(self) -> dict[str, np.ndarray]:
        """Return Frobenius norms (S, G) of the weights that are trained, and of how far they moved."""
        norm, movement = 0.0, 0.0
        for name, values in self.training.weights.items():
            origin = 0.0 if self.learner.trained == "tangent" else self.training.start[name]
            axes = tuple(range(2, values.ndim))
            norm = norm + np.square(values, dtype=np.float64).sum(axes)
            movement = movement + np.square(values - origin, dtype=np.float64).sum(axes)
        return {"frobenius_norm": np.sqrt(norm), "movement": np.sqrt(movement)}

    def weights(self, seed: int, column: int) -> State:
        end = {name: values[seed, column].copy() for name, values in self.training.weights.items()}
        start = {name: values[seed] for name, values in self.start.items()}
        if self.learner.trained in ("last", "tangent"):
            return end | {f"start_{name}": values for name, values in start.items()}
        return start | end

    def _error(
        self, x: np.ndarray, labels: np.ndarray, outputs: Callable[[np.ndarray], np.ndarray], kind: str = ""
    ) -> np.ndarray:
        parts = [outputs(x[:, :, i : i + BLOCK_ROWS]).astype(np.float64) for i in range(0, x.shape[2], BLOCK_ROWS)]
        return error(np.concatenate(parts, axis=2), labels, kind or self.data.kind)
