"""What Theorem 3.3 of allenzhu2020 compares: the cross-entropy from classes, and squared errors against G* itself."""

from typing import Any

import numpy as np

from hierlearn.core.protocols import Fit, Sample
from hierlearn.solvers.losses import LOGISTIC

CLASS_MEASURES = {
    "cross_entropy": "classes: E log(1 + exp(-v y (x_0 + F))) on validation points, v the sharpness",
    "squared_error": "E (F - G*)^2 / Var G* on validation points, G* without noise; of classes Var G* = 1",
}


def class_measures(learner: Any, fit: Fit, sample: Sample) -> dict[str, np.ndarray]:
    """CLASS_MEASURES (S,); NaN for teachers that are no quadratic DenseNets, cross_entropy for regression too."""
    problem, count = sample.problem, sample.problem.held_out
    found = dict.fromkeys(CLASS_MEASURES, np.full(len(problem.seeds), np.nan))
    if "layer_covariance" not in problem.state or not count:
        return found
    batch = problem.draw("validation", count)
    with np.errstate(over="ignore", invalid="ignore"):
        outputs = learner.predict(fit.state, sample.features, "validation", count, {})
        clean = sum(problem.teacher.parts(problem.state, batch.x).values())
        variance = 1.0
        if problem.teacher.kind == "classes":
            losses = LOGISTIC.value(learner.sharpness * outputs, batch.labels)
            found["cross_entropy"] = np.mean(losses, axis=(1, 2))
        else:
            outputs = outputs / problem.factor[:, None, None]
            variance = problem.state["second_moment"] - problem.state["mean"] ** 2
        return found | {"squared_error": np.mean((outputs - clean) ** 2, axis=(1, 2)) / variance}
