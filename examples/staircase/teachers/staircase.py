"""Staircases: sums of monomials of signs that grow by a few coordinates at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hierlearn.core.parameters import Count
from hierlearn.core.protocols import Input, Objection, State, Teacher
from hierlearn.core.streams import Streams


@dataclass(frozen=True, kw_only=True)
class Staircase(Teacher):
    """f(z) = sum of z_1 ... z_j over j = l, 2 l, ... up to k, of leap l  (abbe2023, Section 1.1).

    l = 1 is z_1 + z_1 z_2 + ... + z_1 ... z_k; l = k is the monomial of all k alone. The coordinates are redrawn per
    seed.
    """

    order: Annotated[Count, "Number k of coordinates in the longest monomial."] = 3
    leap: Annotated[Count, "How many coordinates every monomial has more than the one before."] = 1
    kind: ClassVar[str] = "regression"
    outputs: ClassVar[int] = 1
    LAWS = ("hypercube",)

    def validate(self, inputs: Input) -> Iterator[Objection]:
        """Object to monomials that are longer than a point, and leaps beyond the last."""
        if self.order > inputs.dimension:
            yield "order", f"{self.order}", f"at most the dimension {inputs.dimension}"
        if self.order % self.leap:
            yield "leap", f"{self.leap}", f"a divisor of the order {self.order}"

    def draw(self, streams: Streams, inputs: Input) -> State:
        """Draw coordinates (S, k)."""
        self.raise_for(inputs)
        return {"coordinates": streams.at("coordinates").stack(lambda g: g.permutation(inputs.dimension)[: self.order])}

    def bases(self, state: State, x: np.ndarray) -> np.ndarray:
        """Return the monomials (S, n, k / l) float64."""
        signs = np.sign(np.take_along_axis(x, state["coordinates"][:, None, :], axis=-1)).astype(np.float64)
        return np.cumprod(signs, axis=-1)[..., self.leap - 1 :: self.leap]

    def target(self, state: State, x: np.ndarray) -> np.ndarray:
        """Return targets: (S, n, d) -> (S, n, 1) float64."""
        return self.bases(state, x).sum(axis=-1, keepdims=True)

    def norm(self, state: State, inputs: Input) -> np.ndarray:
        """Return, as monomials are orthonormal, the root of their number."""
        return np.full(len(state["coordinates"]), (self.order // self.leap) ** 0.5)

    def degrees(self) -> tuple[int, ...]:
        """Return the degree of every monomial."""
        return tuple(range(self.leap, self.order + 1, self.leap))
