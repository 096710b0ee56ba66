"""Kernel ridge regression with any kernel, solved exactly."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from hierlearn.learners._dual import crossed, fit_dual, grown
from hierlearn.protocols import Features, Fit, Kernel, Monitor, State
from hierlearn.streams import Streams
from hierlearn.theory.holes import kernel_reaches

PARAMETERS = {
    "kernel": {
        "description": "The kernel and its parameters.",
        "component": "kernels",
        "default": {"name": "ntk_raw"},
    },
}
CHOICES = {
    "ridge": {
        "description": "Ridges in units of the mean diagonal of the Gram matrix.",
        "type": "number",
        "exclusiveMinimum": 0,
    },
}
MEASURES = {"ridge_residual": "relative residual |(K + n ridge I) alpha - y| / |y| at the chosen ridge"}
# Gram matrix, its smaller predecessor and its factor; the kernel between the points and others, while it grows.
MEMORY = {
    "fit": ((3, "samples", "samples"), (2, "validation", "samples")),
    "kept": (("samples", "samples"), ("validation", "samples")),
    "model": (("samples", "outputs"),),
    "predict": ((2, "test", "samples"),),
}
WORK = {
    "fit": (("choices", "samples", "samples", "samples"), (200, "samples", "samples"), (200, "samples", "validation")),
    "predict": ((200, "test", "samples"),),
}


@dataclass(frozen=True)
class KernelRidge:
    """f(x) = sum_i alpha_i K(x_i, x), (K + n ridge mean(diag K) I) alpha = y in float64  (chen2020, eq. 8)."""

    kernel: Kernel = field()
    together: ClassVar[bool] = False

    def fit(
        self,
        problem: Any,
        features: Features,
        samples: int,
        choices: Mapping[str, Sequence[float]],
        streams: Streams,
        monitor: Monitor,
        memory: dict[Any, Any],
    ) -> Fit:
        """State: coefficients (S, n, k) float64 on the first n training points."""
        training, held_out = problem.draw("training", samples), problem.draw("validation", problem.held_out)
        h, validation = features.draw("training", samples), features.draw("validation", problem.held_out)
        fits = []
        for i, seed in enumerate(problem.seeds):
            gram = grown(self.kernel, h[i], memory, ("gram", seed))
            across = crossed(self.kernel, validation[i], h[i], memory, ("validation", seed))
            labels = training.labels[i], held_out.labels[i]
            fits.append(fit_dual(gram, labels[0], across, labels[1], choices["ridge"], problem.teacher.kind))
        return Fit(
            state={"coefficients": np.stack([fit.coefficients for fit in fits])},
            status=np.array([fit.status for fit in fits], dtype=np.int8),
            validation_risk=np.array([fit.validation_risk for fit in fits]),
            train_risk=np.array([fit.train_risk for fit in fits]),
            choices={"ridge": np.array([fit.ridge for fit in fits])},
            measures={"ridge_residual": np.array([fit.residual for fit in fits])},
            flops=np.array([fit.flops for fit in fits]),
        )

    def blind(self, dimension: int, degree: int) -> str:
        """Why the kernel of the raw input cannot represent a degree, in one line; "" if it can."""
        if kernel_reaches(self.kernel.profile, dimension, degree):
            return ""
        return f"the kernel has no eigenvalue at degree {degree}; give it a bias or use another one"

    def predict(self, state: State, features: Features, role: str, count: int, memory: dict[Any, Any]) -> np.ndarray:
        """(S, count, k) float64."""
        coefficients = state["coefficients"]
        points, support = features.draw(role, count), features.draw("training", coefficients.shape[1])
        return np.stack(
            [
                crossed(self.kernel, points[i], support[i], memory, (role, i)) @ coefficients[i]
                for i in range(len(coefficients))
            ]
        )
