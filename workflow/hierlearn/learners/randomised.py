"""The true two-layer network at randomised weights, which escapes its tangent kernel."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from hierlearn.core.needs import Needs, Sizes
from hierlearn.core.parameters import Count, Even, Index, Positive
from hierlearn.core.protocols import (
    STATUS,
    Features,
    Fit,
    Input,
    Labels,
    Learner,
    Monitor,
    Objection,
    Representation,
    State,
    TrainingData,
)
from hierlearn.learners._randomised import RandomisedNetwork, exact_squared_loss, mean_outputs, network, sample_loss
from hierlearn.learners._selection import best_on_validation, error, fit_of_seed, loss_of_classes, points_by_seed
from hierlearn.learners._symmetric_gates import Loss, first_layers, normal
from hierlearn.solvers.losses import LOSSES
from hierlearn.solvers.optimisers import adam, cosine_factor
from hierlearn.theory.activations import ANALYTIC_GATES
from hierlearn.theory.expressivity import taylor_reaches

BLOCK_ROWS = 2048


# Predictions that fit the labels no better than 0 does, by this part, have stayed at the saddle W = 0.
COLLAPSE_GAIN = 1e-6


@dataclass(frozen=True, kw_only=True)
class Randomised(Learner):
    """f_{W0 + WZ}(x) = m^{-1/2} sum_r a_r sigma(<w0_r + z_r w_r, h(x)>), z random  (bai2020, Sections 3.1 and 6.1).

    Minimises E_z mean loss + ridge |W|_{2,4}^power by Adam and predicts E_z f. Order 2: z_r = +-1 for every neuron,
    each with a direction w_r of its own. Orders k = 3 and 4: z+ (neurons with a = +1) and z- have the same moments
    below k, E z+^k = E z-^k + 1, and the two neurons of a pair share their direction. Symmetric initialisation
    (bai2020, eq. 3); w0 and the start are the ones that the learner `taylor` draws from the same streams. Several
    outputs are trained one by one on the same w0. float32.

    `exact` uses E_z (f - y)^2 = (E_z f - y)^2 + Var_z f, both sums over neurons as these are independent; without
    draws the variance is 0. Raises ValueError for orders above 2 without an analytic activation or without draws, for
    another loss than the squared unless draws are sampled, and in `fit` for a loss of classes on a regression teacher.
    """

    order: Annotated[
        Literal[2, 3, 4], "Order k that is left: 2 by signs, 3 and 4 by matched moments and an analytic sigma."
    ] = 2
    activation: Annotated[
        Literal["relu2", "relu3", "erf", "sin", "softplus"],
        "sigma: relu3 is relu^3 / 6 (bai2020), relu2 is relu^2 / 2, the others are analytic.",
    ] = "relu3"
    width: Annotated[Even, "Number m of neurons, even."] = 64
    loss: Loss = "squared"
    penalty_power: Annotated[Literal[4, 8], "Power of |W|_{2,4}: 4 or, as in bai2020, Section 4, 8."] = 8
    draws: Annotated[
        Literal["exact", "sampled", "none"],
        "exact: the mean over multipliers (squared loss only); sampled: fresh ones per point and step; none: all are 1,"
        " the plain network of weights W0 + W, whose linear term stays (squared loss only).",
    ] = "exact"
    steps: Annotated[Count, "Steps of Adam per ridge."] = 300
    learning_rate: Annotated[
        Positive, "First learning rate of Adam for the scaled weights m^{1/(2k)} w_r, falling to 0 along half a cosine."
    ] = 0.1
    batch: Annotated[Index, "Points per step; 0 takes all."] = 0
    start: Annotated[Positive, "Size of <w_r, h> m^{1/(2k)} at the random start; W = 0 is a saddle."] = 0.1
    stream_key: ClassVar[str] = "Randomised"

    class Choices:
        ridge: Annotated[Positive, "Factor of the penalty for features with |h|^2 = D, as in Quad-h."]

    def __post_init__(self) -> None:
        super().__post_init__()
        self.raise_for()

    def validate(self, inputs: Input | None) -> Iterator[Objection]:
        """Object to derivatives that an activation does not have, and losses without a closed mean."""
        if self.order > 2 and self.activation not in ANALYTIC_GATES:
            yield "activation", f"{self.activation!r} with order {self.order}", "erf, sin or softplus, or order 2"
        if self.draws != "sampled" and self.loss != "squared":
            yield "loss", f"{self.loss!r} with draws {self.draws!r}", "squared, or sampled draws"
        if self.draws == "none" and self.order != 2:
            yield "draws", f"'none' with order {self.order}", "exact, sampled, or order 2"

    def validate_data(self, labels: Labels, representation: Representation) -> Iterator[Objection]:
        """Object to a loss of classes on another target."""
        yield from loss_of_classes(self.loss, labels)

    def needs(self, sizes: Sizes) -> Needs:
        """Count activations of both halves at every value of the multipliers; weights at all ridges, and Adam's means.

        work: an activation and its slope cost as much as some ten products.
        """
        n, width, features, outputs = sizes.samples, self.width, sizes.features, sizes.outputs
        return Needs(
            memory={
                "fit": (10 * n + 4 * sizes.validation + 2 * sizes.choices * outputs * features + 4 * features) * width,
                "model": outputs * width * features,
                "predict": 2 * sizes.test * (features + 2 * width) + 2 * outputs * width * features,
            },
            work={
                "fit": sizes.choices * outputs * self.steps * n * width * (4 * features + 100),
                "predict": 4 * outputs * sizes.test * width * features,
            },
        )

    def fit(self, sample: TrainingData, monitor: Monitor, cache: dict[Any, Any]) -> Fit:
        """Fit all seeds; state: w0 (S, m/2, D), weights (S, k, m, D) float32, for orders above 2 (S, k, m/2, D)."""
        self.raise_for_data(sample)
        data, kind, ridges = sample.data, sample.data.kind, list(sample.choices["ridge"])
        w0, net, loss = first_layers(sample, self.width), self._network(), LOSSES[self.loss]
        shape, fits = (net.directions, w0.shape[-1]), []
        seeds = zip(data.seeds, sample.streams.at("start").generators(), w0, points_by_seed(sample), strict=True)
        for seed, generator, gates, (x, y, z, labels) in seeds:
            starts = [self.start * normal(generator, *shape) for _ in range(data.outputs)]
            inner, weights = x @ gates.T, np.empty((len(ridges), data.outputs, *shape), np.float32)
            for r, ridge in enumerate(ridges):
                for j, start in enumerate(starts):
                    # The same draws at every ridge.
                    draws = sample.streams.generator(seed, "draws", j)
                    weights[r, j] = net.unit * self._descend(net, x, inner, y[:, j], ridge, start, draws)
            place = best_on_validation(_outputs(net, gates, weights, z), labels, kind, loss.value)
            train = _outputs(net, gates, weights[place], x)
            points = self.batch if 0 < self.batch < len(y) else len(y)
            fits.append(
                fit_of_seed(
                    state={"w0": gates, "weights": weights[place]},
                    status=STATUS[_status(loss, train, y)],
                    validation_risk=error(_outputs(net, gates, weights[place], z), labels, kind),
                    train_risk=error(train, y, kind),
                    choices={"ridge": float(ridges[place])},
                    # Matrix products: one forth and one back per step.
                    flops=4.0 * self.steps * points * weights[0].size * len(ridges),
                )
            )
            monitor.report(len(fits), len(data.seeds), f"width {self.width}, n = {sample.n}")
        return Fit.stack(fits)

    def predict(self, state: State, features: Features, role: str, count: int, cache: dict[Any, Any]) -> np.ndarray:
        """Return predictions E_z f, (S, count, k) float64."""
        net = self._network()
        parts = zip(state["w0"], state["weights"], features.draw(role, count), strict=True)
        return np.stack([_outputs(net, *part) for part in parts])

    def unreachable(self, dimension: int, degree: int) -> str:
        """Return why the network of the raw input cannot represent a degree, in one line; "" if it can.

        The mean over multipliers leaves the Taylor terms from the order k on, and of them the first reaches the most.
        """
        if taylor_reaches(self.activation, 1 if self.draws == "none" else self.order, degree):
            return ""
        return (
            f"{self.activation} less its terms below order {self.order} leaves out degree {degree} of the raw input; "
            "use another activation"
        )

    def _network(self) -> RandomisedNetwork:
        return network(self.width, self.order, self.activation, random=self.draws != "none")

    def _descend(
        self,
        net: RandomisedNetwork,
        h: np.ndarray,
        inner: np.ndarray,
        labels: np.ndarray,
        ridge: float,
        start: np.ndarray,
        generator: np.random.Generator,
    ) -> np.ndarray:
        """Scaled weights U (directions, D) after Adam's steps, or NaN once a value is not finite."""
        loss, factor = LOSSES[self.loss], ridge * float(h.shape[1]) ** (-self.penalty_power / 2)
        factor *= net.unit**self.penalty_power
        weights, optimiser = start.copy(), adam()
        memory = optimiser.init([weights], 0)
        with np.errstate(over="ignore", invalid="ignore"):
            for step in range(self.steps):
                rows: slice | np.ndarray = slice(None)
                if 0 < self.batch < len(labels):
                    rows = generator.permutation(len(labels))[: self.batch]
                shift = h[rows] @ (net.unit * weights).T
                if self.draws != "sampled":
                    value, back = exact_squared_loss(net, inner[rows], shift, labels[rows])
                else:
                    multipliers = net.multipliers(generator, len(shift))
                    value, back = sample_loss(net, loss, inner[rows], shift, labels[rows], multipliers)
                if not np.isfinite(value):
                    return np.full_like(weights, np.nan)
                gradient = net.unit * (back.T @ h[rows]) + self._penalty_gradient(weights, factor)
                rate = np.array(self.learning_rate * cosine_factor(step, self.steps))
                optimiser.update([weights], [gradient], memory, [rate])
        return weights

    def _penalty_gradient(self, weights: np.ndarray, ridge: float) -> np.ndarray:
        """Gradient of ridge (sum_r |u_r|^4)^{power/4}."""
        norms = np.sum(weights**2, axis=1, keepdims=True)
        outer = 1.0 if self.penalty_power == 4 else 2.0 * float(np.sum(norms**2))
        return np.float32(4.0 * ridge * outer) * norms * weights


def _outputs(net: RandomisedNetwork, w0: np.ndarray, weights: np.ndarray, h: np.ndarray) -> np.ndarray:
    """E_z f: (m/2, D), (..., k, directions, D), (n, D) -> (..., n, k)."""
    blocks = []
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, len(h), BLOCK_ROWS):
            part = h[start : start + BLOCK_ROWS]
            blocks.append(mean_outputs(net, part @ w0.T, part @ np.swapaxes(weights, -1, -2)))
    return np.moveaxis(np.concatenate(blocks, axis=-1), -2, -1)


def _status(loss: Any, outputs: np.ndarray, labels: np.ndarray) -> str:
    """Return what became of the chosen weights, from E_z f on training points, (n, k)."""
    if not np.all(np.isfinite(outputs)):
        return "diverged"
    gain = np.mean(loss.value(np.zeros_like(labels), labels)) - np.mean(loss.value(outputs, labels))
    return "ok" if gain > COLLAPSE_GAIN * np.mean(loss.value(np.zeros_like(labels), labels)) else "collapsed"
