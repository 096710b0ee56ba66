"""How far a linear fit is from the target, on points that it has not seen."""

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from annotated_types import Ge

from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Experiment
from hierlearn.pipeline.measurements._variables import Variables, describe


@dataclass(frozen=True, kw_only=True)
class Template(Experiment):
    """Risk of the linear function that fits n labels best, for every n of `samples`."""

    samples: Annotated[list[Annotated[int, Ge(2)]], "Numbers n of labelled points."] = field(
        default_factory=lambda: [20, 80]
    )
    # What it measures, one line each, and which parameters are coordinates of the result.
    MEASURES = {"linear_risk": "E|f - f*|^2 of the best linear fit"}
    COORDINATES = {"samples": "samples"}

    def measure(self, problem: Problem) -> Variables:
        """Return linear_risk (seed, samples); it stands in a study where a probe stands."""
        train, test = problem.draw("training", max(self.samples)), problem.draw("test", 1000)
        risks = np.empty((len(problem.seeds), len(self.samples)))
        for i, n in enumerate(self.samples):
            for s in range(len(problem.seeds)):
                weights = np.linalg.lstsq(train.x[s, :n].astype(float), train.labels[s, :n], rcond=None)[0]
                risks[s, i] = np.mean((test.x[s] @ weights - test.target[s]) ** 2)
        return describe(self, problem, {"linear_risk": (("seed", "samples"), risks)})
