"""What alternating least squares makes of a three-layer quadratic target: its error, and its features of layer 2."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge

from hierlearn.core import contracts
from hierlearn.core.needs import Needs, Sizes
from hierlearn.core.parameters import Count
from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Probe
from hierlearn.pipeline.measurements._variables import Variables, describe
from hierlearn.statistics.features import feature_errors


@dataclass(frozen=True, kw_only=True)
class AlternatingSquares(Probe):
    """Kernels of degree 2 applied in turn, each on what the other leaves, with all of the target's graph known.

    Layer 2: the quadratic form of (x, G_1) that is nearest to y less the third layer; S_2 are its k_2 largest
    eigenvectors, times the root of their eigenvalues. Layer 3: the quadratic form of (1, x, products of two of S_2)
    that is nearest to y less Sum(S_2^2). The error of the whole can become small while S_2 stays as wrong as the first
    fit left it (allenzhu2020, Remark 3.2).
    """

    rounds: Annotated[int, Ge(2), "Rounds, each of a fit of layer 2 and one of layer 3."] = 6
    points: Annotated[Count, "Points of the fits; as many more measure the errors."] = 8192
    MEASURES = {
        "first_risk": "squared error on fresh points after the first round",
        "last_risk": "squared error on fresh points after the last round",
        "risk_fall": "last_risk over first_risk",
        "first_feature_error": "min_U E|U S_2 - S*_2|^2 / E|S*_2|^2 on fresh points in the first round",
        "last_feature_error": "the same in the last round",
        "feature_fall": "last_feature_error over first_feature_error",
    }

    def needs(self, sizes: Sizes) -> Needs:
        """All products of two columns, at the points of the fits and at fresh ones."""
        return Needs(memory={"measure": 8 * self.points * sizes.dimension**2})

    def measure(self, problem: Problem) -> Variables:
        """All variables (seed,). Raises ValueError on another teacher or depth."""
        teacher, state = problem.teacher, problem.state
        if "layer_covariance" not in state or teacher.depth != 3:
            raise ValueError("alternating_squares: expected the teacher quadratic_densenet of depth 3")
        streams, k = problem.streams.at("alternating-squares"), teacher.layer_widths[0]
        x = contracts.points(problem.inputs, streams, "points", 0, 2 * self.points).astype(np.float64)
        hidden, targets = teacher.hidden(state, x)["S_2"], teacher.target(state, x)[..., 0]
        found = [self._rounds(*one, k) for one in zip(x, hidden, targets, strict=True)]
        risk, feature_error = np.array(found).swapaxes(0, 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            # A target of layer 2 alone is found in the first round.
            feature_fall = feature_error[:, -1] / feature_error[:, 0]
        measures = {
            "first_risk": (("seed",), risk[:, 0]),
            "last_risk": (("seed",), risk[:, -1]),
            "risk_fall": (("seed",), risk[:, -1] / risk[:, 0]),
            "feature_fall": (("seed",), feature_fall),
            "first_feature_error": (("seed",), feature_error[:, 0]),
            "last_feature_error": (("seed",), feature_error[:, -1]),
        }
        columns = x.shape[-1] * (2 * x.shape[-1] + 1)
        return describe(self, problem, measures, 4.0 * self.rounds * self.points * columns**2)

    def _rounds(self, x: np.ndarray, hidden: np.ndarray, target: np.ndarray, k: int) -> tuple[list, list]:
        """Risks and feature errors of every round; x (2 n, d), hidden (2 n, k), target (2 n,)."""
        n = self.points
        columns = np.concatenate([x, x**2 - 1.0], axis=1)
        lower, third = _products(columns), np.zeros(len(x))
        solve = _least_squares(np.concatenate([lower[:n], np.ones((n, 1))], axis=1))
        risks, errors = [], []
        for _ in range(self.rounds):
            form = np.zeros((columns.shape[1], columns.shape[1]))
            form[np.triu_indices(len(form))] = solve((target - third)[:n])[:-1]
            values, vectors = np.linalg.eigh((form + form.T) / 2)
            top = np.argsort(-values)[:k]
            features = columns @ (vectors[:, top] * np.sqrt(np.maximum(values[top], 0.0)))
            second = np.sum(features**2, axis=1)
            higher = _products(np.concatenate([np.ones((len(x), 1)), x, _products(features)], axis=1))
            third = higher @ _least_squares(higher[:n])((target - second)[:n])
            risks.append(float(np.mean((target - second - third)[n:] ** 2)))
            errors.append(feature_errors(features[n:], hidden[n:])[0])
        return risks, errors


def _products(columns: np.ndarray) -> np.ndarray:
    """Products of two of the columns (n, c), (n, c (c + 1) / 2)."""
    first, second = np.triu_indices(columns.shape[1])
    return columns[:, first] * columns[:, second]


def _least_squares(design: np.ndarray):
    """A function from labels (n,) to the weights (c,) of least squares, of columns scaled to one size."""
    sizes = np.sqrt(np.mean(design**2, axis=0))
    inverse = np.linalg.pinv((design / sizes).T @ (design / sizes) / len(design), rcond=1e-12, hermitian=True)
    return lambda labels: inverse @ ((design / sizes).T @ labels / len(design)) / sizes
