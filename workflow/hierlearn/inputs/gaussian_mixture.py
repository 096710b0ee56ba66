"""Mixtures of normal laws with covariances of their own."""

from dataclasses import dataclass
from functools import cache
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge

from hierlearn.core.parameters import Count, Index
from hierlearn.core.streams import Streams
from hierlearn.inputs._rows import Rows


@dataclass(frozen=True)
class GaussianMixture(Rows):
    """x ~ N(0, Sigma_i), i uniform on the components, E x = 0 and E x_j^2 = 1  (allenzhu2020, Proposition 5.4 / D.1).

    equal: Sigma_i is random with unit diagonal, so that all rows of Sigma_i^{1/2} have norm 1; its eigenvalues are in
    geometric progression. unequal: Sigma_i = I + D and I - D in turn, D = diag(+-delta) with random signs, and the
    identity for an odd one out. The law is one for all seeds: `variant`, not the seed, chooses the covariances.
    """

    components: Annotated[Count, "Number of normal laws, equally likely."] = 4
    condition: Annotated[float, Ge(1), "Largest over smallest eigenvalue of every covariance."] = 4
    row_norms: Annotated[
        Literal["equal", "unequal"],
        "equal: E x_j^2 = 1 in every component, which the paper asks for; unequal: E x_j^2 = 1 only for the "
        "mixture, the covariances being diagonal.",
    ] = "equal"
    variant: Annotated[Index, "Which of the random mixtures."] = 0
    law = stream_key = "gaussian_mixture"

    def draw(self, generator: np.random.Generator, rows: int) -> np.ndarray:
        which = generator.integers(0, self.components, rows)
        x = generator.standard_normal((rows, self.dimension))
        for i, root in enumerate(np.linalg.cholesky(self.covariances())):
            x[which == i] = x[which == i] @ root.T
        return x

    def covariances(self) -> np.ndarray:
        """Return Sigma_i: (components, d, d) float64."""
        return _covariances(self.dimension, self.components, self.condition, self.row_norms, self.variant)


@cache
def _covariances(dimension: int, components: int, condition: float, row_norms: str, variant: int) -> np.ndarray:
    generator = Streams(("gaussian_mixture", str(dimension)), (variant,)).generators()[0]
    if row_norms == "equal":
        spectrum = np.geomspace(1.0, condition, dimension)
        spectrum *= dimension / np.sum(spectrum)
        return np.stack([_correlations(spectrum, generator) for _ in range(components)])
    spread, diagonals = (condition - 1) / (condition + 1), np.ones((components, dimension))
    for i in range(0, components - 1, 2):
        signs = generator.choice([-1.0, 1.0], dimension)
        diagonals[i : i + 2] += spread * np.stack([signs, -signs])
    return np.stack([np.diag(values) for values in diagonals])


def _correlations(spectrum: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Return a random matrix with given eigenvalues (d,), of sum d, and unit diagonal (Davies and Higham, 2000).

    A rotation in the plane of one coordinate above and one below 1 brings the first to 1 and keeps the eigenvalues.
    """
    q, _ = np.linalg.qr(generator.standard_normal((len(spectrum), len(spectrum))))
    matrix = (q * spectrum) @ q.T
    for i in range(len(spectrum) - 1):
        excess = np.diag(matrix)[i:] - 1.0
        j = i + int(np.argmin(excess * np.sign(excess[0])))
        if j == i or excess[j - i] == 0:
            continue
        cross = matrix[i, j]
        tangent = (cross + np.copysign(np.sqrt(cross**2 - excess[0] * excess[j - i]), cross)) / excess[j - i]
        cosine = 1.0 / np.hypot(1.0, tangent)
        rotation = cosine * np.array([[1.0, -tangent], [tangent, 1.0]])
        matrix[[i, j]] = rotation @ matrix[[i, j]]
        matrix[:, [i, j]] = matrix[:, [i, j]] @ rotation.T
    return matrix
