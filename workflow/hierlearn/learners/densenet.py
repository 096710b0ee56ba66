"""Plain quadratic DenseNets, trained layer after layer, all at once, or with the lower layers at rest."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from hierlearn.core.needs import Needs, Sizes
from hierlearn.core.parameters import NotNegative, Positive
from hierlearn.core.protocols import Features, Fit, Learner, Monitor, State, TrainingData
from hierlearn.core.streams import Streams
from hierlearn.learners.densenets.parameters import LAYER_MEASURES, LAYER_TRACES, LayerChoices, LayerParameters
from hierlearn.learners.densenets.refit import MOST_POINTS, MOST_POINTS_OF_CLASSES, added_outputs, refit, refit_outputs
from hierlearn.learners.densenets.runs import DensenetRuns, train
from hierlearn.learners.densenets.student import Student, predict, sum_of_layers
from hierlearn.solvers.densenets.model import Layout, pre_activations
from hierlearn.solvers.densenets.phases import Clock
from hierlearn.solvers.densenets.training import DensenetTraining
from hierlearn.solvers.losses import LOGISTIC

# What Theorem 3.3 of allenzhu2020 compares: the cross-entropy from classes, and squared errors against G* itself.
CLASS_MEASURES = {
    "cross_entropy": "classes: E log(1 + exp(-v y (x_0 + F))) on validation points, v the sharpness",
    "squared_error": "E (F - G*)^2 / Var G* on validation points, G* without noise; of classes Var G* = 1",
}


@dataclass(frozen=True, kw_only=True)
class Densenet(LayerParameters, Learner):
    """G(x) = sum_l alpha_l Sum(G_l), G_l = (sum_{j in J_l} M_lj G_j)^2 in R^m, G_1 = x^2 - 1  (allenzhu2020, eq. 1.2).

    The over-parameterised student of `quadratic_densenet` teachers; of others it is a network of the same form. All
    settings (learning rate, weight decay) of all seeds are trained in lockstep on (G - y)^2, for classes on the
    logistic loss with the teacher's threshold; the one with the least error on validation points is kept. Features are
    measured against the teacher's along the training, where it has some: see `Runs`. Runs that are not finite at the
    end are not chosen; a seed with no other has the status diverged. float32. Raises ValueError where lists do not fit
    the depth.
    """

    start_scale: Annotated[Positive, "Root of Sum(G_l), roughly, at the start."] = 0.5
    readout: Annotated[
        Literal["trained", "refitted"],
        "trained; refitted: at the end ridge regression on all products of two of the columns that the last "
        "layer sees takes its place, with the lower layers at rest; for classes logistic regression on them is "
        "added to it.",
    ] = "trained"
    schedule: Annotated[
        Literal["staged", "joint", "layerwise", "restart"],
        "staged: layer after layer, the lower ones keep moving; joint: all from the start; layerwise: the "
        "lower ones rest; restart: the last layer never comes, the lower ones see the same learning rate (the "
        "control).",
    ] = "staged"
    thresholds: Annotated[
        list[NotNegative] | None,
        "Running losses at which layers 3 .. L come earlier, in the teacher's own units; null: none.",
    ] = None
    batch_seeds = True
    stream_key: ClassVar[str] = "Densenet"
    MEASURES = {**LAYER_MEASURES, **CLASS_MEASURES}
    TRACES = LAYER_TRACES
    Choices = LayerChoices

    def needs(self, sizes: Sizes) -> Needs:
        """Count those of the layers; to refit, products of the columns that a layer sees, and their factor."""
        needs = LayerParameters.needs(self, sizes)
        # Those of classes are in single precision.
        points = max(MOST_POINTS, MOST_POINTS_OF_CLASSES // 2)
        refit = 3 * points * (sizes.dimension**2 + self.width**2) if self.readout == "refitted" else 0
        return replace(needs, memory={**needs.memory, "fit": needs.memory["fit"] + refit})

    def fit(self, sample: TrainingData, monitor: Monitor, cache: dict[Any, Any]) -> Fit:
        """Fit all seeds; state: layer_2 .. layer_L (S, m, size), float32, and what is taken from the teacher."""
        fit = train(self, sample, monitor)
        if self.readout == "refitted":
            fit = refit(self, fit, sample)
        return replace(fit, measures=fit.measures | self._class_measures(fit, sample))

    def predict(self, state: State, features: Features, role: str, count: int, cache: dict[Any, Any]) -> np.ndarray:
        """Return predictions (S, count, 1) float64."""
        student, x = Student.from_state(state), features.draw(role, count)
        layout = self.layout(student.columns(x), student)
        if "readout" in state:
            return refit_outputs(layout, state, x)
        weights = [state[f"layer_{layer}"] for layer in layout.layers]
        outputs = predict(
            student, layout, x, lambda inputs: sum_of_layers(student, pre_activations(weights, inputs, layout))
        )
        return outputs + added_outputs(layout, state, x) if "correction" in state else outputs

    def layout(self, inputs: int, student: Student) -> Layout:
        """Return where the layers lie for d inputs."""
        return Layout(inputs, (self.width,) * (student.depth - 1), student.links)

    def start(self, layout: Layout, student: Student, streams: Streams) -> State:
        """Draw M_2 .. M_L at the start, independent normal entries, (S, m, size) float32."""
        weights = {}
        for layer in layout.layers:
            shape = self.width, layout.size(layer)
            deviation = self.start_scale * (shape[0] * shape[1]) ** -0.5
            normal = streams.at("start", layer).stack(partial(_normal, shape=shape))
            weights[f"layer_{layer}"] = np.float32(deviation) * normal
        return weights

    def training(self, runs: DensenetRuns, start: State, **options: Any) -> DensenetTraining:
        """Return the training of runs with given starts (R, ...)."""
        return DensenetTraining(runs.layout, Clock(runs.schedule, len(runs.streams)), start, **options)

    def _class_measures(self, fit: Fit, sample: TrainingData) -> State:
        """CLASS_MEASURES (S,); NaN for teachers that are no quadratic DenseNets, cross_entropy for regression too."""
        data, truth, count = sample.data, sample.data.oracle, sample.data.held_out
        found = dict.fromkeys(CLASS_MEASURES, np.full(len(data.seeds), np.nan))
        if truth is None or "layer_covariance" not in truth.state or not count:
            return found
        batch = data.draw("validation", count)
        with np.errstate(over="ignore", invalid="ignore"):
            outputs = self.predict(fit.state, sample.features, "validation", count, {})
            clean = sum(truth.teacher.parts(truth.state, batch.x).values())
            variance = 1.0
            if data.kind == "classes":
                losses = LOGISTIC.value(self.sharpness * outputs, batch.labels)
                found["cross_entropy"] = np.mean(losses, axis=(1, 2))
            else:
                outputs = outputs / truth.factor[:, None, None]
                variance = truth.state["second_moment"] - truth.state["mean"] ** 2
            return found | {"squared_error": np.mean((outputs - clean) ** 2, axis=(1, 2)) / variance}


def _normal(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return generator.standard_normal(shape, dtype=np.float32)
