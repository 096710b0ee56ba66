"""Stochastic gradient descent on many convolutional networks in lockstep, through phases of more and more layers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from math import prod

import numpy as np
import torch
from torch.nn import functional
from torch.optim.sgd import sgd

from hierlearn.solvers.convolutional import model
from hierlearn.solvers.convolutional.architecture import Architecture
from hierlearn.solvers.convolutional.recipe import Phase, Recipe

# What layers at rest make of all points is kept where it is no more than so many numbers.
KEPT = 1 << 26
ROWS = 512


@dataclass(frozen=True)
class Points:
    """x (S, n, height, width, channels) and labels (S, n, k) float32, and how seed s draws.

    generators(s, words): a fresh generator; the numbers of a step depend on the seed and the step alone.
    """

    x: np.ndarray
    labels: np.ndarray
    generators: Callable[..., np.random.Generator]


class ConvolutionalTraining:
    """R networks, each of a seed, with a learning rate and a weight decay of its own: seeds, rates, decays (R,).

    `done` counts steps of all phases; a phase begins with a head of its own, and with velocities of 0.
    """

    def __init__(
        self, recipe: Recipe, points: Points, seeds: Sequence[int], rates: np.ndarray, decays: np.ndarray, device: str
    ) -> None:
        self.recipe, self.points, self.device = recipe, points, torch.device(device)
        self.seeds, self.done, self.phase = list(seeds), 0, -1
        # Networks of one seed see the same pictures, which go to a GPU once.
        self.own = sorted(set(self.seeds))
        self.places = torch.tensor([self.own.index(s) for s in self.seeds], device=self.device)
        self.is_alone_on_gpu = self.device.type == "cuda" and len(self.seeds) == 1
        self.rate, self.decay = rates, decays
        self.rates, self.decays = (self._tensor(values[:, None, None]) for values in (rates, decays))
        self.ends = list(accumulate(phase.steps for phase in recipe.phases))
        self.total = self.ends[-1]
        self.batch = min(recipe.batch, points.x.shape[1])
        self.weights: dict[str, torch.Tensor] = {}
        self.running: dict[str, torch.Tensor] = {}
        self._add(recipe.network.shapes(), "start")
        self.velocities: dict[str, torch.Tensor] = {}
        self.before: dict[str, torch.Tensor] = {}
        self.pass_of: tuple[int, int] | None = None
        self.order: dict[int, np.ndarray] = {}
        self.first = {"start": self._first_layer()}
        self._begin(0)

    @property
    def network(self) -> Architecture:
        """As it is in the present phase."""
        return self.recipe.network.cut(self.recipe.phases[self.phase].depth)

    def advance(self, until: int) -> None:
        """Make the steps up to `until`, at most to the end of the present phase."""
        if self.done == self.ends[self.phase] and self.phase + 1 < len(self.recipe.phases):
            self._begin(self.phase + 1)
        for _ in range(min(until, self.ends[self.phase]) - self.done):
            self._step()
            self.done += 1
        if self.done == self.ends[0]:
            self.first["phase"] = self._first_layer()

    def operations(self) -> float:
        """Count additions and multiplications of one network in all phases, heads and normalisation aside.

        Layers that move compute once forward and twice back; those at rest forward alone, at every step or once.
        """
        total = 0.0
        for phase in self.recipe.phases:
            network, presented = self.recipe.network.cut(phase.depth), self.batch * phase.steps
            below = network.cut(phase.rest).products()
            made = self.points.x.shape[1] if self._keeps(phase) else presented
            total += 6.0 * presented * (network.products() - below) + 2.0 * made * below
        return total

    def outputs(self, x: np.ndarray) -> np.ndarray:
        """Return outputs at points of each seed: (S, n, height, width, channels) -> (R, n, k) float32."""
        return self._of_each(lambda weights, seen: model.outputs(self.network, weights, weights, seen), x).cpu().numpy()

    def first_outputs(self, x: np.ndarray) -> np.ndarray:
        """Return outputs of the first layer, as `outputs`: (R, n, height, width, channels) float32."""
        network = self.recipe.network.cut(1)
        return self._of_each(lambda weights, seen: model.layers(network, weights, weights, seen)[0], x).cpu().numpy()

    def model(self, row: int) -> dict[str, np.ndarray]:
        """Return weights and running statistics of one network, as far as its layers are there."""
        gone = tuple(f"layer{i}_" for i in range(len(self.network.layers), len(self.recipe.network.layers)))
        both = self.weights | self.running
        return {name: values[row].cpu().numpy().copy() for name, values in both.items() if not name.startswith(gone)}

    def correlations(self) -> dict[str, np.ndarray]:
        """Correlate the first layer's weights with those at the start and at the end of the first phase, (R,)."""
        now = self._first_layer()
        return {name: _correlation(now, self.first.get(name, now)) for name in ("start", "phase")}

    def state(self) -> dict[str, np.ndarray]:
        """Return all that a later `restore` needs to go on to the same bits."""
        found = {f"first:{name}": one for name, one in self.first.items()} | {"done": np.array(self.done)}
        for group, part in self._groups().items():
            found |= {f"{group}:{name}": values.cpu().numpy().copy() for name, values in part.items()}
        return found

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        self.done = int(arrays["done"])
        phase = next(i for i, end in enumerate(self.ends) if self.done <= end)
        self._begin(phase)
        groups = self._groups()
        for part in groups.values():
            part.clear()
        for name, values in arrays.items():
            group, _, key = name.partition(":")
            if group in groups:
                groups[group][key] = self._tensor(values)
            elif group == "first":
                self.first[key] = values
        self.kept = self._made_at_rest()

    def _groups(self) -> dict[str, dict[str, torch.Tensor]]:
        return {"weights": self.weights, "running": self.running, "velocity": self.velocities, "before": self.before}

    def _begin(self, phase: int) -> None:
        """Begin a phase: a head for its layers, and what the layers at rest make of the points."""
        self.phase = phase
        for group in (self.weights, self.running):
            for name in [name for name in group if name.startswith("head")]:
                del group[name]
        self._add(self.network.head_shapes(self.recipe.outputs), "head", phase)
        self.velocities = {name: torch.zeros_like(self.weights[name]) for name in self._moving()}
        self.before = {}
        if self.recipe.phases[phase].pull and self.recipe.pull:
            trained = range(self.recipe.phases[phase - 1].depth)
            names = [name for name in self._moving() if name.startswith(tuple(f"layer{i}_" for i in trained))]
            self.before = {name: self.weights[name].clone() for name in names}
        self.kept = self._made_at_rest()

    def _add(self, shapes: dict[str, tuple[int, ...]], *words: str | int) -> None:
        """Weights as each network's seed draws them by these words and a name, and statistics beside them."""
        draws = {s: partial(self.points.generators, s, *words) for s in self.own}
        own = {s: model.start(shapes, draw) for s, draw in draws.items()}
        fresh = {name: np.stack([own[s][name] for s in self.seeds]) for name in shapes}
        self.weights |= {name: self._tensor(values) for name, values in fresh.items()}
        self.running |= {name: self._tensor(values) for name, values in model.statistics(fresh).items()}

    def _moving(self) -> list[str]:
        phase = self.recipe.phases[self.phase]
        places = ("head", *(f"layer{i}_" for i in range(phase.rest, phase.depth)))
        return [name for name in self.weights if name.startswith(places)]

    def _made_at_rest(self) -> torch.Tensor | None:
        """(R, n, ...) outputs of the last layer at rest for all points; None where they have to be made again."""
        phase = self.recipe.phases[self.phase]
        if not self._keeps(phase):
            return None
        below = self.network.cut(phase.rest)
        return self._of_each(lambda weights, seen: model.layers(below, weights, weights, seen)[-1], self.points.x)

    def _keeps(self, phase: Phase) -> bool:
        """Whether what the layers at rest make of the points is made once, at the beginning of a phase."""
        if phase.rest == 0 or self.recipe.network.links or self.recipe.augmentation:
            return False
        last = self.recipe.network.layers[phase.rest - 1]
        return len(self.seeds) * self.points.x.shape[1] * prod(last.size) * last.channels <= KEPT

    def _of_each(
        self, function: Callable[[dict[str, torch.Tensor], torch.Tensor], torch.Tensor], x: np.ndarray
    ) -> torch.Tensor:
        """Return what a function of weights and points makes of all points of each network's seed, one by one."""
        found = self._tensor(np.empty(0, np.float32))
        with torch.no_grad():
            for row, seed in enumerate(self.seeds):
                # A copy begins where a network alone would have its weights.
                own = {name: values[[row]] for name, values in (self.weights | self.running).items()}
                for i in range(0, x.shape[1], ROWS):
                    made = function(own, self._tensor(x[[seed], i : i + ROWS]))
                    if row == i == 0:
                        # In its place at once: together in the end they would be there twice.
                        found = made.new_empty(len(self.seeds), x.shape[1], *made.shape[2:])
                    found[row, i : i + ROWS] = made[0]
        return found

    def _step(self) -> None:
        phase = self.recipe.phases[self.phase]
        begun = self.ends[self.phase] - phase.steps
        here = self._rows(self.done - begun)
        labels = self._tensor(np.stack([self.points.labels[s, here[s]] for s in self.seeds]))
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.recipe.half):
            outputs = self._outputs_of_step(here, phase)
        loss = self._loss(outputs.float(), labels)
        names = list(self.velocities)
        slopes = torch.autograd.grad(loss, [self.leaves[name] for name in names])
        drops = sum((self.done - begun) >= part * phase.steps for part in self.recipe.milestones)
        with torch.no_grad():
            if self.is_alone_on_gpu:
                self._move_at_once(names, slopes, 0.1**drops)
                return
            for name, slope in zip(names, slopes, strict=True):
                weight, velocity = self.weights[name], self.velocities[name]
                slope = torch.addcmul(slope, self.decays, weight)
                if name in self.before:
                    slope = slope + self.recipe.pull * (weight - self.before[name])
                velocity.mul_(self.recipe.momentum).add_(slope)
                weight.addcmul_(velocity, self.rates, value=-(0.1**drops))

    def _move_at_once(self, names: Sequence[str], slopes: Sequence[torch.Tensor], factor: float) -> None:
        """Make the step of one network by torch's own SGD, in a few kernels for all weights, not some for each."""
        slopes = [
            slope + self.recipe.pull * (self.weights[name] - self.before[name]) if name in self.before else slope
            for name, slope in zip(names, slopes, strict=True)
        ]
        sgd(
            [self.weights[name] for name in names],
            slopes,
            [self.velocities[name] for name in names],
            foreach=True,
            weight_decay=float(self.decay[0]),
            momentum=self.recipe.momentum,
            lr=factor * float(self.rate[0]),
            dampening=0.0,
            nesterov=False,
            maximize=False,
        )

    def _outputs_of_step(self, here: dict[int, np.ndarray], phase: Phase) -> torch.Tensor:
        """(R, b, k) of the points of a step, by a new graph."""
        network = self.network
        if self.kept is not None:
            rows = torch.stack([torch.as_tensor(here[s]) for s in self.seeds]).to(self.device)
            x = self.kept[torch.arange(len(self.seeds), device=self.device)[:, None], rows]
            seen = model.layers(network, self._leaves(), self.running, x, phase.rest, phase.rest)
            seen = [x, *seen] if phase.rest == phase.depth else seen
        else:
            x = self._tensor(self._pictures(here)).index_select(0, self.places)
            seen = model.layers(network, self._leaves(), self.running, x, phase.rest)
            seen = [seen[i] for i in network.linked] if network.links else seen
        seen = seen if network.links else seen[-1:]
        return model.head(network, self.leaves, self.running, seen, batch=True)

    def _leaves(self) -> dict[str, torch.Tensor]:
        """Return the weights, those that move as leaves of a new graph."""
        self.leaves = dict(self.weights)
        for name in self.velocities:
            self.leaves[name] = self.weights[name].detach().requires_grad_()
        return self.leaves

    def _rows(self, step: int) -> dict[int, np.ndarray]:
        """Numbers of the points of a step by seed; a pass over all in an order of its own leaves out what is over."""
        n = self.points.x.shape[1]
        epoch, place = divmod(step, n // self.batch)
        if self.pass_of != (self.phase, epoch):
            self.order = {s: self.points.generators(s, "order", self.phase, epoch).permutation(n) for s in self.own}
            self.pass_of = self.phase, epoch
        return {s: order[place * self.batch :][: self.batch] for s, order in self.order.items()}

    def _pictures(self, here: dict[int, np.ndarray]) -> np.ndarray:
        """(seeds, b, height, width, channels) of a step, of the seeds that the networks have, in order."""
        found = [self.points.x[s, here[s]] for s in self.own]
        if self.recipe.augmentation:
            generators = [self.points.generators(s, "augmentation", self.done) for s in self.own]
            found = [self.recipe.augmentation.apply(*pair) for pair in zip(generators, found, strict=True)]
        return np.stack(found)

    def _loss(self, outputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return the sum over networks of their mean losses: no network's slope has another's in it."""
        match self.recipe.loss:
            case "cross_entropy":
                flat = outputs.flatten(0, 1), labels.argmax(dim=-1).flatten()
                return functional.cross_entropy(*flat, reduction="sum") / outputs.shape[1]
            case "logistic":
                return functional.softplus(-labels * outputs).sum() / outputs.shape[1]
        return 0.5 * (outputs - labels).square().sum() / outputs.shape[1]

    def _first_layer(self) -> np.ndarray:
        return self.weights["layer0_weight0"].cpu().numpy().copy()

    def _tensor(self, values: np.ndarray) -> torch.Tensor:
        found = torch.tensor(np.asarray(values, np.float32))
        # From pinned memory the copy waits for nothing: points of the next step are made while a GPU is at this one.
        return found.pin_memory().to(self.device, non_blocking=True) if self.device.type == "cuda" else found


def _correlation(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(R, inputs, channels), twice -> (R,): the cosine of the angle between a channel's weights, the mean over them."""
    size = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    return np.mean(np.sum(a * b, axis=1) / np.maximum(size, np.finfo(np.float32).tiny), axis=-1)
