"""What a student of classes is measured by beside its wrong signs: Theorem 3.3 of allenzhu2020."""

from typing import Any

import numpy as np

from hierlearn.core.protocols import Fit, Sample
from hierlearn.solvers.losses import LOGISTIC

CLASS_MEASURES = {
    "cross_entropy": "classes: E log(1 + exp(-v y (x_0 + F))) on validation points, v the sharpness",
    "squared_error": "classes: E (F - G*)^2 on validation points",
}


def class_measures(learner: Any, fit: Fit, sample: Sample) -> dict[str, np.ndarray]:
    """CLASS_MEASURES (S,), NaN for teachers of regression; where no label is flipped."""
    problem, count = sample.problem, sample.problem.held_out
    nothing = np.full(len(problem.seeds), np.nan)
    if problem.teacher.kind != "classes" or "layer_covariance" not in problem.state or not count:
        return dict.fromkeys(CLASS_MEASURES, nothing)
    batch = problem.draw("validation", count)
    with np.errstate(over="ignore", invalid="ignore"):
        outputs = learner.predict(fit.state, sample.features, "validation", count, {})
        margins = sum(problem.teacher.parts(problem.state, batch.x).values())
        return {
            "cross_entropy": np.mean(LOGISTIC.value(learner.sharpness * outputs, batch.labels), axis=(1, 2)),
            "squared_error": np.mean((outputs - margins) ** 2, axis=(1, 2)),
        }
