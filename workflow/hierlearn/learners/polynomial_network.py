"""Two-layer networks whose activation is a power: what a deep quadratic network is compared with."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge, Interval

from hierlearn.core.needs import Needs, Sizes
from hierlearn.core.parameters import Positive
from hierlearn.core.protocols import Features, Fit, Learner, Monitor, State, TrainingData
from hierlearn.core.streams import Streams
from hierlearn.learners._runs import BLOCK_ROWS, Rates
from hierlearn.learners._selection import DIVERGED
from hierlearn.learners.densenets.parameters import TRACED_POINTS, TrainingParameters
from hierlearn.learners.densenets.runs import DensenetRuns, train
from hierlearn.learners.densenets.student import Student, predict
from hierlearn.solvers.densenets.model import Layout
from hierlearn.solvers.densenets.phases import Clock
from hierlearn.solvers.densenets.training import PolynomialTraining, signs

LOOKS = {
    "frobenius_norm": "Frobenius norm of the weights that are trained",
    "risk_layer_2": "validation_risk",
    "feature_error_2": "min_U E|U S_2 - S*_2|^2 / E|S*_2|^2, S_2 what the power is taken of, on validation points",
    "whole_feature_error_2": "min_V E|S_2 - V S*_2|^2 / E|S*_2|^2, V with orthonormal columns, on validation points",
    "linear_feature_error_2": "min_B E|B S_2 - S*_2|^2 / E|S*_2|^2, any B, on validation points",
    "feature_size_2": "E|S_2|^2 on validation points",
}


@dataclass(frozen=True, kw_only=True)
class PolynomialNetwork(TrainingParameters, Learner):
    """F(x) = sum_r a_r (<w_r, (x, G_1)> + b_r)^degree, a_r = 1, -1, 1, ..., G_1 = x^2 - 1  (allenzhu2020, Theorem 1).

    The theorem's two-layer networks: with the degree 2^{L-1} they span the polynomials of degree 2^{L-1} in (x, G_1),
    among which all quadratic DenseNets of depth L are. w and b are trained as `densenet` trains its weights, with the
    same points: all settings (learning rate, weight decay) of all seeds in lockstep on (F - y)^2, for classes on the
    logistic loss with the teacher's threshold; the one with the least error on validation points is kept. A seed
    without a finite run has the status diverged. float32.
    """

    degree: Annotated[int, Interval(ge=2, le=8), "Degree of the activation; 2^{L-1} on (x, G_1) is 2^L in x."] = 4
    width: Annotated[int, Ge(2), "Number m of neurons."] = 100
    start_scale: Annotated[Positive, "Standard deviation of <w_r, (x, G_1)> at the start, roughly; b_r is 1."] = 0.3
    batch_seeds = True
    # What it shares with a DenseNet of depth 2.
    depth: ClassVar[int] = 2
    graph: ClassVar[list[list[int]]] = [[0, 1]]
    alphas: ClassVar[list[float]] = [1.0]
    gap: ClassVar[None] = None
    schedule: ClassVar[str] = "joint"
    starts: ClassVar[None] = None
    thresholds: ClassVar[None] = None
    stream_key: ClassVar[str] = "PolynomialNetwork"
    TRACES = {
        "train_loss": f"squared error on at most {TRACED_POINTS} training points; classes: error rate",
        "validation_risk": f"the same against the labels of at most {TRACED_POINTS} validation points",
        **LOOKS,
    }
    MEASURES = {**LOOKS, **DIVERGED, "start_2": "step at which the network came, 0"}
    Choices = Rates

    def needs(self, sizes: Sizes) -> Needs:
        """Count weights, Adam's memory and activations of every setting of one seed."""
        width, inputs = self.width, sizes.dimension
        return Needs(
            memory={
                "fit": sizes.choices * width * (10 * inputs + 8 * self.batch + 4 * TRACED_POINTS)
                + (2 * sizes.choices * TRACED_POINTS + 2 * sizes.samples) * inputs,
                "model": 2 * width * inputs,
                "predict": 2 * BLOCK_ROWS * (width + inputs),
            },
            work={
                "fit": 16 * sizes.choices * sizes.presented * width * inputs,
                "predict": 8 * sizes.test * width * inputs,
            },
        )

    def fit(self, sample: TrainingData, monitor: Monitor, cache: dict[Any, Any]) -> Fit:
        """Fit all seeds; state: layer_2 (S, m, 2 d + 1) float32, w beside b, and what is taken from the teacher."""
        return train(self, sample, monitor)

    def predict(self, state: State, features: Features, role: str, count: int, cache: dict[Any, Any]) -> np.ndarray:
        """Return predictions (S, count, 1) float64."""
        student, x = Student.from_state(state), features.draw(role, count)
        layout, weights = self.layout(student.columns(x), student), state["layer_2"]

        def network(inputs: np.ndarray) -> np.ndarray:
            arguments = inputs[..., : 2 * layout.inputs] @ weights[..., :-1].mT + weights[:, None, :, -1]
            return np.power(arguments, self.degree, dtype=np.float64) @ signs(self.width)[:, None]

        return predict(student, layout, x, network)

    def layout(self, inputs: int, student: Student) -> Layout:
        """Return where x and G_1 lie for d inputs."""
        return Layout(inputs, (self.width,), student.links)

    def start(self, layout: Layout, student: Student, streams: Streams) -> State:
        """Draw w and b, (S, m, 2 d + 1) float32; every second neuron is a copy of the one before, so F = 0."""
        shape = -(-self.width // 2), layout.size(2)
        normal = streams.at("start").stack(lambda g: g.standard_normal(shape, dtype=np.float32))
        # E|(x, G_1)|^2 is 3 d for normal x.
        weights = np.repeat(np.float32(self.start_scale * (1.5 * shape[1]) ** -0.5) * normal, 2, axis=1)
        ones = np.ones((*weights.shape[:2], 1), np.float32)
        return {"layer_2": np.concatenate([weights, ones], axis=2)[:, : self.width]}

    def training(self, runs: DensenetRuns, start: State, **options: Any) -> PolynomialTraining:
        """Return the training of runs with given starts (R, ...)."""
        return PolynomialTraining(self.degree, runs.layout, Clock(runs.schedule, len(runs.streams)), start, **options)
