"""Theory lines: sample complexity of kernel ridge regression in closed form, for dimensions that no machine can run."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hierlearn.problem import Problem
from hierlearn.store import Variable
from hierlearn.theory.deterministic_equivalent import sample_complexity

PARAMETERS = {
    "lines": {
        "description": "Kernels by the name of their line.",
        "components": "kernels",
        "default": {"ntk-raw": {"name": "ntk_raw"}},
    },
    "thresholds": {
        "description": "Risks that n* reaches.",
        "type": "array",
        "items": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        "uniqueItems": True,
        "default": [0.5, 0.1],
    },
    "ridges": {
        "description": "Ridges in units of the mean diagonal; the best one counts, as on validation points.",
        "type": "array",
        "items": {"type": "number", "minimum": 0},
        "minItems": 1,
        "default": [0.0],
    },
}
MEASURES = {"sample_complexity": "number of samples at which the deterministic equivalent reaches a risk"}
COORDINATES = {"line": "lines", "threshold": "thresholds"}


@dataclass(frozen=True)
class DeterministicEquivalent:
    """n*(d, risk) from the self-consistent ridge of a dot-product kernel on the sphere, for a unit-norm target of one
    degree without label noise."""

    lines: dict[str, Any] = field(default_factory=dict)
    thresholds: list[float] = field(default_factory=lambda: [0.5, 0.1])
    ridges: list[float] = field(default_factory=lambda: [0.0])

    def measure(self, problem: Problem) -> dict[str, Variable]:
        """sample_complexity (line, threshold); NaN where no number of samples reaches the threshold."""
        if problem.inputs.law != "sphere" or getattr(problem.teacher, "basis", None) != "gegenbauer":
            raise ValueError("deterministic_equivalent: expected sphere inputs and a gegenbauer teacher")
        values = np.empty((len(self.lines), len(self.thresholds)))
        for i, kernel in enumerate(self.lines.values()):
            ridges = [ridge * float(kernel.profile(np.ones(()))) for ridge in self.ridges]
            for j, threshold in enumerate(self.thresholds):
                dimension, degree = problem.inputs.dimension, problem.teacher.degree
                values[i, j] = sample_complexity(kernel.profile, dimension, degree, threshold, ridges)
        text = "number of samples at which the deterministic equivalent of the risk reaches the threshold"
        return {
            "line": Variable(("line",), np.array(list(self.lines)), {"long_name": "theory line"}),
            "threshold": Variable(("threshold",), np.array(self.thresholds), {"units": "1", "long_name": "risk"}),
            "sample_complexity": Variable(("line", "threshold"), values, {"units": "1", "long_name": text}),
        }
