"""The fourth moment of the target."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from hierlearn.core.parameters import Count
from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Probe
from hierlearn.pipeline.measurements._variables import Variables, describe


@dataclass(frozen=True, kw_only=True)
class Template(Probe):
    """(E f^4)^{1/4} / (E f^2)^{1/2} of the target, which is 1 where |f| is constant."""

    points: Annotated[Count, "Points over which the means are taken."] = 2000
    # What it measures, one line each: the variables that claims and figures name.
    MEASURES = {"moment_ratio": "(E f^4)^{1/4} / (E f^2)^{1/2}"}

    def measure(self, problem: Problem) -> Variables:
        """Return moment_ratio (seed,)."""
        target = problem.draw("probe", self.points).target[..., 0]
        ratio = np.mean(target**4, axis=1) ** 0.25 / np.mean(target**2, axis=1) ** 0.5
        return describe(self, problem, {"moment_ratio": (("seed",), ratio)})
