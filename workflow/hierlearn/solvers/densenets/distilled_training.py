"""Algorithm 1 of allenzhu2020 on many runs at once: layers that start, distil and decay each at a time of its own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hierlearn.solvers.densenets.distillation import distil, truncated_gradient, truncated_square
from hierlearn.solvers.densenets.model import distilled_pre_activations
from hierlearn.solvers.densenets.phases import STEPS_BETWEEN_QUESTIONS
from hierlearn.solvers.densenets.training import QuadraticTraining

Generators = Callable[..., np.random.Generator]
# Noise is added this often, as much as so many steps would have added: drawing it takes longer than a step.
STEPS_BETWEEN_NOISE = 10


@dataclass(frozen=True)
class Rules:
    """The constants of Algorithm 1.

    most: largest k_l that a distillation may keep, by layer; thresholds (R, L - 1): objectives Thres_{l,v} at or below
    which a layer is distilled; latest (L - 1,): steps at which it is at the latest; smallest: singular values above it
    count into k_l, 1/(10 kappa^2); lambdas (R, L - 1, 3): lambda_3, lambda_4, lambda_5 of a distilled layer; shrinkage
    (R, L - 1): lambda_6 over eps_0^2 when the layer starts; target: the eps_0 below which a run ends; bound: B' of the
    truncated square; noise: standard deviation of what a step adds to W; warm_start: svd or random.
    """

    most: tuple[int, ...]
    thresholds: np.ndarray
    latest: tuple[int, ...]
    smallest: float
    lambdas: np.ndarray
    shrinkage: np.ndarray
    target: float
    bound: float
    noise: float
    warm_start: str


class DistilledTraining(QuadraticTraining):
    """W, K and R  (allenzhu2020, eq. 2.1-2.3, Algorithm 1); see QuadraticTraining.

    The weights layer_2 .. layer_L are K_l above W_l, (R, most_l + m, size): rows of K beyond the k_l that was found are
    0, and so are the columns of R_l for them, and stay it, whatever the other runs found. errors (R,): eps_0 at the
    start; generators: one function per run, words -> a fresh generator for them.
    """

    # Whether a layer may have to be distilled before the next question.
    unsettled: bool

    def __init__(
        self, rules: Rules, errors: np.ndarray, generators: Sequence[Generators], *given: Any, **named: Any
    ) -> None:
        self.rules, self.generators = rules, generators
        super().__init__(*given, **named)
        layers = len(self.columns)
        self.errors, self.ended = errors.astype(np.float64), np.full(self.runs, np.nan)
        self.shrinking = np.zeros((self.runs, layers))
        # Step of every distillation and the k_l that it found, NaN before.
        self.distilled, self.found_width = (np.full((self.runs, layers), np.nan) for _ in range(2))
        self.fixed = [
            np.zeros((self.runs, columns.stop - columns.start, most), self.dtype)
            for columns, most in zip(self.columns[:-1], rules.most, strict=False)
            if columns is not None
        ]
        self.signs = [
            np.repeat([1.0, -1.0], [most, values.shape[1] - most]).astype(self.dtype)[:, None]
            for most, values in zip(rules.most, self.weights.values(), strict=True)
        ]
        self.weighing = [np.zeros((self.runs, v.shape[2], v.shape[2]), self.dtype) for v in self._all()]
        self.enter()

    @property
    def width(self) -> int:
        """m."""
        return self._all()[0].shape[1] - self.rules.most[0]

    def backward(self, x: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Do as QuadraticTraining, with the regularisers."""
        weights, gradients = self._all(), list(self.gradient.values())
        buffer = self.fill_buffer(x, self.layout.total + self.width * len(weights))
        values, mixed = [], {}
        for i in range(self.last + 1):
            most = self.rules.most[i]
            values.append(self.layer_input(buffer, i) @ weights[i].mT)
            outer = values[i][..., most:]
            np.multiply(outer, outer, out=buffer[..., self._squares(i)])
            if i < self.last:
                mixed[i] = values[i][..., :most] @ self.fixed[i].mT
                buffer[..., self.columns[i]] = self._square(mixed[i])
        losses, direct = self.output_gradients(buffer, x, labels)
        # below[i]: derivative in what layer i + 2 offers to later ones.
        below: dict[int, np.ndarray] = {}
        for i in range(self.last, self.first - 1, -1):
            most = self.rules.most[i]
            values[i][..., most:] *= direct[..., i : i + 1]
            if i in below:
                np.matmul(below[i] * self._square_gradient(mixed[i]), self.fixed[i], out=values[i][..., :most])
            else:
                values[i][..., :most] = 0.0
            np.matmul(values[i].mT, self.layer_input(buffer, i), out=gradients[i])
            for block, place in self.places[i].items():
                if block - 2 >= self.first:
                    product = values[i] @ weights[i][..., place]
                    below[block - 2] = below[block - 2] + product if block - 2 in below else product
            self._regularise(i, weights[i], gradients[i])
        return losses

    def penalty(self) -> np.ndarray:
        """Return Reg(W, K) of every run, (R,)."""
        total = np.zeros(self.runs, self.dtype)
        for i, values in enumerate(self._all()):
            apart = (values * self.signs[i]).mT @ values
            shrink = self.shrinking[:, i].astype(self.dtype)
            total += (self.weighing[i] * apart * apart).sum((1, 2)) + shrink * (values * values).sum((1, 2))
        return total

    def objective(self, step: int) -> np.ndarray:
        """Return running loss and regularisers, (R,)."""
        if step % STEPS_BETWEEN_QUESTIONS:
            return self.running
        return self.running + self.penalty()

    def attend(self, step: int) -> None:
        """Distil, halve eps_0, end runs, and add noise, each run by its own objective."""
        rules, present = self.rules, self.clock.present
        asked = step > 0 and step % STEPS_BETWEEN_QUESTIONS == 0
        if asked or self.unsettled or step in rules.latest:
            self.unsettled = False
            # What a later layer sees must be there when it comes.
            due = (step >= np.array(rules.latest)) | np.pad(present[:, 1:], ((0, 0), (0, 1)))
            if asked:
                objective = self.objective(step)
                due = due | (objective[:, None] <= rules.thresholds)
                self._halve(objective, step)
            for run, i in np.argwhere(due & present & np.isnan(self.distilled)):
                self._distil(int(run), int(i), step)
        if rules.noise > 0:
            self._disturb(step)

    def enter(self) -> None:
        """Do as QuadraticTraining; a layer that has come begins to decay."""
        super().enter()
        # A layer has come, or may have: the one below it may have to be distilled first.
        self.unsettled = True
        if hasattr(self, "shrinking"):
            come = self.clock.present & (self.shrinking == 0)
            self.shrinking = np.where(come, self.errors[:, None] ** 2 * self.rules.shrinkage, self.shrinking)

    def forward(self, x: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return S_2 .. S_L, and W_l times what layer l sees."""
        parts = [np.split(v, [most], axis=1) for v, most in zip(self._all(), self.rules.most, strict=True)]
        inner, outer = zip(*parts, strict=True)
        return distilled_pre_activations(inner, outer, self.fixed, x, self.layout)

    def summation(self, shown: np.ndarray) -> np.ndarray:
        """Do as QuadraticTraining: the squares stand to the right of what later layers see."""
        sums = np.zeros((self.runs, self.layout.total + self.width * len(self.columns), 1), self.dtype)
        for i in range(len(self.columns)):
            sums[:, self._squares(i)] = shown[:, i, None, None]
        return sums

    def look(self) -> dict[str, np.ndarray]:
        """Return |K_l^T K_l - W_l^T W_l| over |W_l^T W_l|, the distillation gap of every layer."""
        result = {}
        for i, values in enumerate(self._all()):
            inner, outer = np.split(values.astype(np.float64), [self.rules.most[i]], axis=1)
            teacher = outer.mT @ outer
            apart = np.linalg.norm(inner.mT @ inner - teacher, axis=(1, 2))
            result[f"distillation_gap_{i + 2}"] = apart / np.linalg.norm(teacher, axis=(1, 2))
        return result

    def measures(self) -> dict[str, np.ndarray]:
        """Return when every layer was distilled, which width was found, and when a run reached its target."""
        result = {f"distilled_{i + 2}": self.distilled[:, i] for i in range(len(self.columns))}
        result |= {f"found_width_{i + 2}": self.found_width[:, i] for i in range(len(self.columns))}
        return result | {"ended": self.ended}

    def final(self) -> dict[str, np.ndarray]:
        """Return K_l, W_l and R_l as inner_l, outer_l and fixed_l."""
        result: dict[str, np.ndarray] = {}
        for i, values in enumerate(self._all()):
            most = self.rules.most[i]
            result |= {f"inner_{i + 2}": values[:, :most], f"outer_{i + 2}": values[:, most:]}
        result |= {f"fixed_{i + 2}": values for i, values in enumerate(self.fixed)}
        return result | {"alphas": self.shown[:, 0].astype(np.float64)}

    def state(self) -> dict[str, np.ndarray]:
        own = {"errors": self.errors, "ended": self.ended, "shrinking": self.shrinking, "rates": self.rates}
        own |= {"distilled": self.distilled, "found_width": self.found_width}
        own |= {f"fixed_{i}": values for i, values in enumerate(self.fixed)}
        return super().state() | {name: np.array(values) for name, values in own.items()}

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        for name in ("errors", "ended", "shrinking", "rates", "distilled", "found_width"):
            setattr(self, name, np.array(arrays[name]))
        for i, values in enumerate(self.fixed):
            values[:] = arrays[f"fixed_{i}"]
        for run, i in np.argwhere(~np.isnan(self.distilled)):
            self._weigh(run, i)
        super().restore(arrays)
        self.unsettled = False

    def _all(self) -> list[np.ndarray]:
        return list(self.weights.values())

    def _squares(self, i: int) -> slice:
        first = self.layout.total + i * self.width
        return slice(first, first + self.width)

    def _square(self, z: np.ndarray) -> np.ndarray:
        # The same numbers in one pass where nothing is truncated, which is almost always.
        return z * z if self._within(z) else truncated_square(z, self.rules.bound)

    def _square_gradient(self, z: np.ndarray) -> np.ndarray:
        return 2 * z if self._within(z) else truncated_gradient(z, self.rules.bound)

    def _within(self, z: np.ndarray) -> bool:
        return bool(z.max() <= self.rules.bound and z.min() >= -self.rules.bound)

    def _regularise(self, i: int, values: np.ndarray, gradient: np.ndarray) -> None:
        if not np.isnan(self.distilled[:, i]).all():
            signed = values * self.signs[i]
            apart = signed.mT @ values
            apart *= self.weighing[i]
            gradient += 4.0 * (signed @ apart)
        gradient += (2.0 * self.shrinking[:, i]).astype(self.dtype)[:, None, None] * values

    def _halve(self, objective: np.ndarray, step: int) -> None:
        while (low := (objective < self.errors**2 / 4) & np.isnan(self.ended)).any():
            self.errors[low] /= 2
            self.shrinking[low] /= 4
            self.ended[low & (self.errors < self.rules.target)] = step
        self.rates = np.where(np.isnan(self.ended), self.rates, 0.0)

    def _distil(self, run: int, i: int, step: int) -> None:
        """K_l and R_l of one run."""
        rules, values, own = self.rules, self._all()[i], self.generators[run]("distil", i + 2)
        most, columns = rules.most[i], self.own[run][i]
        before = self._before(i)[columns]
        outer = np.ascontiguousarray(values[run, most:, columns].T, dtype=np.float64)
        if not np.isfinite(outer).all():
            return
        left, right, count = distil(outer[:, ~before], outer[:, before], rules.smallest, most)
        k = len(left)
        inner = np.zeros((most, outer.shape[1]))
        inner[:k, ~before], inner[:k, before] = left, right
        if rules.warm_start == "random":
            noise = own.standard_normal((k, outer.shape[1]))
            inner[:k] = noise * np.linalg.norm(outer) / np.linalg.norm(noise)
        values[run, :most] = 0.0
        values[run, :most, columns] = inner.T
        if i < len(self.fixed):
            rows = k * (k + 1) // 2
            self.fixed[i][run, :rows, :k] = own.standard_normal((rows, k)) / k
        self.distilled[run, i], self.found_width[run, i] = step, count
        self._weigh(run, i)

    def _weigh(self, run: int, i: int) -> None:
        """Weights of the entries of K^T K - W^T W in the regularisers; off the diagonal blocks each stands twice."""
        third, fourth, fifth = self.rules.lambdas[run, i]
        before = self._before(i)
        weights = np.full((len(before), len(before)), fifth)
        weights[np.ix_(before, before)] += fourth
        weights[np.ix_(before, ~before)] += third / 2
        weights[np.ix_(~before, before)] += third / 2
        self.weighing[i][run] = weights

    def _before(self, i: int) -> np.ndarray:
        """Which columns of layer l = i + 2 belong to layer l - 1, bool."""
        mask = np.zeros(self.layout.size(i + 2), dtype=bool)
        if i + 1 in self.places[i]:
            mask[self.places[i][i + 1]] = True
        return mask

    def _disturb(self, step: int) -> None:
        """Add noise to the W that move."""
        factors = self.clock.factors(step) * np.isnan(self.ended) * self.rules.noise * STEPS_BETWEEN_NOISE**0.5
        for run in np.flatnonzero((step - self.clock.phase_start) % STEPS_BETWEEN_NOISE == 0).tolist():
            own = self.generators[run]("noise", step)
            for i, values in enumerate(self._all()):
                most, columns = self.rules.most[i], self.own[run][i]
                noise = own.standard_normal((self.width, len(columns)), dtype=np.float32)
                if self.clock.moving[run, i] and factors[run] > 0:
                    values[run, most:, columns] += np.float32(factors[run]) * noise.T
