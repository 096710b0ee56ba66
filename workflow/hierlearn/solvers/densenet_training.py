"""Training of quadratic DenseNets of many runs at once: the course of it, and the plain network's gradients."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from hierlearn.solvers.clipped_descent import ClippedDescent
from hierlearn.solvers.densenets import Layout, pre_activations
from hierlearn.solvers.phases import LOOK_BACK, Clock

Points = Callable[[int], tuple[Any, Any]]


class Training(ABC):
    """S seeds times G settings of F(x) = sum_l alpha_l Sum(F_l(x)) in lockstep; R = S * G, seed after seed.

    alphas (R, L - 1); rates, decays (R,). loss: squared, (F - y)^2, or logistic, log(1 + exp(-v y (t + F))) with the
    sharpness v and a threshold t that points carry as their last column (allenzhu2020, eq. 3.2); the mean over a batch.
    optimiser, momentum, clip: of ClippedDescent. The dtype is that of the weights. Every run is what it would be among
    others; one whose loss is not finite has weights that are not, and changes nothing for the rest.
    """

    def __init__(
        self,
        layout: Layout,
        clock: Clock,
        start: Mapping[str, torch.Tensor],
        alphas: np.ndarray,
        rates: np.ndarray,
        decays: np.ndarray,
        loss: str = "squared",
        sharpness: float = 1.0,
        optimiser: str = "adam",
        momentum: float = 0.9,
        clip: float | None = None,
    ):
        self.layout, self.clock, self.runs = layout, clock, len(rates)
        self.descent = ClippedDescent(start, optimiser, momentum, clip)
        self.dtype = next(iter(start.values())).dtype
        self.alphas, self.rates = alphas, rates
        self.decays = torch.from_numpy(decays).to(self.dtype) if (decays > 0).any() else None
        self.loss, self.sharpness, self.done = loss, sharpness, 0
        self.running = torch.zeros(self.runs, dtype=self.dtype)
        self.buffers: dict[int, torch.Tensor] = {}
        self.spans = [layout.spans(layer) for layer in layout.layers]
        self.places = [layout.places(layer) for layer in layout.layers]
        self.columns = [layout.columns.get(layer) for layer in layout.layers]
        self.enter()

    @torch.inference_mode()
    def advance(self, points: Points, until: int, entered: Callable[[np.ndarray], None] = lambda runs: None) -> None:
        """Go on to step `until`. points(step): what `Layout.joined` gives, (S, 1, b, 2 d), and labels (S, 1, b, 1).

        entered: told which runs (R,) are about to begin a phase.
        """
        # Weights that decay towards 0 would pass through denormal numbers, a hundred times slower.
        torch.set_flush_denormal(True)
        for step in range(self.done, until):
            self.done = step
            entering = self.clock.ask(step, self.objective(step))
            if entering is not None:
                entered(entering)
                self.descent.forget(entering)
                self.enter()
            self.attend(step)
            losses = self.gradients(*(torch.as_tensor(values) for values in points(step)))
            self.running = losses if step == 0 else self.running.lerp_(losses, max(1 / LOOK_BACK, 1 / (step + 1)))
            self.descent.step((self.rates * self.clock.factors(step))[:, None] * self.clock.moving, self.decays)
        self.done = until

    @abstractmethod
    def gradients(self, seen: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Slopes of the mean loss over a batch, into `descent.slopes`; returns the loss (R,)."""

    def objective(self, step: int) -> np.ndarray:
        """The running objective (R,) that thresholds are compared with."""
        return self.running.numpy()

    def attend(self, step: int) -> None:  # noqa: B027 - most trainings have nothing to do here
        """What else happens before a step."""

    def cumulative(self, seen: torch.Tensor) -> torch.Tensor:
        """sum_{l' <= l} alpha_l' Sum(F_l') for l = 2 .. L, without truncation: (R, n, 2 d) -> (R, n, L - 1)."""
        sums = torch.stack([values.square().sum(-1) for values in self.arguments(seen)], dim=-1)
        return (sums * self.shown).cumsum(-1)

    @abstractmethod
    def arguments(self, seen: torch.Tensor) -> list[torch.Tensor]:
        """What is squared in F_2 .. F_L, (R, n, m) each, without truncation."""

    @abstractmethod
    def features(self, seen: torch.Tensor) -> list[torch.Tensor]:
        """S_2 .. S_L, (R, n, .) each, without truncation."""

    def looked(self) -> dict[str, np.ndarray]:
        """Measures (R,) along the training that only this network has."""
        return {}

    def measures(self) -> dict[str, np.ndarray]:
        """Measures (R,) of the end that only this network has."""
        return {}

    def final(self) -> dict[str, np.ndarray]:
        """What the network's outputs are made of, by name, (R, ...) each."""
        weights = {name: values.numpy() for name, values in self.descent.weights.items()}
        return weights | {"alphas": self.shown[:, 0].double().numpy()}

    def state(self) -> dict[str, np.ndarray]:
        """All that a later `restore` needs to go on to the same bits."""
        own = {"done": np.array(self.done), "running": self.running.numpy().copy()}
        return own | self.descent.state() | self.clock.state()

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Go back to a `state`."""
        self.descent.restore(arrays)
        self.clock.restore(arrays)
        self.done, self.running = int(arrays["done"]), torch.from_numpy(np.array(arrays["running"]))
        self.enter()

    def enter(self) -> None:
        """Take notice of the layers that are there and move by now."""
        present, moving = self.clock.present, self.clock.moving
        self.last, self.first = int(np.flatnonzero(present.any(0))[-1]), int(np.flatnonzero(moving.any(0))[0])
        self.descent.buffers["slopes"].zero_()
        shown = torch.from_numpy(self.alphas * present).to(self.dtype)
        self.shown = shown[:, None, :]
        self.sums = self.summing(shown)

    @abstractmethod
    def summing(self, shown: torch.Tensor) -> torch.Tensor:
        """(R, columns, 1) that turn the squares in a buffer into F."""

    def filled(self, seen: torch.Tensor, total: int) -> torch.Tensor:
        """A buffer (R, b, total) of zeros but for the points and what was there before."""
        points = seen.shape[-2]
        if points not in self.buffers:
            self.buffers[points] = torch.zeros(self.runs, points, total, dtype=self.dtype)
        buffer = self.buffers[points]
        buffer.unflatten(0, (seen.shape[0], -1))[..., self.layout.points] = seen[..., : 2 * self.layout.inputs]
        return buffer

    def seen_by(self, buffer: torch.Tensor, i: int) -> torch.Tensor:
        """What layer i + 2 sees of the buffer, (R, b, size)."""
        spans = self.spans[i]
        return buffer[..., spans[0]] if len(spans) == 1 else torch.cat([buffer[..., span] for span in spans], dim=-1)

    def slope(self, buffer: torch.Tensor, seen: torch.Tensor, labels: torch.Tensor) -> tuple[Any, Any]:
        """Loss (R,), and 2 alpha_l times its derivative in F at every point, (R, b, L - 1)."""
        labels, points = self._for_every_run(labels.to(self.dtype)), seen.shape[-2]
        if self.loss == "squared":
            residual = torch.baddbmm(labels, buffer, self.sums, beta=-1)
            losses = torch.linalg.vector_norm(residual.flatten(1), dim=1).square_().div_(points)
            return losses, residual * (4.0 / points * self.shown)
        threshold = self._for_every_run(seen[..., 2 * self.layout.inputs :].to(self.dtype))
        margin = torch.baddbmm(threshold, buffer, self.sums).mul_(labels).mul_(-self.sharpness)
        losses = torch.nn.functional.softplus(margin).mean(dim=(1, 2))
        pull = margin.sigmoid_().mul_(labels)
        return losses, pull * (-2.0 * self.sharpness / points * self.shown)

    def _for_every_run(self, values: torch.Tensor) -> torch.Tensor:
        """(S, 1, ...) -> (R, ...)."""
        return values.expand(-1, self.runs // values.shape[0], *values.shape[2:]).flatten(0, 1)


class DensenetTraining(Training):
    """The plain network, F_l = P_l^2 = G_l in R^m  (allenzhu2020, eq. 1.2).

    start: M_2 .. M_L as layer_2 .. layer_L, each (R, m, size) with columns in the layout's order.
    """

    def gradients(self, seen, labels):
        """As in Training."""
        weights, slopes = list(self.descent.weights.values()), list(self.descent.slopes.values())
        buffer, arguments = self.filled(seen, self.layout.total), []
        for i in range(self.last + 1):
            arguments.append(torch.bmm(self.seen_by(buffer, i), weights[i].mT))
            torch.mul(arguments[i], arguments[i], out=buffer[..., self.columns[i]])
        losses, direct = self.slope(buffer, seen, labels)
        # below[i]: derivative in G_{i+2} through later layers, times 2.
        below: dict[int, torch.Tensor] = {}
        for i in range(self.last, self.first - 1, -1):
            through = direct[..., i : i + 1]
            slope = arguments[i].mul_(below[i].add_(through) if i in below else through)
            torch.bmm(slope.mT, self.seen_by(buffer, i), out=slopes[i])
            for block, place in self.places[i].items():
                if block - 2 >= self.first:
                    part, known = weights[i][..., place], below.get(block - 2)
                    below[block - 2] = (
                        torch.bmm(slope, part).mul_(2.0)
                        if known is None
                        else torch.baddbmm(known, slope, part, alpha=2.0)
                    )
        return losses

    def arguments(self, seen):
        """P_2 .. P_L."""
        return pre_activations(list(self.descent.weights.values()), seen, self.layout)

    def features(self, seen):
        """P_2 .. P_L, which take the place of S_2 .. S_L."""
        return self.arguments(seen)

    def summing(self, shown):
        """As in Training: the squares are those that later layers see."""
        sums = torch.zeros(self.runs, self.layout.total, 1, dtype=self.dtype)
        for i, columns in enumerate(self.columns):
            sums[:, columns] = shown[:, i, None, None]
        return sums
