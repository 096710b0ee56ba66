"""Kernel ridge regression twice: on the input, and on what the first round predicts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from hierlearn.core import contracts
from hierlearn.core.needs import Needs, Sizes
from hierlearn.core.parameters import Nested, Positive
from hierlearn.core.protocols import (
    STATUS,
    Features,
    Fit,
    Kernel,
    Labels,
    Learner,
    Monitor,
    Objection,
    Representation,
    State,
    TrainingData,
)
from hierlearn.learners._dual import cross_gram_matrix, fit_dual, gram_matrix
from hierlearn.learners._selection import fit_of_seed, points_by_seed
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
    stream_key: ClassVar[str] = "KernelRounds"
    MEASURES = {"first_round_risk": "error of the first round alone on validation points, against the labels"}

    class Choices:
        ridge: Annotated[
            Positive, "Ridges in units of the mean diagonal of the Gram matrix; each round takes the best for itself."
        ]

    def validate_data(self, labels: Labels, representation: Representation) -> Iterator[Objection]:
        """Object to classes: what the first round leaves of a label is no label."""
        if labels.kind != "regression":
            yield "name", f"rounds of regression for a target of {labels.kind}", "another learner, or regression"

    def needs(self, sizes: Sizes) -> Needs:
        """Count two Gram matrices, an eigendecomposition of the first, and kernels between the points and others."""
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

    def fit(self, sample: TrainingData, monitor: Monitor, cache: dict[Any, Any]) -> Fit:
        """Fit all seeds; state: first, second (S, n, k) coefficients, predicted (S, n, k), what the second one saw."""
        self.raise_for_data(sample)
        fits = []
        for seed, (x, y, z, labels) in zip(sample.data.seeds, points_by_seed(sample), strict=True):
            gram = gram_matrix(self.first, x, cache, ("gram", seed))
            across = cross_gram_matrix(self.first, z, x, cache, ("validation", seed))
            fits.append(self._both_rounds(gram, across, y, labels, sample.choices["ridge"]))
        return Fit.stack(fits)

    def predict(self, state: State, features: Features, role: str, count: int, cache: dict[Any, Any]) -> np.ndarray:
        """Return predictions (S, count, k) float64."""
        points, support = features.draw(role, count), features.draw("training", state["first"].shape[1])
        outputs = []
        for i in range(len(points)):
            below = cross_gram_matrix(self.first, points[i], support[i], cache, (role, i)) @ state["first"][i]
            outputs.append(below + contracts.gram(self.second, below, state["predicted"][i]) @ state["second"][i])
        return np.stack(outputs)

    def _both_rounds(
        self, gram: np.ndarray, across: np.ndarray, labels: np.ndarray, held_out: np.ndarray, ridges: Sequence[float]
    ) -> Fit:
        one = fit_dual(gram, labels, across, held_out, ridges)
        nothing, status, flops = np.full(labels.shape, np.nan), one.status or STATUS["singular"], one.flops
        state, risks = {"first": nothing, "second": nothing, "predicted": np.zeros(labels.shape)}, (np.nan, np.nan)
        try:
            apart = leave_one_out(gram, labels, float(one.ridge * np.mean(np.diag(gram))))
        except Indefinite:
            apart = nothing
        if np.isfinite(apart).all():
            predicted, below, at_training = labels - apart, across @ one.coefficients, gram @ one.coefficients
            inner, outer = contracts.gram(self.second, predicted), contracts.gram(self.second, below, predicted)
            two = fit_dual(inner, apart, outer, held_out - below, ridges)
            residuals = at_training + contracts.gram(self.second, at_training, predicted) @ two.coefficients - labels
            risks = two.validation_risk, float(np.mean(np.sum(residuals**2, axis=-1)))
            state = {"first": one.coefficients, "second": two.coefficients, "predicted": predicted}
            status, flops = max(one.status, two.status), one.flops + two.flops
        return fit_of_seed(
            state=state,
            status=status,
            validation_risk=risks[0],
            train_risk=risks[1],
            choices={"ridge": one.ridge},
            measures={"first_round_risk": one.validation_risk},
            flops=flops,
        )
