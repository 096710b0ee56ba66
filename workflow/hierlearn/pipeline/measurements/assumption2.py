"""How small the second moment of random step features gets: Assumption 2 of chen2020, population moments, no points."""

from dataclasses import dataclass

from hierlearn.core.problem import Problem
from hierlearn.pipeline.measurements._step_features import StepFeatures
from hierlearn.pipeline.measurements._variables import Variables, describe, require


@dataclass(frozen=True, kw_only=True)
class Assumption2(StepFeatures):
    """lambda_min of Sigma = E[g(x) g(x)^T], g(x) = 1{Vx + b >= 0}, V rows N(0, I_d), b ~ N(0, 1) or 0, at D = c d^k.

    Assumption 2 says lambda_min(Sigma) >= lambda_k > 0 for any D = O(d^k), lambda_k free of d, and Appendix B that
    lambda_k is of the order of E_k. Fewer features are the first ones of more. The smallest of D near-uniform
    probabilities scatters over decades, hence a median over repeats.
    """

    LAWS = ("sphere", "gaussian")

    def measure(self, problem: Problem) -> Variables:
        """MEASURES over (seed, order, multiple). Raises ValueError for a law of x without closed form."""
        law = problem.inputs.law
        require(self, problem.inputs, "sqrt_dimension" if law == "gaussian" else "unit")
        return describe(self, problem, self.of_law(problem, law), self.operations(problem.inputs.dimension))
