"""Products of two features that do not change when a string of signs is turned round."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Interval

from hierlearn.core.protocols import Input, Objection, State, Teacher
from hierlearn.core.streams import Streams

OUTPUTS = 2


@dataclass(frozen=True, kw_only=True)
class ShiftProducts(Teacher):
    """H(x)_j = F_j + alpha F_1 F_2, j = 1, 2, with F_j = sum_i s_i s_{i + a_j} / sqrt(d), i mod d, s the signs of x.

    Concept 1 of allenzhu2019 where a shift of all coordinates changes nothing: F is a sum over an orbit of d products
    of two signs, F_1 F_2 one over d orbits of products of four. The distances a_1, a_2 are redrawn per seed, different,
    from 1 to (d - 1) / 2.
    """

    alpha: Annotated[float, Interval(ge=0, lt=1), "Factor of the product."] = 0.5
    stream_key: ClassVar[str] = "shift_products"
    outputs = OUTPUTS
    LAWS = ("hypercube",)

    def validate(self, inputs: Input) -> Iterator[Objection]:
        """Object to fewer coordinates than two distances need."""
        if inputs.dimension < 5:
            yield "dimension", f"{inputs.dimension}", "at least 5, for two distances below its half"

    def draw(self, streams: Streams, inputs: Input) -> State:
        """Draw distances (S, 2); return square (S,), E|H|^2, too."""
        self.raise_for(inputs)
        most = (inputs.dimension - 1) // 2
        drawn = streams.at("distances").stack(lambda generator: 1 + generator.permutation(most)[:OUTPUTS])
        squares = np.array([_mean_square(inputs.dimension, own.tolist(), self.alpha) for own in drawn])
        return {"distances": drawn, "square": squares}

    def parts(self, state: State, x: np.ndarray) -> dict[str, np.ndarray]:
        """Return F as `base` and alpha F_1 F_2, twice, as `composite`: they sum to the target; (S, n, 2) float64."""
        base = self.bases(state, x)
        product = self.alpha * np.prod(base, axis=-1, keepdims=True)
        return {"base": base, "composite": np.repeat(product, OUTPUTS, axis=-1)}

    def target(self, state: State, x: np.ndarray) -> np.ndarray:
        """Return targets: (S, n, d) -> (S, n, 2) float64."""
        return sum(self.parts(state, x).values(), start=np.zeros(()))

    def norm(self, state: State, inputs: Input) -> np.ndarray:
        """Return the norm (S,), by counting: F_1 F_2 is not orthogonal to F where one distance is twice the other."""
        return np.sqrt(state["square"])

    def degrees(self) -> tuple[int, ...]:
        """Return none: 2 and 4, of which kernels that are no function of the inner product say nothing."""
        return ()

    def bases(self, state: State, x: np.ndarray) -> np.ndarray:
        """Return F, (S, n, 2) float64."""
        signs = np.sign(x).astype(np.float64)
        found = np.empty((*x.shape[:2], OUTPUTS))
        for seed, j in np.ndindex(len(x), OUTPUTS):
            moved = np.roll(signs[seed], -int(state["distances"][seed, j]), axis=-1)
            found[seed, :, j] = np.einsum("nd,nd->n", signs[seed], moved) / np.sqrt(x.shape[-1])
        return found


def _mean_square(dimension: int, distances: list[int], alpha: float) -> float:
    """E|H|^2: products of signs are orthonormal, and the square of a sign is 1."""
    pairs = [[frozenset({i, (i + a) % dimension}) for i in range(dimension)] for a in distances]
    product = Counter(left ^ right for left in pairs[0] for right in pairs[1])
    total = 0.0
    for own in pairs:
        coefficients = defaultdict(float, dict.fromkeys(own, dimension**-0.5))
        for monomial, count in product.items():
            coefficients[monomial] += alpha * count / dimension
        total += sum(value**2 for value in coefficients.values())
    return total
