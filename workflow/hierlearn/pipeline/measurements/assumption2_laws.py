"""Assumption 2 of chen2020 on the same features for several laws of x: population moments, no points."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from hierlearn.core.problem import Problem
from hierlearn.pipeline.measurements._parameters import Several, listing
from hierlearn.pipeline.measurements._step_features import StepFeatures
from hierlearn.pipeline.measurements._variables import Variables, describe


@dataclass(frozen=True, kw_only=True)
class Assumption2Laws(StepFeatures):
    """As assumption2, for x uniform on the unit sphere and for x ~ N(0, I_d), on the same rows and biases.

    Where |x| is near d^{1/2}, a bias b ~ N(0, 1) is small beside <v, x>; on the unit sphere it is as large.
    """

    laws: Annotated[Several[Literal["sphere", "gaussian"]], "Laws of x, whatever that of the problem is."] = listing(
        "sphere", "gaussian"
    )
    COORDINATES = {"law": "laws"} | StepFeatures.COORDINATES

    def measure(self, problem: Problem) -> Variables:
        """MEASURES over (seed, law, order, multiple)."""
        of_laws = [self.of_law(problem, law) for law in self.laws]
        measures = {
            name: (("seed", "law", *axes[1:]), np.stack([arrays[name][1] for arrays in of_laws], axis=1))
            for name, (axes, _) in of_laws[0].items()
        }
        return describe(self, problem, measures, len(self.laws) * self.operations(problem.inputs.dimension))
