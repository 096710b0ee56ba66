"""Theory lines: risk and sample complexity of kernel ridge regression in closed form, for any dimension and n."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from hierlearn.core.parameters import UNIQUE, Count, NestedByName, NotNegative, Share
from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Probe
from hierlearn.pipeline.measurements._parameters import Several, listing
from hierlearn.pipeline.measurements._variables import Variables, describe
from hierlearn.theory.deterministic_equivalent import expected_risk, sample_complexity, spectrum_for


@dataclass(frozen=True, kw_only=True)
class DeterministicEquivalent(Probe):
    """n*(d, risk) and risk(d, n) from the self-consistent ridge of a dot-product kernel on the sphere, for a unit-norm
    target of one degree without label noise."""

    lines: Annotated[
        dict[str, Any], NestedByName("kernels", {"ntk-raw": {"name": "ntk_raw"}}), "Kernels by the name of their line."
    ]
    thresholds: Annotated[list[Share], UNIQUE, "Risks that n* reaches."] = listing(0.5, 0.1)
    ridges: Annotated[
        Several[NotNegative],
        "Ridges in units of the mean diagonal; for n* the best one counts, as on validation points.",
    ] = listing(0.0)
    samples: Annotated[Several[Count], "Numbers n of samples at which the risk is given."] = listing(1000)
    MEASURES = {
        "sample_complexity": "number of samples at which the deterministic equivalent of the risk reaches "
        "the threshold",
        "risk": "deterministic equivalent of the risk",
    }
    COORDINATES = {"line": "lines", "threshold": "thresholds", "ridge": "ridges", "samples": "samples"}

    def measure(self, problem: Problem) -> Variables:
        """sample_complexity (line, threshold); risk (line, ridge, samples), the target having norm 1.

        NaN where no number of samples reaches the threshold, and where the risk is infinite.
        """
        if problem.inputs.law != "sphere" or problem.teacher.basis != "gegenbauer":
            raise ValueError("deterministic_equivalent: expected sphere inputs and a gegenbauer teacher")
        dimension, degree = problem.inputs.dimension, problem.teacher.degree
        complexities, risks = [], []
        for kernel in self.lines.values():
            ridges = [ridge * float(kernel.profile(np.ones(()))) for ridge in self.ridges]
            complexities.append(
                [sample_complexity(kernel.profile, dimension, degree, risk, ridges) for risk in self.thresholds]
            )
            spectrum = spectrum_for(kernel.profile, dimension, degree)
            risks.append([[expected_risk(spectrum, {degree: 1.0}, n, ridge) for n in self.samples] for ridge in ridges])
        measures = {
            "sample_complexity": (("line", "threshold"), complexities),
            "risk": (("line", "ridge", "samples"), np.where(np.isinf(risks), np.nan, risks)),
        }
        return describe(self, problem, measures)
