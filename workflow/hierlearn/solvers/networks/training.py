"""Training of many small networks at once: batched matrix products, gradients in closed form."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hierlearn.solvers.networks.model import Arrays, forward, gate, last_features, tangent, times
from hierlearn.solvers.optimisers import Gradient, get_optimiser, milestone_factor
from hierlearn.solvers.training import Training, without_warnings


@dataclass(frozen=True)
class Recipe:
    """What is trained, and how.

    architecture, trained: of solvers.networks; loss: squared, |f - y|^2 / 2 summed over outputs (allenzhu2019, eq.
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

    def __init__(self, recipe: Recipe, start: Arrays, rates: np.ndarray, decays: np.ndarray):
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
        """A phase begins at rest."""
        if step % self.recipe.steps == 0:
            self.memory.clear()

    def leaf_gradients(self, step: int, points: np.ndarray, labels: np.ndarray) -> list[Gradient]:
        """As in Training; None for what rests in a phase."""
        gradients = self.gradients(points, labels, *self.recipe.phases[step // self.recipe.steps])
        return [gradients.get(name) for name in self.weights]

    def learning_rates(self, step: int) -> list[np.ndarray]:
        factor = milestone_factor(step % self.recipe.steps, self.recipe.steps, self.recipe.milestones)
        return [factor * (self.recipe.ratio if n.startswith("second") else 1.0) * self.rates for n in self.weights]

    @without_warnings
    def outputs(self, x: np.ndarray, blocks: int | None = None) -> np.ndarray:
        """(S, 1, n, d) -> (S, G, n, k) at the present weights; blocks: of a ResNet, None for those that are there."""
        if blocks is None:
            blocks, _ = self.recipe.phases[min(self.done // self.recipe.steps, len(self.recipe.phases) - 1)]
        return self._activations(x, blocks)["out"]

    def gradients(self, x: np.ndarray, labels: np.ndarray, blocks: int, names: tuple[str, ...]) -> dict[str, Gradient]:
        """Of the mean loss over a batch x (S, 1, b, d), labels (S, 1, b, k); blocks, names of weights: of a phase."""
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
        """Gradient of the mean loss in the outputs."""
        gradient = out - labels if self.recipe.loss == "squared" else -labels / (1 + np.exp(labels * out))
        gradient *= 1.0 / out.shape[-2]
        return gradient

    def _backward(self, activations, weights, of_out, blocks, names) -> dict[str, Gradient]:
        two, residual = self.recipe.architecture == "two_layer", self.recipe.architecture == "resnet"
        gradients, below = {}, of_out
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
