"""Training of quadratic DenseNets of many runs at once: the course of it, and the plain network's gradients."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from hierlearn.solvers.densenets.model import Layout, pre_activations
from hierlearn.solvers.densenets.phases import LOOK_BACK, Clock
from hierlearn.solvers.optimisers import clip_factors, get_optimiser
from hierlearn.solvers.training import Training


class QuadraticTraining(Training):
    """S seeds times G settings of F(x) = sum_l alpha_l Sum(F_l(x)) in lockstep; R = S * G, seed after seed.

    alphas (R, L - 1); rates, decays (R,). loss: squared, (F - y)^2, or logistic, log(1 + exp(-v y (t + F))) with the
    sharpness v and a threshold t that points carry as their last column (allenzhu2020, eq. 3.2); the mean over a batch.
    optimiser, momentum: of solvers.optimisers; clip: largest norm of a run's gradient over the matrices that move, None
    for none; weight decay comes after it. The dtype is that of the weights. own: layouts of runs that see only a part
    of what the others do; the rest of their columns is 0 and stays it.

    All weights lie in one buffer (R, P), matrix beside matrix, and so do their gradients: a step costs few passes.
    gradient: by name, views of the latter; on_phase: told which runs (R,) are about to begin a phase.
    """

    def __init__(
        self,
        layout: Layout,
        clock: Clock,
        start: Mapping[str, np.ndarray],
        alphas: np.ndarray,
        rates: np.ndarray,
        decays: np.ndarray,
        loss: str = "squared",
        sharpness: float = 1.0,
        optimiser: str = "adam",
        momentum: float = 0.9,
        clip: float | None = None,
        own: Sequence[Layout] | None = None,
    ) -> None:
        self.layout, self.clock, self.runs, self.clip = layout, clock, len(rates), clip
        flat = np.concatenate([values.reshape(self.runs, -1) for values in start.values()], axis=1)
        self.dtype, self.shapes = flat.dtype, {name: values.shape for name, values in start.items()}
        self.flat_gradient = np.zeros_like(flat)
        self.gradient = _views(self.flat_gradient, self.shapes)
        super().__init__(_views(flat, self.shapes), [flat], 1, get_optimiser(optimiser, momentum), decays)
        self.alphas, self.rates = alphas, rates
        self.loss, self.sharpness = loss, sharpness
        self.on_phase: Callable[[np.ndarray], None] = lambda runs: None
        self.running = np.zeros(self.runs, self.dtype)
        self.buffers: dict[int, np.ndarray] = {}
        self.spans = [layout.spans(layer) for layer in layout.layers]
        self.places = [layout.places(layer) for layer in layout.layers]
        self.columns = [layout.columns.get(layer) for layer in layout.layers]
        # Columns that a run's own layers see, by run and layer.
        self.own = [[one.within(layout, layer) for layer in layout.layers] for one in own or [layout] * self.runs]
        self.unseen = self._unseen()
        self.enter()

    def prepare(self, step: int) -> None:
        """Let layers come, by the clock, before a step."""
        entering = self.clock.ask(step, self.objective(step))
        if entering is not None:
            self.on_phase(entering)
            self.memory.clear(entering)
            self.enter()
        self.attend(step)

    def leaf_gradients(self, step: int, points: np.ndarray, labels: np.ndarray) -> list[np.ndarray]:
        """Return clipped gradients. points: what `Layout.join` gives, (S, 1, b, 2 d); labels (S, 1, b, 1)."""
        losses = self.backward(points, labels)
        for i, hidden in self.unseen.items():
            self.gradient[f"layer_{i + 2}"].swapaxes(1, 2)[hidden] = 0.0
        self.running = self.running + (losses - self.running) * max(1 / LOOK_BACK, 1 / (step + 1))
        if self.clip is not None:
            moves = (self.rates > 0)[:, None] & self.clock.moving
            factors = clip_factors(list(self.gradient.values()), self.clip, moves)
            if factors is not None:
                self.flat_gradient *= factors.astype(self.dtype)[:, None]
        return [self.flat_gradient]

    def learning_rates(self, step: int) -> list[np.ndarray]:
        return [self.rates * self.clock.factors(step)]

    @abstractmethod
    def backward(self, x: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Write the gradients of the mean loss over a batch to `gradient`; return the loss (R,)."""

    def objective(self, step: int) -> np.ndarray:
        """Return the running objective (R,) that thresholds are compared with."""
        return self.running

    def attend(self, step: int) -> None:
        """Do what else happens before a step."""

    def cumulative(self, arguments: Sequence[np.ndarray]) -> np.ndarray:
        """Sum alpha_l' Sum(F_l') over l' <= l, l = 2 .. L, without truncation: (R, n, m) each -> (R, n, L - 1)."""
        sums = np.stack([np.vecdot(values, values) for values in arguments], axis=-1)
        return np.cumsum(sums * self.shown, axis=-1)

    @abstractmethod
    def forward(self, x: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return S_2 .. S_L, (R, n, .), and what is squared in F_2 .. F_L, (R, n, m) each, without truncation.

        x (R, n, 2 d). Where a network has no S, the latter takes its place.
        """

    def look(self) -> dict[str, np.ndarray]:
        """Return measures (R,) along the training that only this network has."""
        return {}

    def measures(self) -> dict[str, np.ndarray]:
        """Return measures (R,) of the end that only this network has."""
        return {}

    def final(self) -> dict[str, np.ndarray]:
        """Return what the network's outputs are made of, by name, (R, ...) each."""
        return self.weights | {"alphas": self.shown[:, 0].astype(np.float64)}

    def state(self) -> dict[str, np.ndarray]:
        """Return all that a later `restore` needs to go on to the same bits."""
        return super().state() | self.clock.state() | {"running": self.running.copy()}

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Go back to a `state`."""
        super().restore(arrays)
        self.clock.restore(arrays)
        self.running = np.array(arrays["running"])
        self.enter()

    def enter(self) -> None:
        """Take notice of the layers that are there and move by now."""
        present, moving = self.clock.present, self.clock.moving
        self.last, self.first = int(np.flatnonzero(present.any(0))[-1]), int(np.flatnonzero(moving.any(0))[0])
        self.flat_gradient[:] = 0.0
        if moving.all():
            self.masks = None
        else:
            parts = zip(moving.T, self.shapes.values(), strict=True)
            columns = [np.repeat(moves[:, None], np.prod(shape[1:]), axis=1) for moves, shape in parts]
            self.masks = [np.concatenate(columns, axis=1).astype(self.dtype)]
        shown = (self.alphas * present).astype(self.dtype)
        self.shown = shown[:, None, :]
        self.sums = self.summation(shown)

    @abstractmethod
    def summation(self, shown: np.ndarray) -> np.ndarray:
        """Return (R, columns, 1) that turn the squares in a buffer into F."""

    def fill_buffer(self, x: np.ndarray, total: int) -> np.ndarray:
        """Return a buffer (R, b, total) of zeros but for the points and what was there before."""
        seeds, _, points, _ = x.shape
        if points not in self.buffers:
            self.buffers[points] = np.zeros((self.runs, points, total), self.dtype)
        buffer = self.buffers[points]
        of_seeds = buffer.reshape(seeds, -1, points, total)
        of_seeds[..., self.layout.points] = x[..., : 2 * self.layout.inputs]
        return buffer

    def layer_input(self, buffer: np.ndarray, i: int) -> np.ndarray:
        """Return what layer i + 2 sees of the buffer, (R, b, size)."""
        spans = self.spans[i]
        if len(spans) == 1:
            return buffer[..., spans[0]]
        return np.concatenate([buffer[..., span] for span in spans], axis=-1)

    def output_gradients(self, buffer: np.ndarray, x: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the loss (R,), and 2 alpha_l times its derivative in F at every point, (R, b, L - 1)."""
        labels, points = self._for_every_run(labels), x.shape[-2]
        outputs = buffer @ self.sums
        if self.loss == "squared":
            outputs -= labels
            losses = np.vecdot(outputs.mT, outputs.mT)[:, 0] / points
            return losses, outputs * (4.0 / points * self.shown)
        outputs += self._for_every_run(x[..., 2 * self.layout.inputs :])
        outputs *= labels
        outputs *= -self.sharpness
        losses = np.logaddexp(self.dtype.type(0), outputs).mean(axis=(1, 2))
        # The logistic function, which cannot overflow in this form.
        pull = (0.5 + 0.5 * np.tanh(0.5 * outputs)) * labels
        return losses, pull * (-2.0 * self.sharpness / points * self.shown)

    def _unseen(self) -> dict[int, np.ndarray]:
        """By layer, the columns (R, size) bool that a run of a smaller graph does not see; no layer that has none."""
        result = {}
        for i, layer in enumerate(self.layout.layers):
            hidden = np.ones((self.runs, self.layout.size(layer)), dtype=bool)
            for row, columns in zip(hidden, self.own, strict=True):
                row[columns[i]] = False
            if hidden.any():
                result[i] = hidden
        return result

    def _for_every_run(self, values: np.ndarray) -> np.ndarray:
        """(S, 1, ...) -> (R, ...)."""
        return np.repeat(values[:, 0], self.runs // len(values), axis=0).astype(self.dtype, copy=False)


class DensenetTraining(QuadraticTraining):
    """The plain network, F_l = P_l^2 = G_l in R^m  (allenzhu2020, eq. 1.2).

    start: M_2 .. M_L as layer_2 .. layer_L, each (R, m, size) with columns in the layout's order.
    """

    def backward(self, x: np.ndarray, labels: np.ndarray) -> np.ndarray:
        weights, gradients = list(self.weights.values()), list(self.gradient.values())
        buffer, arguments = self.fill_buffer(x, self.layout.total), []
        for i in range(self.last + 1):
            arguments.append(self.layer_input(buffer, i) @ weights[i].mT)
            np.multiply(arguments[i], arguments[i], out=buffer[..., self.columns[i]])
        losses, direct = self.output_gradients(buffer, x, labels)
        # below[i]: derivative in G_{i+2} through later layers, times 2.
        below: dict[int, np.ndarray] = {}
        for i in range(self.last, self.first - 1, -1):
            back, through = arguments[i], direct[..., i : i + 1]
            back *= below[i] + through if i in below else through
            np.matmul(back.mT, self.layer_input(buffer, i), out=gradients[i])
            for block, place in self.places[i].items():
                if block - 2 >= self.first:
                    product = back @ weights[i][..., place]
                    product *= 2.0
                    below[block - 2] = below[block - 2] + product if block - 2 in below else product
        return losses

    def forward(self, x: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return P_2 .. P_L, twice."""
        arguments = pre_activations(list(self.weights.values()), x, self.layout)
        return arguments, arguments

    def summation(self, shown: np.ndarray) -> np.ndarray:
        """Do as QuadraticTraining: the squares are those that later layers see."""
        sums = np.zeros((self.runs, self.layout.total, 1), self.dtype)
        for i, columns in enumerate(self.columns):
            sums[:, columns] = shown[:, i, None, None]
        return sums


class PolynomialTraining(QuadraticTraining):
    """Two layers with a power for activation: F = sum_r a_r (<w_r, (x, G_1)> + b_r)^degree, a_r = 1, -1, 1, ...

    start: layer_2 (R, m, 2 d + 1), the last column being b.
    """

    def __init__(self, degree: int, *given: Any, **named: Any) -> None:
        self.degree = degree
        super().__init__(*given, **named)

    @property
    def signs(self) -> np.ndarray:
        """a_1 .. a_m."""
        return signs(self.weights["layer_2"].shape[1]).astype(self.dtype)

    def backward(self, x: np.ndarray, labels: np.ndarray) -> np.ndarray:
        weights, gradient = self.weights["layer_2"], self.gradient["layer_2"]
        points = self.fill_buffer(x, self.layout.total)[..., self.layout.points]
        arguments = points @ weights[..., :-1].mT
        arguments += weights[:, None, :, -1]
        # A product of few factors is faster than a power.
        powers = arguments.copy()
        for _ in range(self.degree - 2):
            powers *= arguments
        losses, direct = self.output_gradients(powers * arguments, x, labels)
        powers *= 0.5 * self.degree * direct
        powers *= self.signs
        np.matmul(powers.mT, points, out=gradient[..., :-1])
        np.sum(powers, axis=1, out=gradient[..., -1])
        return losses

    def cumulative(self, arguments: Sequence[np.ndarray]) -> np.ndarray:
        """Return F, (R, n, 1)."""
        return self.shown * (arguments[0] ** self.degree @ self.signs[:, None])

    def forward(self, x: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return what the power is taken of, twice."""
        weights = self.weights["layer_2"]
        arguments = [x[..., : 2 * self.layout.inputs] @ weights[..., :-1].mT + weights[:, None, :, -1]]
        return arguments, arguments

    def summation(self, shown: np.ndarray) -> np.ndarray:
        """Do as QuadraticTraining, for the powers alone."""
        return shown[:, :1, None] * self.signs[:, None]


def signs(width: int) -> np.ndarray:
    """Return 1, -1, 1, ... of shape (width,)."""
    return np.where(np.arange(width) % 2, -1.0, 1.0)


def _views(flat: np.ndarray, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    """Matrices by name in a buffer (R, P) in which they lie side by side."""
    result, first = {}, 0
    for name, shape in shapes.items():
        size = int(np.prod(shape[1:]))
        result[name] = flat[:, first : first + size].reshape(shape, copy=False)
        first += size
    return result
