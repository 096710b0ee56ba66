"""Plain quadratic DenseNets, trained layer after layer, all at once, or with the lower layers at rest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hierlearn.learners._densenet_refit import refitted, refitted_outputs
from hierlearn.learners._densenet_runs import BLOCK_ROWS, fitted, settings
from hierlearn.learners._densenet_student import Student, predicted
from hierlearn.protocols import Features, Fit, Monitor, State
from hierlearn.solvers.densenet_training import DensenetTraining
from hierlearn.solvers.densenets import Layout, pre_activations
from hierlearn.solvers.phases import Clock, Schedule
from hierlearn.streams import Streams

PARAMETERS = {
    "depth": {
        "description": "Number L of layers, x being none; null: the teacher's, or 3.",
        "type": ["integer", "null"],
        "minimum": 2,
        "maximum": 6,
        "default": None,
    },
    "graph": {
        "description": "J_2 .. J_L, the layers that each layer sees, 0 being x and 1 its centred squares; null: the "
        "teacher's, or [0, 1], then [0, l - 1].",
        "type": ["array", "null"],
        "items": {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1},
        "minItems": 1,
        "default": None,
    },
    "alphas": {
        "description": "alpha_2 .. alpha_L; null: powers of the gap.",
        "type": ["array", "null"],
        "items": {"type": "number", "minimum": 0},
        "minItems": 1,
        "default": None,
    },
    "gap": {
        "description": "alpha_{l+1} / alpha_l where `alphas` is null; null: the teacher's alphas, or 0.2.",
        "type": ["number", "null"],
        "exclusiveMinimum": 0,
        "default": None,
    },
    "width": {"description": "Number m of neurons per layer.", "type": "integer", "minimum": 1, "default": 24},
    "start_scale": {
        "description": "Root of Sum(G_l), roughly, at the start.",
        "type": "number",
        "exclusiveMinimum": 0,
        "default": 0.5,
    },
    "readout": {
        "description": "trained; refitted: at the end ridge regression on all products of two of the columns that the "
        "last layer sees takes its place, with the lower layers at rest.",
        "enum": ["trained", "refitted"],
        "default": "trained",
    },
    "schedule": {
        "description": "staged: layer after layer, the lower ones keep moving; joint: all from the start; layerwise: "
        "the lower ones rest; restart: the last layer never comes, the lower ones see the same rate (the control).",
        "enum": ["staged", "joint", "layerwise", "restart"],
        "default": "staged",
    },
    "starts": {
        "description": "Parts of the training after which layers 3 .. L come at the latest; null: evenly spread.",
        "type": ["array", "null"],
        "items": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        "default": None,
    },
    "thresholds": {
        "description": "Running losses at which layers 3 .. L come earlier, in the teacher's own units; null: none.",
        "type": ["array", "null"],
        "items": {"type": "number", "minimum": 0},
        "default": None,
    },
    "annealing": {
        "description": "cosine: the rate falls to 0 by the planned end of a phase and is restored with the next one.",
        "enum": ["cosine", "constant"],
        "default": "cosine",
    },
    "optimiser": {"description": "Rule of the steps.", "enum": ["sgd", "adam"], "default": "adam"},
    "momentum": {
        "description": "Momentum of sgd.",
        "type": "number",
        "minimum": 0,
        "exclusiveMaximum": 1,
        "default": 0.9,
    },
    "clip": {
        "description": "Largest norm of a gradient; null: none.",
        "type": ["number", "null"],
        "exclusiveMinimum": 0,
        "default": 1.0,
    },
    "sharpness": {
        "description": "v of the logistic loss log(1 + exp(-v y (x_0 + F))), for classes.",
        "type": "number",
        "exclusiveMinimum": 0,
        "default": 10.0,
    },
    "batch": {"description": "Points per step.", "type": "integer", "minimum": 1, "default": 128},
    "epochs": {"description": "Passes over the training points.", "type": "integer", "minimum": 1, "default": 100},
    "steps": {
        "description": "Steps, in place of epochs.",
        "type": ["integer", "null"],
        "minimum": 1,
        "default": None,
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
    "gap": {
        "description": "alpha_{l+1} / alpha_l, in place of what the parameters say.",
        "type": "number",
        "exclusiveMinimum": 0,
        "default": None,
    },
    "graph": {
        "description": "Layers that layer l sees: skip, 0 and l - 1; chain, l - 1 alone; dense, all before it; own: "
        "what the parameters say.",
        "enum": ["own", "skip", "chain", "dense"],
        "default": "own",
    },
}
# Weights, Adam's memory and activations of every setting of one seed.
MEMORY = {
    "fit": (
        (10, "choices", "width", "dimension"),
        (10, "choices", "width", "width"),
        (8, "choices", "batch", "width"),
        (4, "choices", 1000, "width"),
        (2, "choices", 1000, "dimension"),
        (2, "samples", "dimension"),
        # Products of the columns that a refitted layer sees, and the factor.
        (3, 8192, "dimension", "dimension", {"readout": ["refitted"]}),
        (3, 8192, "width", "width", {"readout": ["refitted"]}),
    ),
    "model": ((2, "width", "dimension"), (3, "width", "width")),
    "predict": ((4, 512, "width"), (2, 512, "dimension")),
}
WORK = {
    "fit": (
        (24, "choices", "epochs", "samples", "width", "dimension", {"online": [False]}),
        (24, "choices", "samples", "width", "dimension", {"online": [True]}),
        (12, "choices", "epochs", "samples", "width", "width", {"online": [False]}),
        (12, "choices", "samples", "width", "width", {"online": [True]}),
    ),
    "predict": ((8, "test", "width", "dimension"), (4, "test", "width", "width")),
}
MEASURES = {
    "diverged_runs": "runs (rate, decay) that were not finite at the end",
    "start_2": "step at which layer 2 came",
    "start_3": "step at which layer 3 came",
    "start_4": "step at which layer 4 came",
    "feature_error_2_before": "feature_error_2 when the layer above came, or would have come",
    "feature_error_3_before": "feature_error_3 when the layer above came, or would have come",
    "linear_feature_error_2_before": "linear_feature_error_2 when the layer above came, or would have come",
    "linear_feature_error_3_before": "linear_feature_error_3 when the layer above came, or would have come",
    "frobenius_norm": "Frobenius norm of the weights that are trained",
    "risk_layer_2": "validation_risk of the layers up to 2 alone",
    "risk_layer_3": "validation_risk of the layers up to 3 alone",
    "risk_layer_4": "validation_risk of the layers up to 4 alone",
    "feature_error_2": "min_U E|U S_2 - S*_2|^2 / E|S*_2|^2, U with orthonormal rows, on validation points",
    "feature_error_3": "min_U E|U S_3 - S*_3|^2 / E|S*_3|^2, U with orthonormal rows, on validation points",
    "feature_error_4": "min_U E|U S_4 - S*_4|^2 / E|S*_4|^2, U with orthonormal rows, on validation points",
    "linear_feature_error_2": "min_B E|B S_2 - S*_2|^2 / E|S*_2|^2, any B, on validation points",
    "linear_feature_error_3": "min_B E|B S_3 - S*_3|^2 / E|S*_3|^2, any B, on validation points",
    "linear_feature_error_4": "min_B E|B S_4 - S*_4|^2 / E|S*_4|^2, any B, on validation points",
    "feature_size_2": "E|S_2|^2 on validation points",
    "feature_size_3": "E|S_3|^2 on validation points",
    "feature_size_4": "E|S_4|^2 on validation points",
}
TRACES = {
    "train_loss": "squared error on at most 1000 training points; classes: error rate",
    "validation_risk": "the same against the labels of at most 1000 validation points",
    "frobenius_norm": "Frobenius norm of the weights that are trained",
    "risk_layer_2": "validation_risk of the layers up to 2 alone",
    "risk_layer_3": "validation_risk of the layers up to 3 alone",
    "risk_layer_4": "validation_risk of the layers up to 4 alone",
    "feature_error_2": "min_U E|U S_2 - S*_2|^2 / E|S*_2|^2, U with orthonormal rows, on validation points",
    "feature_error_3": "min_U E|U S_3 - S*_3|^2 / E|S*_3|^2, U with orthonormal rows, on validation points",
    "feature_error_4": "min_U E|U S_4 - S*_4|^2 / E|S*_4|^2, U with orthonormal rows, on validation points",
    "linear_feature_error_2": "min_B E|B S_2 - S*_2|^2 / E|S*_2|^2, any B, on validation points",
    "linear_feature_error_3": "min_B E|B S_3 - S*_3|^2 / E|S*_3|^2, any B, on validation points",
    "linear_feature_error_4": "min_B E|B S_4 - S*_4|^2 / E|S*_4|^2, any B, on validation points",
    "feature_size_2": "E|S_2|^2 on validation points",
    "feature_size_3": "E|S_3|^2 on validation points",
    "feature_size_4": "E|S_4|^2 on validation points",
}


@dataclass(frozen=True)
class Densenet:
    """G(x) = sum_l alpha_l Sum(G_l), G_l = (sum_{j in J_l} M_lj G_j)^2 in R^m, G_1 = x^2 - 1  (allenzhu2020, eq. 1.2).

    The over-parameterised student of `quadratic_densenet` teachers; of others it is a network of the same form. All
    settings (rate, decay) of all seeds are trained in lockstep on (G - y)^2, for classes on the logistic loss with the
    teacher's threshold; the one with the least error on validation points is kept. Features are measured against the
    teacher's along the training, where it has some: see `Runs`. Runs that are not finite at the end are not chosen; a
    seed with no other has the status diverged. float32. Raises ValueError where lists do not fit the depth, and for a
    read-out to be refitted on a teacher of classes.
    """

    depth: int | None = None
    graph: list[list[int]] | None = None
    alphas: list[float] | None = None
    gap: float | None = None
    width: int = 24
    start_scale: float = 0.5
    readout: str = "trained"
    schedule: str = "staged"
    starts: list[float] | None = None
    thresholds: list[float] | None = None
    annealing: str = "cosine"
    optimiser: str = "adam"
    momentum: float = 0.9
    clip: float | None = 1.0
    sharpness: float = 10.0
    batch: int = 128
    epochs: int = 100
    steps: int | None = None
    online: bool = False
    together: ClassVar[bool] = True

    def fit(
        self,
        problem: Any,
        features: Features,
        samples: int,
        choices: Mapping[str, Sequence[Any]],
        streams: Streams,
        monitor: Monitor,
        memory: dict[Any, Any],
    ) -> Fit:
        """State: layer_2 .. layer_L (S, m, size), float32, and what the student took from the teacher."""
        fit = fitted(self, problem, features, samples, settings(choices), streams, monitor)
        return refitted(self, fit, problem, features, samples) if self.readout == "refitted" else fit

    def predict(self, state: State, features: Features, role: str, count: int, memory: dict[Any, Any]) -> np.ndarray:
        """(S, count, 1) float64."""
        student, x = Student.from_state(state), features.draw(role, count)
        layout = self.layout(student.columns(x), student)
        if "readout" in state:
            return refitted_outputs(student, layout, state, x)
        weights = [state[f"layer_{layer}"] for layer in layout.layers]
        found = []
        with np.errstate(over="ignore", invalid="ignore"):
            for i in range(0, count, BLOCK_ROWS):
                seen = student.seen(x[:, i : i + BLOCK_ROWS], layout)
                found.append(predicted(student, layout, seen, pre_activations(weights, seen, layout)))
        return np.concatenate(found, axis=1)

    def layout(self, inputs: int, student: Student) -> Layout:
        """Where the layers lie for d inputs."""
        return Layout(inputs, (self.width,) * (student.depth - 1), student.links)

    def start(self, layout: Layout, student: Student, streams: Streams) -> State:
        """M_2 .. M_L at the start, independent normal entries, (S, m, size) float32."""
        weights = {}
        for layer in layout.layers:
            shape = self.width, layout.size(layer)
            deviation = self.start_scale * (shape[0] * shape[1]) ** -0.5
            drawn = streams.at("start", layer).stack(lambda g, s=shape: g.standard_normal(s, dtype=np.float32))
            weights[f"layer_{layer}"] = np.float32(deviation) * drawn
        return weights

    def training(
        self,
        layout: Layout,
        student: Student,
        schedule: Schedule,
        start: State,
        size: np.ndarray,
        streams: list[Streams],
        **given: Any,
    ) -> Any:
        """The training of runs with given starts (R, ...)."""
        return DensenetTraining(
            layout,
            Clock(schedule, len(streams)),
            dict(start),
            sharpness=self.sharpness,
            optimiser=self.optimiser,
            momentum=self.momentum,
            clip=self.clip,
            **given,
        )
