"""Runs of a stochastic training: to the end or from a checkpoint, with looks on the way, and the best run of a seed."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from typing import Annotated, Any
from weakref import WeakMethod

import numpy as np

from hierlearn.core.component import Component
from hierlearn.core.parameters import NotNegative, Positive
from hierlearn.core.protocols import STATUS, Fit, Monitor, State, TrainingData
from hierlearn.learners._selection import best, divergence, error, fit_of_seed

BLOCK_ROWS = 512
# Fresh points are drawn and kept this many at a time.
FRESH_POINTS = 8192
DEFAULT_RATE = 0.005
# One value of each choice, by name.
Setting = Mapping[str, Any]


class Rates(Component.Choices):
    """Choices of the steps."""

    learning_rate: Annotated[Positive, "Learning rate."]
    weight_decay: Annotated[NotNegative, "Weight decay."] = 0.0


def grid(choices: Mapping[str, Sequence[Any]]) -> list[Setting]:
    """All combinations of what a study leaves to be chosen."""
    values = {"learning_rate": [DEFAULT_RATE], "weight_decay": [Rates.weight_decay]} | dict(choices)
    return [dict(zip(values, one, strict=True)) for one in product(*values.values())]


def take(sample: TrainingData, positions: Iterable[int]) -> TrainingData:
    """Return the same for a part of the seeds."""
    positions = list(positions)
    data, features = sample.data.take(positions), sample.features.take(positions)
    return replace(sample, data=data, features=features, streams=sample.streams.take(positions))


def weakly(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method for a part of its object: a circle of references would hold all points until Python looks."""
    reference: Callable[[], Any] = WeakMethod(method)
    return lambda *given: reference()(*given)


class Batches:
    """Points and labels of the steps: passes over a training set, in an order of its own for every seed and pass.

    online: instead fresh points from the endless sample, each once. see: what is done to points and labels before a
    network is trained on them. A step's points depend on the seed and the step alone, so that an interrupted training
    finds them again.
    """

    def __init__(
        self, sample: TrainingData, size: int, online: bool, see: Callable[..., tuple[np.ndarray, np.ndarray]]
    ) -> None:
        self.sample, self.online, self.see, self.size = sample, online, see, min(size, sample.n)
        self.per_epoch = -(-sample.n // self.size)
        self.stretch = max(1, FRESH_POINTS // self.size) if online else self.per_epoch
        self.number: int | None = None
        self.pool: tuple[np.ndarray, np.ndarray] | None = None
        self.points: tuple[np.ndarray, np.ndarray]
        self.buffers: tuple[np.ndarray, np.ndarray]

    def at(self, step: int) -> tuple[np.ndarray, np.ndarray]:
        """x (S, 1, b, ...) and labels (S, 1, b, k) float32; the last step of a pass may have fewer points.

        Views of what the next pass overwrites.
        """
        number, place = divmod(step, self.stretch)
        if number != self.number:
            self.number, self.points = number, self._fresh(number) if self.online else self._shuffle(number)
        rows = slice(place * self.size, (place + 1) * self.size)
        x, labels = self.points
        return x[:, None, rows], labels[:, None, rows]

    def _shuffle(self, epoch: int) -> tuple[np.ndarray, np.ndarray]:
        if self.pool is None:
            x, labels = self.pool = self._draw(0, self.sample.n)
            self.buffers = np.empty_like(x), np.empty_like(labels)
        for row, seed in enumerate(self.sample.streams.seeds):
            order = self.sample.streams.generator(seed, "order", epoch).permutation(self.sample.n)
            for values, place in zip(self.pool, self.buffers, strict=True):
                # An order is within bounds; checking it would take a copy.
                np.take(values[row], order, axis=0, out=place[row], mode="clip")
        return self.buffers

    def _fresh(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        start = number * self.stretch * self.size
        return self._draw(start, min(self.stretch * self.size, self.sample.n - start))

    def _draw(self, start: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        batch, features = self.sample.data.draw("training", count, start), self.sample.features
        # Fresh points are drawn once; those of a pool have features that are kept.
        x = features.of(batch.x) if self.online else features.draw("training", count, start)
        return self.see(x, batch.labels.astype(np.float32))


class Lockstep(ABC):
    """Runs that one training moves in lockstep, to the end or from where an earlier run of this job was stopped.

    training: of solvers; looks: the steps at which it is looked at, the last of all among them; trace: what was seen
    there by name, an array over runs for every look.
    """

    training: Any
    looks: list[int]
    steps_between_signs = 50

    @abstractmethod
    def advance(self, until: int) -> None:
        """Train up to a step."""

    @abstractmethod
    def look(self) -> dict[str, np.ndarray]:
        """Return what a trace tells of the present step, by name."""

    def train(self, monitor: Monitor, key: str) -> None:
        """To the end."""
        training, total = self.training, self.looks[-1]
        self.trace: dict[str, list[np.ndarray]] = {}
        checkpoint = monitor.restore(key)
        if checkpoint is not None:
            self.restore(checkpoint)
        while training.done < total:
            look = next(step for step in self.looks if step > training.done)
            self.advance(min(look, training.done + self.steps_between_signs))
            if training.done == look:
                for name, values in self.look().items():
                    self.trace.setdefault(name, []).append(values)
            monitor.advance(training.done, total)
            monitor.save(key, self.state, final=training.done == total)

    def state(self) -> State:
        """All that a later `restore` needs to go on to the same bits."""
        return self.training.state() | {f"trace_{name}": np.stack(values) for name, values in self.trace.items()}

    def restore(self, arrays: State) -> None:
        """Go back to a `state`."""
        self.training.restore(arrays)
        names = [name.removeprefix("trace_") for name in arrays if name.startswith("trace_")]
        self.trace = {name: list(arrays[f"trace_{name}"]) for name in names}


class Runs(Lockstep):
    """G settings of S seeds; what is said of runs is (S, G).

    batches: the points of the training; traced: how many training and validation points a trace looks at; entries: of
    all matrices of a run.
    """

    traced: int
    entries: int

    def __init__(self, learner: Any, sample: TrainingData, settings: Sequence[Setting]) -> None:
        self.learner, self.sample, self.settings = learner, sample, list(settings)
        self.data, self.shape = sample.data, (len(sample.data.seeds), len(settings))
        self.batches = Batches(sample, learner.batch, learner.online, weakly(self.see))
        self.steps = self.batches.per_epoch * (1 if learner.online else learner.epochs)
        if learner.steps is not None and not learner.online:
            self.steps = learner.steps

    @abstractmethod
    def network_input(self, x: np.ndarray) -> np.ndarray:
        """Points as the network sees them."""

    @abstractmethod
    def points(self, role: str, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Points of a role as the network sees them and their labels, along the axes of the training's runs."""

    @abstractmethod
    def errors(self, role: str, count: int) -> np.ndarray:
        """Errors of all runs on points of a role, against the labels."""

    @abstractmethod
    def measures(self) -> dict[str, np.ndarray]:
        """Return what is measured at the end, by name."""

    @abstractmethod
    def weights(self, seed: int, column: int) -> State:
        """Return what `predict` needs of one run."""

    def advance(self, until: int) -> None:
        self.training.advance(self.batches.at, until)

    def see(self, x: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Points and labels float32 as the network is trained on them, (S, n, ...)."""
        return self.network_input(x), labels

    @cached_property
    def traced_points(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Those that a trace looks at, by role."""
        counts = {"training": self.sample.n, "validation": self.data.held_out}
        return {role: self.points(role, min(count, self.traced)) for role, count in counts.items()}

    def finite(self) -> np.ndarray:
        """Which runs have finite weights."""
        weights = self.training.weights.values()
        return np.logical_and.reduce([np.isfinite(values).reshape(*self.shape, -1).all(axis=2) for values in weights])

    def train_risk(self, seed: int, state: State) -> float:
        """Error of one run on all training points; on the first of them where they were fresh."""
        one, count = take(self.sample, [seed]), self.sample.n
        count = min(count, FRESH_POINTS) if self.learner.online else count
        with_axis = {name: values[None] for name, values in state.items()}
        with np.errstate(over="ignore", invalid="ignore"):
            outputs = self.learner.predict(with_axis, one.features, "training", count, {})
        return float(error(outputs, one.data.draw("training", count).labels, self.data.kind)[0])


def best_fits(blocks: Sequence[Runs], monitor: Monitor, counts: Mapping[str, int]) -> list[dict[str, Fit]]:
    """For each seed the fit of its best run, by the role of the points on which it is best.

    blocks: runs of the same seeds with further settings each; counts: roles, validation among them, and their points.
    """
    data, samples = blocks[0].data, blocks[0].sample.n
    places = [(block, column) for block in blocks for column in range(len(block.settings))]
    settings = [setting for block in blocks for setting in block.settings]
    with np.errstate(over="ignore", invalid="ignore"):
        errors = {
            role: np.concatenate([block.errors(role, count) for block in blocks], axis=1)
            for role, count in counts.items()
        }
        measured = [block.measures() for block in blocks]
    measures = {name: np.concatenate([one[name] for one in measured], axis=1) for name in measured[0]}
    finite = np.concatenate([block.finite() for block in blocks], axis=1)
    finite = np.logical_and.reduce([finite, *(np.isfinite(values) for values in errors.values())])

    def fit(seed: int, role: str, lost: dict[str, float]) -> Fit:
        losses = np.where(finite[seed], errors[role][seed], np.nan)
        place = best(losses, losses)
        block, column = places[place]
        state = block.weights(seed, column)
        train_risk = block.train_risk(seed, state)
        trace = {name: np.stack(values)[:, seed, column] for name, values in block.trace.items()}
        return fit_of_seed(
            state=state,
            status=STATUS["ok" if finite[seed, place] and np.isfinite(train_risk) else "diverged"],
            validation_risk=errors["validation"][seed, place],
            train_risk=train_risk,
            choices=settings[place],
            measures=lost | {name: values[seed, place] for name, values in measures.items()},
            trace={"step": np.array(block.looks)} | trace,
            # Matrix products: one forward and two back for every matrix and step.
            flops=6.0 * block.batches.size * block.entries * block.looks[-1] * len(places),
        )

    fits = []
    for seed, name in enumerate(data.seeds):
        lost = divergence(monitor, samples, name, finite[seed], settings)
        fits.append({role: fit(seed, role, lost) for role in counts})
    return fits
