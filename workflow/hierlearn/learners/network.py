"""Two- and three-layer ReLU networks and the three-layer ResNet, trained by stochastic gradient descent."""

from dataclasses import dataclass, field
from itertools import product
from typing import Any, ClassVar

import numpy as np

from hierlearn.core.protocols import Features, Fit, Learner, Monitor, Sample, State
from hierlearn.core.streams import Streams
from hierlearn.learners._runs import BLOCK_ROWS
from hierlearn.learners._selection import DIVERGED
from hierlearn.learners.networks.runs import TRACED_POINTS, trained_grid
from hierlearn.learners.networks.start import ARCHITECTURE, START, first_seen, initial
from hierlearn.solvers.networks.model import forward, last_features, tangent, trainable

PARAMETERS = {
    **ARCHITECTURE,
    "trained": {
        "description": "hidden: W and V; last: A alone; all: both; tangent: W and V in the linearisation at the start.",
        "enum": ["hidden", "last", "all", "tangent"],
        "default": "hidden",
    },
    **START,
    "loss": {
        "description": "squared: |f - y|^2 / 2; logistic: log(1 + exp(-y f)), for classes.",
        "enum": ["squared", "logistic"],
        "default": "squared",
    },
    "schedule": {
        "description": "joint: all at once; layerwise: W alone in front of A, then V with W at rest (ResNet).",
        "enum": ["joint", "layerwise"],
        "default": "joint",
    },
    "optimiser": {"description": "Rule of the steps.", "enum": ["sgd", "adam"], "default": "sgd"},
    "momentum": {
        "description": "Momentum of sgd.",
        "type": "number",
        "minimum": 0,
        "exclusiveMaximum": 1,
        "default": 0.9,
    },
    "batch": {"description": "Points per step.", "type": "integer", "minimum": 1, "default": 50},
    "epochs": {
        "description": "Passes over the training points per phase.",
        "type": "integer",
        "minimum": 1,
        "default": 100,
    },
    "steps": {
        "description": "Steps per phase, in place of epochs.",
        "type": ["integer", "null"],
        "minimum": 1,
        "default": None,
    },
    "drops": {
        "description": "Parts of a phase after which the rate is divided by 10.",
        "type": "array",
        "items": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        "default": [0.5],
    },
    "rate_ratio": {
        "description": "eta_v / eta_w: rate of V over that of the other layers.",
        "type": "number",
        "exclusiveMinimum": 0,
        "default": 1.0,
    },
    "online": {
        "description": "One pass over fresh points: the number of samples is steps times batch.",
        "type": "boolean",
        "default": False,
    },
}
CHOICES = {
    "rate": {"description": "Rate of the steps.", "type": "number", "exclusiveMinimum": 0},
    "decay": {"description": "Weight decay.", "type": "number", "minimum": 0, "default": 0.0},
    "selected_on": {
        "description": "Points on which rate and decay are chosen; test is how allenzhu2019 chose.",
        "enum": ["validation", "test"],
        "default": "validation",
        "rule": "how the other choices are made",
    },
}
# Seeds as long as they fit into BYTES_TOGETHER; then of one seed weights, gradients and velocities of
# all settings, and their activations on a batch and on a block of points.
MEMORY = {
    "fit": (
        (95e6,),
        (2, "choices", "width", "width", {"architecture": ["three_layer"]}),
        (2, "choices", "width", "dimension"),
        (2, "choices", "width", "outputs"),
        (4, "choices", "batch", "width"),
        (3, "choices", 512, "width"),
        (2, "samples", "dimension"),
    ),
    "model": (
        ("width", "width", {"architecture": ["three_layer"]}),
        ("width", "dimension"),
        (2, "width", "outputs"),
    ),
    "predict": ((3, 512, "width"),),
}
WORK = {
    "fit": (
        (6, "choices", "presented", "width", "width", {"architecture": ["three_layer"]}),
        (6, "choices", "presented", "width", "dimension"),
        (12, "choices", "presented", "width", "outputs"),
        # Two phases of as many steps each.
        (6, "choices", "presented", "width", "dimension", {"schedule": ["layerwise"]}),
        (12, "choices", "presented", "width", "outputs", {"schedule": ["layerwise"]}),
    ),
    "predict": ((2, "test", "width", "width", {"architecture": ["three_layer"]}), (2, "test", "width", "dimension")),
}
# The other architectures have no matrix that is worth a second thread.
PARALLEL = ((0.6, {"architecture": ["three_layer"]}),)
MEASURES = {
    **DIVERGED,
    "frobenius_norm": "Frobenius norm of the weights that are trained",
    "movement": "Frobenius norm of how far the weights that are trained moved",
    "base_error": "E|out_1 - F|^2 of a ResNet's first block, where the teacher names its base F",
}
TRACES = {
    "train_loss": f"squared error on at most {TRACED_POINTS} training points, summed over outputs; classes: error rate",
    "validation_risk": f"the same against the labels of at most {TRACED_POINTS} validation points",
    "frobenius_norm": "Frobenius norm of the weights that are trained",
    "movement": "Frobenius norm of how far the weights that are trained moved",
}
EXCLUDED = (
    ({"schedule": ["layerwise"], "architecture": ["two_layer", "three_layer"]}, "resnet"),
    ({"schedule": ["layerwise"], "trained": ["last", "all", "tangent"]}, "hidden, or the schedule joint"),
    ({"schedule": ["layerwise"], "online": [True]}, "false, or the schedule joint"),
)


@dataclass(frozen=True)
class Network(Learner):
    """f(x) of solvers.networks: A ~ N(0, 1/m), W ~ N(0, sigma_w^2), V ~ N(0, sigma_v^2 / m)  (allenzhu2019, Section 6).

    All settings (rate, decay) of all seeds are trained in lockstep; the one with the least error on validation points
    is kept, or with selected_on = test on test points. Runs whose weights or outputs are not finite at the end are not
    chosen, and are told in `diverged_runs` and `diverged_settings`; a seed with no other has the status diverged. The
    decay pulls all trained weights towards 0, in the tangent mode the displacement. float32. Data order, initial
    weights and points are those of the seed, whatever the setting. Raises ValueError for the logistic loss on
    a regression teacher.
    """

    architecture: str = "resnet"
    trained: str = "hidden"
    width: int = 200
    bias: bool = True
    first_scale: float | None = None
    second_scale: float = 1.0
    last_weights: str = "gaussian"
    loss: str = "squared"
    schedule: str = "joint"
    optimiser: str = "sgd"
    momentum: float = 0.9
    batch: int = 50
    epochs: int = 100
    steps: int | None = None
    drops: list[float] = field(default_factory=lambda: [0.5])
    rate_ratio: float = 1.0
    online: bool = False
    batch_seeds: ClassVar[bool] = True
    stream_key: ClassVar[str] = "Network"

    def fit(self, sample: Sample, monitor: Monitor, cache: dict[Any, Any]) -> Fit:
        """State: the weights of the network, or start_* and what was trained, (S, ...) float32."""
        problem, features, samples = sample.problem, sample.features, sample.n
        if self.loss != "squared" and problem.teacher.kind != "classes":
            raise ValueError(f"network: loss {self.loss!r} on a teacher of {problem.teacher.kind}; expected squared")
        rule = sample.choices.get("selected_on", [CHOICES["selected_on"]["default"]])[0]
        settings = tuple(product(sample.choices["rate"], sample.choices.get("decay", [CHOICES["decay"]["default"]])))
        fresh = [i for i, seed in enumerate(problem.seeds) if (settings, samples, seed) not in cache]
        if fresh:
            part, seen = problem.take(fresh), features.take(fresh)
            found = trained_grid(self, part, seen, samples, settings, sample.streams.take(fresh), monitor)
            cache.update({(settings, samples, seed): runs for seed, runs in zip(part.seeds, found, strict=True)})
        fits = [cache[settings, samples, seed][rule] for seed in problem.seeds]

        def stacked(pick):
            return {name: np.stack([pick(fit)[name] for fit in fits]) for name in pick(fits[0])}

        chosen = stacked(lambda fit: fit["choices"])
        if "selected_on" in sample.choices:
            chosen["selected_on"] = np.full(len(fits), ["validation", "test"].index(rule))
        scalars = stacked(lambda fit: fit["scalars"])
        return Fit(
            state=stacked(lambda fit: fit["state"]),
            status=scalars["status"].astype(np.int8),
            validation_risk=scalars["validation_risk"],
            train_risk=scalars["train_risk"],
            choices=chosen,
            measures=stacked(lambda fit: fit["measures"]),
            trace=stacked(lambda fit: fit["trace"]),
            flops=scalars["flops"],
        )

    def predict(self, state: State, features: Features, role: str, count: int, cache: dict[Any, Any]) -> np.ndarray:
        """(S, count, k) float64."""
        x = self.seen(features.draw(role, count))
        start = {name.removeprefix("start_"): values for name, values in state.items() if name.startswith("start_")}
        moved = {name: values for name, values in state.items() if not name.startswith("start_")}
        with np.errstate(over="ignore", invalid="ignore"):
            parts = [self._outputs(start, moved, x[:, i : i + BLOCK_ROWS]) for i in range(0, count, BLOCK_ROWS)]
        return np.concatenate(parts, axis=1).astype(np.float64)

    def seen(self, x: np.ndarray) -> np.ndarray:
        """Points as the first layer sees them: (S, n, d) -> (S, n, d + 1) with a bias."""
        return first_seen(self, x)

    def phases(self) -> tuple[tuple[int, tuple[str, ...]], ...]:
        """For each phase the number of blocks and the weights that move."""
        names = trainable(self.architecture, self.trained, self.bias)
        if self.schedule == "joint":
            return ((2, names),)
        return ((1, ("first",)), (2, tuple(name for name in names if name != "first")))

    def start(self, inputs: int, outputs: int, streams: Streams) -> State:
        """Initial weights by name, (S, ...) float32."""
        return initial(self, inputs, outputs, streams)

    def _outputs(self, start: State, moved: State, x: np.ndarray) -> np.ndarray:
        if self.trained == "last":
            return last_features(self.architecture, start, x) @ np.swapaxes(moved["last"], -1, -2)
        if self.trained == "tangent":
            return tangent(self.architecture, start, forward(self.architecture, start, x), moved)["out"]
        return forward(self.architecture, moved, x)["out"]
