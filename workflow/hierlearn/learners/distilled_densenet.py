"""Quadratic DenseNets that distil every layer into a narrow one: Algorithm 1 of allenzhu2020."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt

from hierlearn.core.parameters import NotNegative, Positive, Share
from hierlearn.core.protocols import Features, Fit, Learner, Monitor, State, TrainingData
from hierlearn.core.streams import Streams
from hierlearn.learners.densenets.parameters import (
    LAYER_MEASURES,
    LAYER_TRACES,
    MEASURED_LAYERS,
    LayerChoices,
    LayerParameters,
)
from hierlearn.learners.densenets.runs import DensenetRuns, train
from hierlearn.learners.densenets.student import Student, predict, sum_of_layers
from hierlearn.solvers.densenets.distilled_training import DistilledTraining, Rules
from hierlearn.solvers.densenets.model import Layout, distilled_pre_activations
from hierlearn.solvers.densenets.phases import Clock, Schedule

GAPS = {
    f"distillation_gap_{layer}": f"|K^T K - W^T W| / |W^T W| of layer {layer}, Frobenius norms"
    for layer in MEASURED_LAYERS
}

# Room for distillations that find too much; k_l without a teacher that has one.
SPARE, USUAL_WIDTH = 2, 4


@dataclass(frozen=True, kw_only=True)
class DistilledDensenet(LayerParameters, Learner):
    """F(x) = sum_l alpha_l |W_l h_l|^2, S_l = K_l h_l, h_l = (x, G_1, (R_j S_j)^2)_{j in J_l}  (allenzhu2020, eq. 2.1).

    Algorithm 1 on E (F - y)^2 + sum_l lambda_3 |K_{l,l-1}^T K_{l<|} - W_{l,l-1}^T W_{l<|}|^2 + lambda_4
    |K_{l,l-1}^T K_{l,l-1} - W_{l,l-1}^T W_{l,l-1}|^2 + lambda_5 |K_l^T K_l - W_l^T W_l|^2 + lambda_6 (|K_l|^2 +
    |W_l|^2): W_l starts at 0 with small noise when the running objective has passed Thres_{l,up}, K_l by one k-SVD of
    W_{l<|}^T W_{l,l-1}, which also finds k_l, when it has passed Thres_{l,down}, and all lower layers keep training;
    lambda_6 is quartered whenever eps_0 is halved. The inner squares are truncated in training and nowhere else.
    Every seed has its own times. Phases may also end by the step, see `starts`; with thresholds of 0 they all do.

    R_l is drawn with k_l (k_l + 1) / 2 rows at the distillation. For classes the loss is logistic and the regularisers
    are multiplied with its sharpness. Without K this is the learner `densenet`. float32. Raises ValueError where lists
    do not fit the depth.
    """

    kappa: Annotated[float, Ge(1), "k_l is the number of singular values above 1/(10 kappa^2)."] = 1
    schedule: Annotated[
        Literal["staged", "layerwise", "restart"],
        "staged: layer after layer, the lower ones keep moving; layerwise: the lower ones rest; restart: the "
        "last layer never comes, the lower ones see the same learning rate (the control).",
    ] = "staged"
    thresholds: Annotated[
        list[NotNegative] | None,
        "Thres_{l,up}: objectives at which layers 3 .. L come earlier, in the teacher's own units; null: "
        "threshold_scale alpha_{l-1}^2 / d^{1/(3 C^{l-1})}.",
    ] = None
    distils: Annotated[
        list[Share] | None,
        "Parts of the training after which layers 2 .. L are distilled at the latest; null: in the middle of "
        "the phase that a layer comes with.",
    ] = None
    threshold_scale: Annotated[
        NotNegative, "Factor of Thres_{l,up} where that is null, and of Thres_{l,down} = alpha_l^2 / d^{1/(6 C^l)}."
    ] = 1.0
    base: Annotated[float, Gt(1), "C of the powers of d."] = 2.0
    distillation: Annotated[
        NotNegative, "Factor of lambda_3, lambda_4, lambda_5 = alpha_l^2 / d^{1/(6 C^l)}, 1/(3 C^l), 1/(2 C^l)."
    ] = 1.0
    target: Annotated[Positive, "The eps_0, twice the root of the objective, below which a run ends."] = 1.0e-3
    truncation: Annotated[Positive, "B' of the truncated square."] = 10.0
    noise: Annotated[NotNegative, "Standard deviation of what every step adds to W, at the full learning rate."] = (
        1.0e-4
    )
    warm_start: Annotated[
        Literal["svd", "random"], "K at its distillation: of the singular value decomposition, or random of W's norm."
    ] = "svd"
    batch_seeds = True
    stream_key: ClassVar[str] = "DistilledDensenet"
    MEASURES = {
        **LAYER_MEASURES,
        **GAPS,
        **{f"distilled_{layer}": f"step at which K of layer {layer} was distilled" for layer in MEASURED_LAYERS},
        **{f"found_width_{layer}": f"k_{layer} that the distillation found" for layer in MEASURED_LAYERS},
        "ended": "step at which eps_0 fell below its target",
    }
    TRACES = {**LAYER_TRACES, **GAPS}

    class Choices(LayerChoices):
        weight_decay: Annotated[NotNegative, "Weight decay, beside lambda_6."] = 0.0

    def fit(self, sample: TrainingData, monitor: Monitor, cache: dict[Any, Any]) -> Fit:
        """Fit all seeds; state: inner_l K, outer_l W, fixed_l R, (S, ...) float32; what is taken from the teacher."""
        return train(self, sample, monitor)

    def predict(self, state: State, features: Features, role: str, count: int, cache: dict[Any, Any]) -> np.ndarray:
        """Return predictions (S, count, 1) float64, without truncation."""
        student, x = Student.from_state(state), features.draw(role, count)
        inner, outer = ([state[f"{kind}_{i + 2}"] for i in range(student.depth - 1)] for kind in ("inner", "outer"))
        fixed = [state[f"fixed_{i + 2}"] for i in range(student.depth - 2)]
        layout = Layout(student.columns(x), (*(values.shape[1] for values in fixed), 0), student.links)

        def network(inputs: np.ndarray) -> np.ndarray:
            return sum_of_layers(student, distilled_pre_activations(inner, outer, fixed, inputs, layout)[1])

        return predict(student, layout, x, network)

    def layout(self, inputs: int, student: Student) -> Layout:
        """Return where the layers lie for d inputs."""
        offered = [most * (most + 1) // 2 for most in self._most(inputs, student)]
        return Layout(inputs, (*offered[:-1], 0), student.links)

    def start(self, layout: Layout, student: Student, streams: Streams) -> State:
        """Return zeros: K_l above W_l, (S, most_l + m, size) float32."""
        seeds, most = len(streams.seeds), self._most(layout.inputs, student)
        return {
            f"layer_{layer}": np.zeros((seeds, k + self.width, layout.size(layer)), np.float32)
            for layer, k in zip(layout.layers, most, strict=True)
        }

    def training(self, runs: DensenetRuns, start: State, **options: Any) -> DistilledTraining:
        """Return the training of runs with given starts (R, ...)."""
        factor = 1.0 if options["loss"] == "squared" else self.sharpness
        come = None
        if self.thresholds is None:
            # Thres_{l,up} of the layers 3 .. L; those that are given the schedule has.
            powers = 3 * self.base ** (np.array(runs.layout.layers)[1:] - 1)
            come = self.threshold_scale * options["alphas"][:, :-1] ** 2 * runs.layout.inputs ** (-1 / powers)
        return DistilledTraining(
            self._rules(options["own"], runs.student, runs.schedule, options["alphas"], factor),
            2.0 * (runs.label_sizes if options["loss"] == "squared" else np.full(len(runs.streams), factor**0.5)),
            [partial(one.generator, one.seeds[0]) for one in runs.streams],
            runs.layout,
            Clock(runs.schedule, len(runs.streams), come),
            start,
            **options,
        )

    def _most(self, inputs: int, student: Student) -> list[int]:
        """Largest k_2 .. k_L that a distillation may keep: the teacher's and SPARE more, or USUAL_WIDTH."""
        most = [k + SPARE for k in student.widths] if student.widths else [USUAL_WIDTH] * len(student.links)
        return [min(k, inputs, self.width) for k in most]

    def _rules(
        self, own: Sequence[Layout], student: Student, schedule: Schedule, alphas: np.ndarray, factor: float
    ) -> Rules:
        """Return the constants of Algorithm 1 for runs with given layouts and alphas (R, L - 1)."""
        layout = own[0]
        layers, most = np.array(layout.layers), self._most(layout.inputs, student)
        down, third, fourth, fifth = (layout.inputs ** (-1 / (part * self.base**layers)) for part in (6, 6, 3, 2))
        lambdas = factor * self.distillation * alphas[..., None] ** 2 * np.stack([third, fourth, fifth], axis=-1)
        if self.distils is None:
            edges = [0, *schedule.starts, schedule.total]
            latest = [(first + last) // 2 for first, last in pairwise(edges)]
        elif len(self.distils) != len(layers):
            expected = f"{len(layers)} numbers, one for each of the layers from 2 on"
            raise ValueError(f"distils: {self.distils}; expected {expected}")
        else:
            latest = [round(part * schedule.total) for part in self.distils]
        widest = [[max([most[j - 2] for j in seen if j >= 2], default=1) for seen in one.graph] for one in own]
        # lambda_6 over eps_0^2 when a layer starts.
        shrinkage = (np.array(widest) * student.depth * self.kappa) ** -8.0
        return Rules(
            most=tuple(most),
            thresholds=self.threshold_scale * alphas**2 * down,
            latest=tuple(latest),
            smallest=1 / (10 * self.kappa**2),
            lambdas=lambdas,
            shrinkage=factor * shrinkage,
            target=self.target,
            bound=self.truncation,
            noise=self.noise,
            warm_start=self.warm_start,
        )
