"""Stochastic gradient descent on many small networks at once: batched matrix products, gradients in closed form."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hierlearn.solvers.in_place import add_multiple, add_product
from hierlearn.solvers.networks.model import forward, gate, last_features, tangent, times

Arrays = dict[str, np.ndarray]
# A gradient by its parts: it is the sum of left^T right over pairs of (S, G, b, p) and (S, G, b, q), or an array.
Parts = list[tuple[np.ndarray, np.ndarray]] | np.ndarray
# Decay of Adam's means, and what keeps its denominator from 0: the usual ones.
FIRST, SECOND, SMALL = 0.9, 0.999, 1e-8
# Entries of one run's matrix from which runs move one by one: its arrays stay in a core's cache then.
IN_CACHE = 4096
# Velocities below it move no weight. Without a gradient they would go on to fall, in more steps than these, to
# subnormal numbers, with which a processor is many times slower.
NEGLIGIBLE, STEPS_BETWEEN_SWEEPS = 1e-30, 100
# A run that diverges is told by its weights, at the end.
quietly = np.errstate(over="ignore", invalid="ignore")


@dataclass(frozen=True)
class Descent:
    """What is trained, and how.

    architecture, trained: of solvers.networks; loss: squared, |f - y|^2 / 2 summed over outputs (allenzhu2019, eq.
    6.1), or logistic, log(1 + exp(-y f)); optimiser: sgd (velocity = momentum * velocity + gradient + decay * weights,
    weights -= rate * velocity) or adam, its gradient with the same decay; steps: of one phase; drops: parts of a phase
    after which the rate is divided by 10; ratio: rate of the second layer over that of the others; phases: for each
    phase the number of blocks that are there and the names of the weights that move.
    """

    architecture: str
    trained: str
    loss: str
    optimiser: str
    momentum: float
    steps: int
    drops: tuple[float, ...]
    ratio: float
    phases: tuple[tuple[int, tuple[str, ...]], ...]

    @property
    def total(self) -> int:
        """Steps of all phases."""
        return self.steps * len(self.phases)


class Training:
    """S seeds times G settings (rate, weight decay) in lockstep; every run is what it would be alone.

    To rounding, and to the bit for other seeds. In numpy: for networks this small its operations start several times
    sooner than torch's, and are as fast where matrices are large.
    start: the initial weights, (S, 1, ...) each, shared by a seed's runs; rates, decays (G,). All of one dtype. In the
    tangent mode the weights that are trained are displacements and start at 0.
    """

    def __init__(self, descent: Descent, start: Arrays, rates: np.ndarray, decays: np.ndarray):
        self.descent, self.start = descent, start
        moving = {name for _, names in descent.phases for name in names}
        settings = len(rates)
        self.weights = {
            name: np.repeat(0 * values if descent.trained == "tangent" else values, settings, axis=1)
            for name, values in start.items()
            if name in moving
        }
        self.velocity = {name: np.zeros_like(values) for name, values in self.weights.items()}
        self.square = {name: 0 * values for name, values in self.velocity.items() if descent.optimiser == "adam"}
        self.scratch = {name: np.empty_like(values) for name, values in self.weights.items()}
        self.rates, self.decays, self.done = rates, decays, 0
        self.decaying = bool((decays > 0).any())

    @quietly
    def advance(self, batches: Callable[[int], tuple[np.ndarray, np.ndarray]], until: int) -> None:
        """Go on to step `until`. batches(step): x (S, 1, b, d), labels (S, 1, b, k) of a step."""
        for step in range(self.done, until):
            phase, inside = divmod(step, self.descent.steps)
            blocks, names = self.descent.phases[phase]
            if inside == 0:
                for values in (*self.velocity.values(), *self.square.values()):
                    values[...] = 0
            slopes = self._gradients(*batches(step), blocks, names)
            drop = 10.0 ** -sum(inside >= part * self.descent.steps for part in self.descent.drops)
            for name in names:
                ratio = self.descent.ratio if name.startswith("second") else 1.0
                self._move(name, slopes[name], drop * ratio, inside + 1)
            if not self.square and step % STEPS_BETWEEN_SWEEPS == 0:
                for velocity in self.velocity.values():
                    velocity[np.abs(velocity) < NEGLIGIBLE] = 0
        self.done = until

    @quietly
    def outputs(self, x: np.ndarray) -> np.ndarray:
        """(S, 1, n, d) -> (S, G, n, k) at the present weights."""
        return self._activations(x, self._blocks())["out"]

    @quietly
    def first_block(self, x: np.ndarray) -> np.ndarray:
        """out_1 of a ResNet, (S, 1, n, d) -> (S, G, n, k)."""
        return self._activations(x, 1)["out"]

    def gradients(self, x: np.ndarray, labels: np.ndarray, blocks: int, names: tuple[str, ...]) -> Arrays:
        """Gradients of the mean loss over a batch, by name of the weights, each of their shape (S, G, ...).

        x (S, 1, b, d) and labels (S, 1, b, k), of the weights' dtype; blocks, names: those of a phase. The loss is
        allenzhu2019's eq. 6.1, or the logistic one, without weight decay.
        """
        return {name: _summed(parts) for name, parts in self._gradients(x, labels, blocks, names).items()}

    def _gradients(self, x, labels, blocks, names) -> dict[str, Parts]:
        known = self._activations(x, blocks)
        slope = self._slope(known["out"], labels)
        if self.descent.trained == "last":
            return {"last": [(slope, known["features"])]}
        backward = self._tangent_gradients if self.descent.trained == "tangent" else self._network_gradients
        return backward(known, slope, blocks, names)

    def state(self) -> Arrays:
        """All that a later `restore` needs to go on to the same bits."""
        parts = {"weights": self.weights, "velocity": self.velocity, "square": self.square}
        arrays = {f"{part}_{name}": values.copy() for part, known in parts.items() for name, values in known.items()}
        return arrays | {"done": np.array(self.done)}

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Go back to a `state`."""
        parts = {"weights": self.weights, "velocity": self.velocity, "square": self.square}
        for part, known in parts.items():
            for name, values in known.items():
                values[...] = arrays[f"{part}_{name}"]
        self.done = int(arrays["done"])

    def _blocks(self) -> int:
        """The blocks that are there in the phase of the present step."""
        return self.descent.phases[min(self.done // self.descent.steps, len(self.descent.phases) - 1)][0]

    def _activations(self, x: np.ndarray, blocks: int) -> dict[str, Any]:
        name, start = self.descent.architecture, self.start
        if self.descent.trained == "last":
            features = last_features(name, start, x)
            return {"features": features, "out": times(features, self.weights["last"].mT)}
        if self.descent.trained == "tangent":
            known = forward(name, start, x)
            return {"start": known} | tangent(name, start, known, self.weights)
        return forward(name, {**start, **self.weights}, x, blocks)

    def _slope(self, out: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Derivative of the mean loss in the outputs."""
        slope = out - labels if self.descent.loss == "squared" else -labels / (1 + np.exp(labels * out))
        slope *= 1.0 / out.shape[-2]
        return slope

    def _network_gradients(self, known, slope, blocks, names) -> dict[str, Parts]:
        last = self.weights.get("last", self.start["last"])
        two, residual = self.descent.architecture == "two_layer", self.descent.architecture == "resnet"
        found, below = {}, slope
        if not two and blocks == 2:
            risen = gate(times(slope, last), known["top"])
            if "second" in names:
                found["second"] = [(risen, known["below"])]
            if "second_bias" in names:
                found["second_bias"] = risen.sum(-2)
            if "last" in names:
                found["last"] = [(slope, known["top"])]
            if "first" in names or (residual and "last" in names):
                below = times(risen, self.weights.get("second", self.start["second"]))
                below = slope + below if residual else below
        if "first" in names:
            back = below if self.descent.architecture == "three_layer" else times(below, last)
            found["first"] = [(gate(back, known["hidden"]), known["x"])]
        if "last" in names and self.descent.architecture != "three_layer":
            found["last"] = [*found.get("last", []), (below, known["hidden"])]
        return found

    def _tangent_gradients(self, known, slope, blocks, names) -> dict[str, Parts]:
        start, last = known["start"], self.start["last"]
        found, below = {}, slope
        if self.descent.architecture != "two_layer":
            risen = gate(times(slope, last), start["top"])
            found["second"] = [(risen, start["below"])]
            if "second_bias" in names:
                found["second_bias"] = risen.sum(-2)
            below = times(risen, self.start["second"])
            below = slope + below if self.descent.architecture == "resnet" else below
        back = below if self.descent.architecture == "three_layer" else times(below, last)
        found["first"] = [(gate(back, start["hidden"]), start["x"])]
        return found

    def _move(self, name: str, parts: Parts, factor: float, count: int) -> None:
        """One step of the optimiser, in place."""
        values, velocity, rates = self.weights[name], self.velocity[name], factor * self.rates
        if isinstance(parts, list) and not self.square and values[0, 0].size >= IN_CACHE:
            for run in np.ndindex(values.shape[:2]):
                self._move_run(run, values[run], velocity[run], parts, rates[run[1]], self.decays[run[1]])
            return
        slope, shape = _summed(parts), (-1, *[1] * (values.ndim - 2))
        rates, decays = rates.reshape(shape), self.decays.reshape(shape)
        if self.decaying:
            slope += np.multiply(values, decays, out=self.scratch[name])
        if not self.square:
            velocity *= self.descent.momentum
            velocity += slope
            values -= np.multiply(velocity, rates, out=self.scratch[name])
            return
        square = self.square[name]
        velocity += (1 - FIRST) * (slope - velocity)
        square += (1 - SECOND) * (slope * slope - square)
        scale = np.sqrt(square / (1 - SECOND**count)) + SMALL
        values -= velocity / scale * (rates / (1 - FIRST**count))

    def _move_run(self, run, values, velocity, parts, rate, decay) -> None:
        """A step of SGD of one run (s, g), with no array for its slope."""
        keep = self.descent.momentum
        for left, right in parts:
            # Points that a seed's runs share stand there once.
            of_left, of_right = (part[run[0], run[1] % part.shape[1]] for part in (left, right))
            add_product(of_left, of_right, velocity, keep)
            keep = 1.0
        if self.decaying:
            add_multiple(decay, values, velocity)
        add_multiple(-rate, velocity, values)


def _summed(parts: Parts) -> np.ndarray:
    """A gradient as one array."""
    if isinstance(parts, np.ndarray):
        return parts
    left, right = parts[0]
    return sum((left.mT @ right for left, right in parts[1:]), start=left.mT @ right)
