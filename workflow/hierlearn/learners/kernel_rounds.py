"""Kernel ridge regression twice: on the input, and on what the first round predicts."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from hierlearn.core import boundary
from hierlearn.core.needs import Needs, Sizes
from hierlearn.core.parameters import Nested, Positive
from hierlearn.core.protocols import STATUS, Features, Fit, Kernel, Learner, Monitor, Sample, State
from hierlearn.learners._dual import crossed, fit_dual, grown
from hierlearn.solvers.ridge import Indefinite, leave_one_out


@dataclass(frozen=True, kw_only=True)
class KernelRounds(Learner):
    """f(x) = f_1(x) + f_2(f_1(x)), both by kernel ridge regression  (allenzhu2019, Section 2.1, as a learner of H).

    The second round fits what the first one leaves, as a function of its prediction. On the training points that
    prediction is the one of the fit without the point (leave-one-out): the prediction of a fit that knows the label
    would tell the second round the label, which it does not find on new points. float64. Raises ValueError on a
    teacher of classes.
    """

    first: Annotated[Kernel, Nested("kernels", {"name": "ntk_raw"}), "Kernel of the input."]
    second: Annotated[
        Kernel, Nested("kernels", {"name": "rbf", "bandwidth": 2.0}), "Kernel of the first round's predictions."
    ]
    batch_seeds: ClassVar[bool] = False
    stream_key: ClassVar[str] = "KernelRounds"
    MEASURES = {"first_round_risk": "error of the first round alone on validation points, against the labels"}

    class Choices:
        ridge: Annotated[
            Positive, "Ridges in units of the mean diagonal of the Gram matrix; each round takes the best for itself."
        ]

    def needs(self, sizes: Sizes) -> Needs:
        """Two Gram matrices, an eigendecomposition of the first, and the kernels between the points and others."""
        n = sizes.samples
        return Needs(
            memory={
                "fit": (6 * n + 3 * sizes.validation) * n,
                "model": 3 * n * sizes.outputs,
                "predict": 3 * sizes.test * n,
            },
            work={
                "fit": (2 * sizes.choices + 10) * n**3 + 200 * n * sizes.validation,
                "predict": 400 * sizes.test * n,
            },
        )

    def fit(self, sample: Sample, monitor: Monitor, cache: dict[Any, Any]) -> Fit:
        """State: first and second (S, n, k) coefficients, predicted (S, n, k), what the second round saw."""
        problem, features, samples = sample.problem, sample.features, sample.n
        if problem.teacher.kind != "regression":
            raise ValueError(f"kernel_rounds: a teacher of {problem.teacher.kind}; expected regression")
        training, held_out = problem.draw("training", samples), problem.draw("validation", problem.held_out)
        h, validation = features.draw("training", samples), features.draw("validation", problem.held_out)
        parts = []
        for i, seed in enumerate(problem.seeds):
            gram = grown(self.first, h[i], cache, ("gram", seed))
            across = crossed(self.first, validation[i], h[i], cache, ("validation", seed))
            labels = training.labels[i], held_out.labels[i]
            parts.append(self._rounds(gram, across, *labels, sample.choices["ridge"]))
        stacked = {name: np.stack([part[name] for part in parts]) for name in parts[0]}
        return Fit(
            state={name: stacked[name] for name in ("first", "second", "predicted")},
            status=stacked["status"].astype(np.int8),
            validation_risk=stacked["validation_risk"],
            train_risk=stacked["train_risk"],
            choices={"ridge": stacked["ridge"]},
            measures={"first_round_risk": stacked["first_round_risk"]},
            flops=stacked["flops"],
        )

    def predict(self, state: State, features: Features, role: str, count: int, cache: dict[Any, Any]) -> np.ndarray:
        """(S, count, k) float64."""
        points, support = features.draw(role, count), features.draw("training", state["first"].shape[1])
        outputs = []
        for i in range(len(points)):
            below = crossed(self.first, points[i], support[i], cache, (role, i)) @ state["first"][i]
            outputs.append(below + boundary.gram(self.second, below, state["predicted"][i]) @ state["second"][i])
        return np.stack(outputs)

    def _rounds(self, gram, across, labels, held_out, ridges) -> dict[str, Any]:
        """Both rounds of one seed."""
        one = fit_dual(gram, labels, across, held_out, ridges)
        try:
            apart = leave_one_out(gram, labels, np.array([one.ridge * np.mean(np.diag(gram))]))[0]
        except Indefinite:
            apart = np.full(labels.shape, np.nan)
        if not np.isfinite(apart).all():
            return self._failed(labels, one)
        predicted, below = labels - apart, across @ one.coefficients
        inner, outer = boundary.gram(self.second, predicted), boundary.gram(self.second, below, predicted)
        two = fit_dual(inner, apart, outer, held_out - below, ridges)
        return {
            "first": one.coefficients,
            "second": two.coefficients,
            "predicted": predicted,
            "status": max(one.status, two.status),
            "validation_risk": two.validation_risk,
            "train_risk": self._train_risk(gram, one.coefficients, two.coefficients, predicted, labels),
            "ridge": one.ridge,
            "first_round_risk": one.validation_risk,
            "flops": one.flops + two.flops,
        }

    def _train_risk(self, gram, first, second, predicted, labels) -> float:
        below = gram @ first
        return float(
            np.mean(np.sum((below + boundary.gram(self.second, below, predicted) @ second - labels) ** 2, axis=-1))
        )

    @staticmethod
    def _failed(labels, one) -> dict[str, Any]:
        nothing = np.full(labels.shape, np.nan)
        return {
            "first": nothing,
            "second": nothing,
            "predicted": np.zeros(labels.shape),
            "status": one.status or STATUS["singular"],
            "validation_risk": np.nan,
            "train_risk": np.nan,
            "ridge": one.ridge,
            "first_round_risk": one.validation_risk,
            "flops": one.flops,
        }
