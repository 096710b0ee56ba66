"""Small networks of many runs at once: forward passes, batched products, and gradients in closed form.

R runs, n points, d inputs, m neurons, k outputs. Weights carry the run first; x is (R, n, d + 1) with a last coordinate
of ones, or (R, n, d) without bias. (allenzhu2019, eq. 2.1 and Section 6; Figure 2)
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hierlearn.solvers.optimisers import Gradient, get_optimiser
from hierlearn.solvers.training import Training, without_warnings
from hierlearn.theory.activations import relu

Arrays = dict[str, np.ndarray]


def shapes(architecture: str, inputs: int, width: int, outputs: int, bias: bool) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the weights by name: first W, second V with its bias, last A."""
    shapes_of: dict[str, tuple[int, ...]] = {"first": (width, inputs + bias)}
    if architecture != "two_layer":
        shapes_of["second"] = (width, width if architecture == "three_layer" else outputs)
        if bias:
            shapes_of["second_bias"] = (width,)
    return shapes_of | {"last": (outputs, width)}


def trainable(architecture: str, trained: str, bias: bool) -> tuple[str, ...]:
    """Name the weights that are trained: of the hidden layers, of the last one, of all, or the hidden ones again,
    whose displacement `tangent` has in the linearisation at the start (the finite-width NTK)."""
    hidden = ("first",) if architecture == "two_layer" else ("first", "second", *(("second_bias",) if bias else ()))
    return {"hidden": hidden, "tangent": hidden, "last": ("last",), "all": (*hidden, "last")}[trained]


def forward(architecture: str, weights: Mapping[str, np.ndarray], x: np.ndarray, blocks: int = 2) -> Arrays:
    """Return activations by name; `out` (R, n, k) is the network's output.

    two_layer: out = A relu(W x). three_layer: out = A relu(V relu(W x) + c).
    resnet: out_1 = A relu(W x), out = out_1 + A relu(V out_1 + c); out = out_1 where `blocks` is 1.
    """
    hidden = times(x, weights["first"].mT)
    relu(hidden, out=hidden)
    activations = {"x": x, "hidden": hidden}
    below = times(hidden, weights["last"].mT) if architecture != "three_layer" else hidden
    if architecture == "two_layer" or (architecture == "resnet" and blocks == 1):
        return activations | {"out": below}
    top = _second(weights, below)
    relu(top, out=top)
    out = times(top, weights["last"].mT)
    activations |= {"below": below, "top": top}
    return activations | {"out": below + out if architecture == "resnet" else out}


def last_features(architecture: str, weights: Mapping[str, np.ndarray], x: np.ndarray) -> np.ndarray:
    """Return features (R, n, m) that the last layer sees at the start: the conjugate kernel's.

    The ResNet's last layer sees both blocks, relu(W x) + relu(V out_1 + c), its inner A staying as it was drawn.
    """
    activations = forward(architecture, weights, x)
    if architecture == "resnet":
        return activations["hidden"] + activations["top"]
    return activations["hidden" if architecture == "two_layer" else "top"]


def tangent(
    architecture: str, weights: Mapping[str, np.ndarray], start: Arrays, displacement: Mapping[str, np.ndarray]
) -> Arrays:
    """Return activations of <grad f(start), displacement>, the finite-width NTK; start: `forward` at `weights`."""
    moved = gate(times(start["x"], displacement["first"].mT), start["hidden"])
    if architecture == "two_layer":
        return {"moved": moved, "out": times(moved, weights["last"].mT)}
    below = times(moved, weights["last"].mT) if architecture == "resnet" else moved
    middle = _second(displacement, start["below"])
    middle += times(below, weights["second"].mT)
    risen = gate(middle, start["top"])
    out = times(risen, weights["last"].mT)
    return {"moved": moved, "risen": risen, "out": below + out if architecture == "resnet" else out}


def tangent_factors(
    architecture: str, weights: Mapping[str, np.ndarray], x: np.ndarray, outputs: Iterable[int]
) -> Iterator[list[tuple[np.ndarray, np.ndarray]]]:
    """Yield the gradients of some outputs in the hidden weights, point by point, as factors.

    For output j pairs of left (R, n, m) and right (R, n, q) with grad f_j = left right^T, in W first, then in V with
    its bias: the tangent kernel of the output is the sum of (left left'^T) (right right'^T), entry by entry.
    """
    activations = forward(architecture, weights, x)
    hidden = activations["hidden"] > 0
    for j in outputs:
        last = weights["last"][..., j : j + 1, :]
        if architecture == "two_layer":
            yield [(hidden * last, x)]
            continue
        risen, below = (activations["top"] > 0) * last, activations["below"]
        if "second_bias" in weights:
            below = np.concatenate([below, np.ones((*below.shape[:-1], 1), below.dtype)], axis=-1)
        back = times(risen, weights["second"])
        if architecture == "resnet":
            back = last + times(back, weights["last"])
        yield [(back * hidden, x), (risen, below)]


def gate(values: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Keep values where z > 0, else 0, in their place: the derivative of relu at z times the values."""
    values *= z > 0
    return values


def times(x: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Return x @ matrix; where runs (S, G, n, m) of a seed share its (S, 1, m, k), it is one product for each seed."""
    if x.shape[-1] == 1:
        # The same numbers, three times as fast.
        return x * matrix
    if matrix.ndim < 4 or matrix.shape[1] != 1 or x.shape[1] == 1:
        return x @ matrix
    seeds, runs, points, inner = x.shape
    return (x.reshape(seeds, runs * points, inner) @ matrix[:, 0]).reshape(seeds, runs, points, -1)


def _second(weights: Mapping[str, np.ndarray], below: np.ndarray) -> np.ndarray:
    middle = times(below, weights["second"].mT)
    if "second_bias" in weights:
        middle += weights["second_bias"][..., None, :]
    return middle


@dataclass(frozen=True)
class Recipe:
    """What is trained, and how.

    architecture, trained: of `trainable`; loss: squared, |f - y|^2 / 2 summed over outputs (allenzhu2019, eq.
    6.1), or logistic, log(1 + exp(-y f)); optimiser, momentum: of solvers.optimisers; steps: of one phase; milestones:
    parts of a phase after which the learning rate is divided by 10; ratio: learning rate of the second layer over that
    of the others; phases: for each phase the number of blocks that are there and the names of the weights that move.
    """

    architecture: str
    trained: str
    loss: str
    optimiser: str
    momentum: float
    steps: int
    milestones: tuple[float, ...]
    ratio: float
    phases: tuple[tuple[int, tuple[str, ...]], ...]

    @property
    def total(self) -> int:
        """Steps of all phases."""
        return self.steps * len(self.phases)


class NetworkTraining(Training):
    """S seeds times G settings in lockstep; every run is what it would be alone, to the bit but for a seed's others.

    In numpy: for networks this small its operations start several times sooner than torch's, and are as fast where
    matrices are large. start: the initial weights, (S, 1, ...) each, shared by a seed's runs; rates, decays (G,). All
    of one dtype. In the tangent mode the weights that are trained are displacements and start at 0.
    """

    def __init__(self, recipe: Recipe, start: Arrays, rates: np.ndarray, decays: np.ndarray) -> None:
        self.recipe, self.start, self.rates = recipe, start, rates[None]
        moving = {name for _, names in recipe.phases for name in names}
        weights = {
            name: np.repeat(0 * values if recipe.trained == "tangent" else values, len(rates), axis=1)
            for name, values in start.items()
            if name in moving
        }
        super().__init__(
            weights, list(weights.values()), 2, get_optimiser(recipe.optimiser, recipe.momentum), decays[None]
        )

    def prepare(self, step: int) -> None:
        """Clear the memory where a phase begins: it begins at rest."""
        if step % self.recipe.steps == 0:
            self.memory.clear()

    def leaf_gradients(self, step: int, points: np.ndarray, labels: np.ndarray) -> list[Gradient]:
        """Return gradients as in Training; None for what rests in a phase."""
        gradients = self.gradients(points, labels, *self.recipe.phases[step // self.recipe.steps])
        return [gradients.get(name) for name in self.weights]

    def learning_rates(self, step: int) -> list[np.ndarray]:
        passed = sum(step % self.recipe.steps >= part * self.recipe.steps for part in self.recipe.milestones)
        factor = 10.0**-passed
        return [factor * (self.recipe.ratio if n.startswith("second") else 1.0) * self.rates for n in self.weights]

    @without_warnings
    def outputs(self, x: np.ndarray, blocks: int | None = None) -> np.ndarray:
        """Return outputs: (S, 1, n, d) -> (S, G, n, k) at the present weights; blocks: of a ResNet, None for all."""
        if blocks is None:
            blocks, _ = self.recipe.phases[min(self.done // self.recipe.steps, len(self.recipe.phases) - 1)]
        return self._activations(x, blocks)["out"]

    def gradients(self, x: np.ndarray, labels: np.ndarray, blocks: int, names: tuple[str, ...]) -> dict[str, Gradient]:
        """Return those of the mean loss over x (S, 1, b, d), labels (S, 1, b, k); blocks, names: of a phase."""
        activations = self._activations(x, blocks)
        back = self._output_gradient(activations["out"], labels)
        if self.recipe.trained == "last":
            return {"last": [(back, activations["features"])]}
        if self.recipe.trained == "tangent":
            # The linearisation goes back through the gates and the matrices of the start.
            return self._backward(activations["start"], self.start, back, blocks, names)
        return self._backward(activations, {**self.start, **self.weights}, back, blocks, names)

    def _activations(self, x: np.ndarray, blocks: int) -> dict[str, Any]:
        name, start = self.recipe.architecture, self.start
        if self.recipe.trained == "last":
            features = last_features(name, start, x)
            return {"features": features, "out": times(features, self.weights["last"].mT)}
        if self.recipe.trained == "tangent":
            activations = forward(name, start, x)
            return {"start": activations} | tangent(name, start, activations, self.weights)
        return forward(name, {**start, **self.weights}, x, blocks)

    def _output_gradient(self, out: np.ndarray, labels: np.ndarray) -> np.ndarray:
        gradient = out - labels if self.recipe.loss == "squared" else -labels / (1 + np.exp(labels * out))
        gradient *= 1.0 / out.shape[-2]
        return gradient

    def _backward(
        self, activations: dict[str, Any], weights: Arrays, of_out: np.ndarray, blocks: int, names: tuple[str, ...]
    ) -> dict[str, Gradient]:
        two, residual = self.recipe.architecture == "two_layer", self.recipe.architecture == "resnet"
        gradients: dict[str, Any] = {}
        below = of_out
        if not two and blocks == 2:
            top = gate(times(of_out, weights["last"]), activations["top"])
            if "second" in names:
                gradients["second"] = [(top, activations["below"])]
            if "second_bias" in names:
                gradients["second_bias"] = top.sum(-2)
            if "last" in names:
                gradients["last"] = [(of_out, activations["top"])]
            if "first" in names or (residual and "last" in names):
                below = times(top, weights["second"])
                below = of_out + below if residual else below
        if "first" in names:
            back = below if self.recipe.architecture == "three_layer" else times(below, weights["last"])
            gradients["first"] = [(gate(back, activations["hidden"]), activations["x"])]
        if "last" in names and self.recipe.architecture != "three_layer":
            gradients["last"] = [*gradients.get("last", []), (below, activations["hidden"])]
        return gradients
