"""How small the second moment of random step features gets, at any law of x whose moments have a closed form."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import scipy
from annotated_types import Interval

from hierlearn.core.parameters import Count, Positive
from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Probe
from hierlearn.pipeline.measurements._parameters import Several, listing
from hierlearn.pipeline.measurements._variables import Arrays, split
from hierlearn.theory.assumption2 import approximation_error, second_moment, second_moment_with_biases

# Eigenvalues below this part of the trace: those of two units that are on everywhere come out as that.
ROUNDING = 1e-14


@dataclass(frozen=True, kw_only=True)
class StepFeatures(Probe):
    """lambda_min of Sigma = E[g(x) g(x)^T], g(x) = 1{Vx + b >= 0}, V rows N(0, I_d), b ~ N(0, 1) or 0, at D = c d^k."""

    orders: Annotated[Several[Count], "k of the number of features D = c d^k."] = listing(2)
    multiples: Annotated[Several[Positive], "c of the number of features D = c d^k."] = listing(0.5, 1, 2)
    rarest: Annotated[
        float,
        Interval(ge=0, lt=0.5),
        "A unit is left out of `trimmed` if it is on, or off, with less than this probability.",
    ] = 0.1
    repeats: Annotated[Count, "Draws of rows and biases per seed, whose median counts."] = 1
    MEASURES = {
        "smallest_eigenvalue": "smallest eigenvalue of the second moment without biases",
        "biased": "smallest eigenvalue of the second moment of the paper's biased features",
        "trimmed": "the same without the units that are almost always on or off",
        "rarest_outcome": "smallest probability of a biased unit to be on, or off",
        "limit": "E_k, the part of a step that no polynomial of degree k expresses",
        "reciprocal": "1 / (D + 1)",
    }
    COORDINATES = {"order": "orders", "multiple": "multiples"}

    def of_law(self, problem: Problem, law: str) -> Arrays:
        """All measures over (seed, order, multiple), x of a law on rows and biases that do not hang on it."""
        dimension = problem.inputs.dimension
        counts = self._counts(dimension)
        draws = []
        for repeat in range(self.repeats):
            streams = problem.streams.at("assumption2", repeat)
            rows = streams.at("rows").stack(lambda g: g.standard_normal((counts.max(), dimension)))
            biases = streams.at("biases").stack(lambda g: g.standard_normal(counts.max()))
            draws.append([self._of_draw(v, b, law, counts.ravel()) for v, b in zip(rows, biases, strict=True)])
        axes, shape = ("seed", "order", "multiple"), (len(problem.seeds), *counts.shape)
        names = ("smallest_eigenvalue", "biased", "trimmed", "rarest_outcome")
        limits = np.array([approximation_error(k) for k in self.orders])
        return {
            **split(axes, names, np.median(draws, axis=0).reshape(*shape, len(names))),
            "limit": (axes, np.broadcast_to(limits[:, None], shape)),
            "reciprocal": (axes, np.broadcast_to(1.0 / (counts + 1.0), shape)),
        }

    def _counts(self, dimension: int) -> np.ndarray:
        """Numbers of features, (order, multiple)."""
        return np.array([[max(1, round(c * dimension**k)) for c in self.multiples] for k in self.orders])

    def operations(self, dimension: int) -> float:
        """Of the products of rows, at one law."""
        return self.repeats * 2.0 * 2.0 * self._counts(dimension).max() ** 2 * dimension

    def _of_draw(self, rows, biases, law, counts) -> list[list[float]]:
        """Per number of features: the smallest eigenvalues (plain, biased, trimmed) and the rarest outcome."""
        plain, biased = second_moment(rows), second_moment_with_biases(rows, biases, law)
        on = np.diag(biased)
        outcome = np.minimum(on, 1.0 - on)
        result = []
        for count in counts:
            kept = np.flatnonzero(outcome[:count] >= self.rarest)
            moments = (plain[:count, :count], biased[:count, :count], biased[np.ix_(kept, kept)])
            result.append([*map(_smallest, moments), float(np.min(outcome[:count]))])
        return result


def _smallest(moment: np.ndarray) -> float:
    """The smallest eigenvalue, 0 where it is rounding, NaN of an empty matrix."""
    if not len(moment):
        return np.nan
    value = float(scipy.linalg.eigvalsh(moment, subset_by_index=[0, 0])[0])
    return value if value > ROUNDING * np.trace(moment) else 0.0
