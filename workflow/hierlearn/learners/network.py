"""Two- and three-layer ReLU networks and the three-layer ResNet, trained by stochastic gradient descent."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Interval

from hierlearn.core.needs import Needs, Sizes
from hierlearn.core.parameters import Count, Positive, Share
from hierlearn.core.protocols import (
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
from hierlearn.learners._runs import BLOCK_ROWS, FRESH_POINTS, Rates, grid, take
from hierlearn.learners._selection import DIVERGED, SelectionRule, loss_of_classes, stack_by_rule
from hierlearn.learners.networks.runs import TRACED_POINTS, train_grid
from hierlearn.learners.networks.start import NetworkParameters
from hierlearn.solvers.networks import forward, last_features, tangent


@dataclass(frozen=True, kw_only=True)
class Network(NetworkParameters, Learner):
    """f(x) of solvers.networks: A ~ N(0, 1/m), W ~ N(0, sigma_w^2), V ~ N(0, sigma_v^2 / m)  (allenzhu2019, Section 6).

    All settings (learning rate, weight decay) of all seeds are trained in lockstep; the one with the least error on
    validation points is kept, or with selected_on = test on test points. Runs whose weights or outputs are not finite
    at the end are not chosen, and are told in `diverged_runs` and `diverged_settings`; a seed with no other has the
    status diverged. The weight decay pulls all trained weights towards 0, in the tangent mode the displacement.
    float32. Data order, initial weights and points are those of the seed, whatever the setting. Raises ValueError for
    the logistic loss on a regression teacher.
    """

    trained: Annotated[
        Literal["hidden", "last", "all", "tangent"],
        "hidden: W and V; last: A alone; all: both; tangent: W and V in the linearisation at the start.",
    ] = "hidden"
    loss: Annotated[
        Literal["squared", "logistic"], "squared: |f - y|^2 / 2; logistic: log(1 + exp(-y f)), for classes."
    ] = "squared"
    schedule: Annotated[
        Literal["joint", "layerwise"],
        "joint: all at once; layerwise: W alone in front of A, then V with W at rest (ResNet).",
    ] = "joint"
    optimiser: Annotated[Literal["sgd", "adam"], "Rule of the steps."] = "sgd"
    momentum: Annotated[float, Interval(ge=0, lt=1), "Momentum of sgd."] = 0.9
    batch: Annotated[Count, "Points per step."] = 50
    epochs: Annotated[Count, "Passes over the training points per phase."] = 100
    steps: Annotated[Count | None, "Steps per phase, in place of epochs."] = None
    milestones: Annotated[list[Share], "Parts of a phase after which the learning rate is divided by 10."] = field(
        default_factory=lambda: [0.5]
    )
    learning_rate_ratio: Annotated[Positive, "eta_v / eta_w: learning rate of V over that of the other layers."] = 1.0
    online: Annotated[bool, "One pass over fresh points: the number of samples is steps times batch."] = False
    batch_seeds = True
    stream_key: ClassVar[str] = "Network"
    MEASURES = {
        **DIVERGED,
        "frobenius_norm": "Frobenius norm of the weights that are trained",
        "movement": "Frobenius norm of how far the weights that are trained moved",
        "base_error": "E|out_1 - F|^2 of a ResNet's first block, where the teacher names its base F",
    }
    TRACES = {
        "train_loss": f"squared error on at most {TRACED_POINTS} training points, summed over outputs; "
        "classes: error rate",
        "validation_risk": f"the same against the labels of at most {TRACED_POINTS} validation points",
        "frobenius_norm": "Frobenius norm of the weights that are trained",
        "movement": "Frobenius norm of how far the weights that are trained moved",
    }

    class Choices(Rates, SelectionRule):
        pass

    def validate(self, inputs: Input | None) -> Iterator[Objection]:
        """Object to what cannot be trained layer by layer."""
        if self.schedule == "layerwise" and self.architecture != "resnet":
            yield "architecture", f"{self.architecture!r} with schedule 'layerwise'", "resnet"
        if self.schedule == "layerwise" and self.trained != "hidden":
            yield "trained", f"{self.trained!r} with schedule 'layerwise'", "hidden, or the schedule joint"
        if self.schedule == "layerwise" and self.online:
            yield "online", "True with schedule 'layerwise'", "false, or the schedule joint"

    def validate_data(self, labels: Labels, representation: Representation) -> Iterator[Objection]:
        """Object to a loss of classes on another target."""
        yield from loss_of_classes(self.loss, labels)

    def needs(self, sizes: Sizes) -> Needs:
        """Count as many seeds as a core's cache holds, BYTES_IN_CACHE, or one: weights, gradients, velocities of all
        settings, and their activations on a batch and on a block of points.

        parallel: the other architectures have no matrix that is worth a second thread.
        """
        width, inputs, outputs = self.width, sizes.dimension, sizes.outputs
        square = width**2 if self.architecture == "three_layer" else 0
        # Layer by layer there are two phases of as many steps each.
        phases = 2 if self.schedule == "layerwise" else 1
        step = 6 * square + phases * width * (6 * inputs + 12 * outputs)
        activations = width * (4 * self.batch + 3 * BLOCK_ROWS)
        points = min(sizes.samples, FRESH_POINTS) if self.online else sizes.samples
        return Needs(
            memory={
                "fit": 10e6
                + sizes.choices * (2 * square + 2 * width * (inputs + outputs) + activations)
                + 2 * points * inputs,
                "model": square + width * (inputs + 2 * outputs),
                "predict": 3 * BLOCK_ROWS * width,
            },
            work={
                "fit": sizes.choices * sizes.presented * step,
                "predict": 2 * sizes.test * (square + width * inputs),
            },
            parallel=0.6 if square else 0.0,
        )

    def fit(self, sample: TrainingData, monitor: Monitor, cache: dict[Any, Any]) -> Fit:
        """Fit all seeds; state: the weights of the network, or start_* and what was trained, (S, ...) float32."""
        self.raise_for_data(sample)
        seeds = sample.data.seeds
        settings = grid({name: values for name, values in sample.choices.items() if name != "selected_on"})
        place = repr(settings), sample.n
        new = [i for i, seed in enumerate(seeds) if (*place, seed) not in cache]
        if new:
            fits = train_grid(self, take(sample, new), settings, monitor)
            cache.update({(*place, seeds[i]): fit for i, fit in zip(new, fits, strict=True)})
        return stack_by_rule(sample, (cache[*place, seed] for seed in seeds))

    def predict(self, state: State, features: Features, role: str, count: int, cache: dict[Any, Any]) -> np.ndarray:
        """Return predictions (S, count, k) float64."""
        x = self.with_bias(features.draw(role, count))
        start = {name.removeprefix("start_"): values for name, values in state.items() if name.startswith("start_")}
        moved = {name: values for name, values in state.items() if not name.startswith("start_")}
        with np.errstate(over="ignore", invalid="ignore"):
            parts = [self._outputs(start, moved, x[:, i : i + BLOCK_ROWS]) for i in range(0, count, BLOCK_ROWS)]
        return np.concatenate(parts, axis=1).astype(np.float64)

    def _outputs(self, start: State, moved: State, x: np.ndarray) -> np.ndarray:
        if self.trained == "last":
            return last_features(self.architecture, start, x) @ np.swapaxes(moved["last"], -1, -2)
        if self.trained == "tangent":
            return tangent(self.architecture, start, forward(self.architecture, start, x), moved)["out"]
        return forward(self.architecture, moved, x)["out"]
