"""How many labels of a deep quadratic network depend on one of its layers."""

from dataclasses import dataclass
from math import pi, sqrt
from typing import Annotated

import numpy as np
import scipy
from annotated_types import Ge

from hierlearn.core import contracts
from hierlearn.core.needs import Needs, Sizes
from hierlearn.core.parameters import Positive
from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Probe
from hierlearn.pipeline.measurements._parameters import Several, listing
from hierlearn.pipeline.measurements._variables import Variables, describe


@dataclass(frozen=True, kw_only=True)
class MarginalAccuracy(Probe):
    """Pr[sgn(x_0 + G*) != sgn(x_0 + G* - alpha_l Sum(G*_l))], x_0 ~ N(-E G*, 1)  (allenzhu2020, Section 3.1 / B.1).

    G* has weights alpha_l = gap^{l-2} times one factor for Var G* = 1; the layers are those of the teacher, the same
    for all gaps. The threshold is independent of G*, so that the probability given G* is a difference of normal
    distribution functions; only the mean over G* is one over points.
    """

    layers: Annotated[Several[Annotated[int, Ge(2)]], "Layers l that are left out, each by itself."] = listing(3)
    gaps: Annotated[Several[Positive], "alpha_{l+1} / alpha_l, in place of the teacher's."] = listing(0.2, 0.1, 0.05)
    points: Annotated[int, Ge(2), "Points of the mean."] = 20000
    MEASURES = {
        "flip": "probability that the label changes without layer l",
        "flip_centred": "the same where layer l leaves its mean",
        "flip_above": "probability that the label changes without layer l and all above it",
        "flip_rate": "flip over alpha",
        "flip_centred_rate": "flip_centred over alpha",
        "flip_above_rate": "flip_above over alpha",
        "flip_bound": "alpha_l E Sum(G*_l) / sqrt(2 pi), an upper bound on flip",
        "squared_error": "E (alpha_l Sum(G*_l))^2, the squared error of G* without layer l",
        "squared_error_rate": "squared_error over alpha",
        "alpha": "weight of layer l, after the scaling to Var G* = 1",
    }
    COORDINATES = {"layer": "layers", "gap": "gaps"}

    def needs(self, sizes: Sizes) -> Needs:
        """The points of all seeds, and what a teacher's layers make of them: their units, sums and labels."""
        return Needs(memory={"measure": sizes.seeds * self.points * (sizes.dimension + 15 * max(self.layers))})

    def measure(self, problem: Problem) -> Variables:
        """All variables (seed, layer, gap). Raises ValueError unless the teacher is a network with these layers."""
        teacher, state, seeds = problem.teacher, problem.state, len(problem.seeds)
        if "layer_covariance" not in state:
            raise ValueError("marginal_accuracy: expected the teacher quadratic_densenet")
        if max(self.layers) > teacher.depth:
            raise ValueError(f"marginal_accuracy: layer {max(self.layers)}; expected at most the depth {teacher.depth}")
        x = contracts.points(problem.inputs, problem.streams.at("marginal-accuracy"), "points", 0, self.points)
        sums = np.stack([np.sum(one**2, axis=-1) for one in teacher.hidden(state, x).values()], axis=-1)
        found = {name: np.empty((seeds, len(self.layers), len(self.gaps))) for name in self.MEASURES}
        for j, gap in enumerate(self.gaps):
            weights = gap ** np.arange(teacher.depth - 1.0)
            alphas = weights / np.sqrt(np.einsum("a,sab,b->s", weights, state["layer_covariance"], weights))[:, None]
            parts, means = sums * alphas[:, None, :], alphas * state["layer_means"]
            # The threshold -x_0 is N(E G*, 1).
            whole = np.sum(parts, axis=-1) - np.sum(means, axis=-1)[:, None]
            for i, layer in enumerate(self.layers):
                part, mean, alpha = parts[..., layer - 2], means[:, None, layer - 2], alphas[:, layer - 2]
                found["flip"][:, i, j] = _between(whole, whole - part)
                found["flip_centred"][:, i, j] = _between(whole, whole - part + mean)
                found["flip_above"][:, i, j] = _between(whole, whole - np.sum(parts[..., layer - 2 :], axis=-1))
                found["squared_error"][:, i, j] = np.mean(part**2, axis=1)
                found["flip_bound"][:, i, j] = np.mean(part, axis=1) / sqrt(2 * pi)
                found["alpha"][:, i, j] = alpha
        for name in ("flip", "flip_centred", "flip_above", "squared_error"):
            found[f"{name}_rate"] = found[name] / found["alpha"]
        entries = sum(values[0].size for name, values in state.items() if name.startswith("weights_"))
        measures = {name: (("seed", "layer", "gap"), values) for name, values in found.items()}
        return describe(self, problem, measures, 2.0 * self.points * entries)


def _between(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Mean probability that a standard normal threshold lies between two values: (S, n), (S, n) -> (S,)."""
    return np.mean(np.abs(scipy.special.ndtr(one) - scipy.special.ndtr(other)), axis=1)
