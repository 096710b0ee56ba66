"""Stochastic gradient descent on many small networks at once: batched matrix products, gradients in closed form."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from hierlearn.solvers.networks import forward, last_features, product, tangent, times

Tensors = dict[str, torch.Tensor]
# Decay of Adam's means, and what keeps its denominator from 0: the usual ones.
FIRST, SECOND, SMALL = 0.9, 0.999, 1e-8


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

    To rounding, and to the bit for other seeds.
    start: the initial weights, (S, 1, ...) each, shared by a seed's runs; rates, decays (G,). float32. In the tangent
    mode the weights that are trained are displacements and start at 0.
    """

    def __init__(self, descent: Descent, start: Tensors, rates: torch.Tensor, decays: torch.Tensor):
        self.descent, self.start = descent, start
        moving = {name for _, names in descent.phases for name in names}
        settings = len(rates)
        self.weights = {
            name: torch.zeros_like(values).repeat(1, settings, *[1] * (values.ndim - 2))
            if descent.trained == "tangent"
            else values.repeat(1, settings, *[1] * (values.ndim - 2))
            for name, values in start.items()
            if name in moving
        }
        self.velocity = {name: torch.zeros_like(values) for name, values in self.weights.items()}
        self.square = {
            name: torch.zeros_like(values) for name, values in self.weights.items() if descent.optimiser == "adam"
        }
        self.rates, self.decays, self.done = rates, decays, 0
        self.decaying = bool((decays > 0).any())

    def advance(self, batches: Callable[[int], tuple[torch.Tensor, torch.Tensor]], until: int) -> None:
        """Go on to step `until`. batches(step): x (S, 1, b, d), labels (S, 1, b, k) of a step."""
        # Weights that decay towards 0 would pass through denormal numbers, a hundred times slower.
        torch.set_flush_denormal(True)
        for step in range(self.done, until):
            phase, inside = divmod(step, self.descent.steps)
            blocks, names = self.descent.phases[phase]
            if inside == 0:
                for values in (*self.velocity.values(), *self.square.values()):
                    values.zero_()
            slopes = self.gradients(*batches(step), blocks, names)
            drop = 10.0 ** -sum(inside >= part * self.descent.steps for part in self.descent.drops)
            for name in names:
                ratio = self.descent.ratio if name.startswith("second") else 1.0
                self._move(name, slopes[name], drop * ratio, inside + 1)
        self.done = until

    def outputs(self, x: torch.Tensor) -> torch.Tensor:
        """(S, 1, n, d) -> (S, G, n, k) at the present weights."""
        return self._activations(x, self._blocks())["out"]

    def first_block(self, x: torch.Tensor) -> torch.Tensor:
        """out_1 of a ResNet, (S, 1, n, d) -> (S, G, n, k)."""
        return self._activations(x, 1)["out"]

    def gradients(self, x: torch.Tensor, labels: torch.Tensor, blocks: int, names: tuple[str, ...]) -> Tensors:
        """Gradients of the mean loss over a batch, by name of the weights."""
        known = self._activations(x, blocks)
        slope = self._slope(known["out"], labels)
        if self.descent.trained == "last":
            return {"last": product(slope.mT, known["features"])}
        backward = self._tangent_gradients if self.descent.trained == "tangent" else self._network_gradients
        return backward(known, slope, blocks, names)

    def state(self) -> dict[str, np.ndarray]:
        """All that a later `restore` needs to go on to the same bits."""
        parts = {"weights": self.weights, "velocity": self.velocity, "square": self.square}
        arrays = {
            f"{part}_{name}": values.numpy().copy()
            for part, tensors in parts.items()
            for name, values in tensors.items()
        }
        return arrays | {"done": np.array(self.done)}

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Go back to a `state`."""
        parts = {"weights": self.weights, "velocity": self.velocity, "square": self.square}
        for part, tensors in parts.items():
            for name, values in tensors.items():
                values.copy_(torch.from_numpy(np.ascontiguousarray(arrays[f"{part}_{name}"])))
        self.done = int(arrays["done"])

    def _blocks(self) -> int:
        """The blocks that are there in the phase of the present step."""
        return self.descent.phases[min(self.done // self.descent.steps, len(self.descent.phases) - 1)][0]

    def _activations(self, x: torch.Tensor, blocks: int) -> dict[str, Any]:
        name, start = self.descent.architecture, self.start
        if self.descent.trained == "last":
            features = last_features(name, start, x)
            return {"features": features, "out": times(features, self.weights["last"].mT)}
        if self.descent.trained == "tangent":
            known = forward(name, start, x)
            return {"start": known} | tangent(name, start, known, self.weights, gate)
        return forward(name, {**start, **self.weights}, x, blocks)

    def _slope(self, out: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Derivative of the mean loss in the outputs."""
        if self.descent.loss == "squared":
            return (out - labels).mul_(1.0 / out.shape[-2])
        return (-labels * torch.sigmoid(-labels * out)).mul_(1.0 / out.shape[-2])

    def _network_gradients(self, known, slope, blocks, names) -> Tensors:
        last = self.weights.get("last", self.start["last"])
        two, residual = self.descent.architecture == "two_layer", self.descent.architecture == "resnet"
        found, below = {}, slope
        if not two and blocks == 2:
            risen = gate(times(slope, last), known["top"])
            if "second" in names:
                found["second"] = product(risen.mT, known["below"])
            if "second_bias" in names:
                found["second_bias"] = risen.sum(-2)
            if "last" in names:
                found["last"] = product(slope.mT, known["top"])
            if "first" in names or (residual and "last" in names):
                below = times(risen, self.weights.get("second", self.start["second"]))
                below = slope + below if residual else below
        if "first" in names:
            back = below if self.descent.architecture == "three_layer" else times(below, last)
            found["first"] = product(gate(back, known["hidden"]).mT, known["x"])
        if "last" in names and self.descent.architecture != "three_layer":
            found["last"] = found.get("last", 0) + product(below.mT, known["hidden"])
        return found

    def _tangent_gradients(self, known, slope, blocks, names) -> Tensors:
        start, last = known["start"], self.start["last"]
        found, below = {}, slope
        if self.descent.architecture != "two_layer":
            risen = gate(times(slope, last), start["top"])
            found["second"] = product(risen.mT, start["below"])
            if "second_bias" in names:
                found["second_bias"] = risen.sum(-2)
            below = times(risen, self.start["second"])
            below = slope + below if self.descent.architecture == "resnet" else below
        back = below if self.descent.architecture == "three_layer" else times(below, last)
        found["first"] = product(gate(back, start["hidden"]).mT, start["x"])
        return found

    def _move(self, name: str, slope: torch.Tensor, factor: float, count: int) -> None:
        values, velocity = self.weights[name], self.velocity[name]
        shape = (1, -1, *[1] * (values.ndim - 2))
        rates = (factor * self.rates).reshape(shape)
        if self.decaying:
            slope.addcmul_(values, self.decays.reshape(shape))
        if self.descent.optimiser == "sgd":
            momentum = self.descent.momentum
            moved = torch.add(slope, velocity, alpha=momentum, out=velocity) if momentum else slope
            values.addcmul_(moved, rates, value=-1.0)
            return
        square = self.square[name]
        velocity.lerp_(slope, 1 - FIRST)
        square.mul_(SECOND).addcmul_(slope, slope, value=1 - SECOND)
        scale = (square / (1 - SECOND**count)).sqrt_().add_(SMALL)
        values.sub_(velocity.div(scale).mul_(rates / (1 - FIRST**count)))


def gate(values: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    """values where z > 0, else 0; z may have one run per seed. One pass, where a product with a mask takes ten."""
    return torch.ops.aten.threshold_backward(values, z.expand_as(values), 0)
