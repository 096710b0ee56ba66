"""Parities of a few coordinates among distractors."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from hierlearn.core.parameters import Count
from hierlearn.core.protocols import Input, Objection, State, Teacher
from hierlearn.core.streams import Streams


@dataclass(frozen=True, kw_only=True)
class Parity(Teacher):
    """f(x) = d^{k/2} x_1 ... x_k, the other d - k coordinates are distractors  (bai2020, Section 5.2: 2-XOR).

    The coordinates are redrawn per seed, which a learner without preferred coordinates cannot notice.
    """

    order: Annotated[Count, "Number k of coordinates in the product."] = 2
    kind: Annotated[Literal["regression", "classes"], "regression on the product, or classes: labels -1 and +1."] = (
        "regression"
    )
    stream_key: ClassVar[str] = "parity"
    LAWS = ("hypercube",)

    def validate(self, inputs: Input) -> Iterator[Objection]:
        """Object to more factors than coordinates."""
        if self.order > inputs.dimension:
            yield "order", f"{self.order}", f"at most the dimension {inputs.dimension}"

    def draw(self, streams: Streams, inputs: Input) -> State:
        """Draw coordinates (S, k). Raises ValueError if k exceeds the dimension."""
        self.raise_for(inputs)
        return {"coordinates": streams.at("coordinates").stack(lambda g: g.permutation(inputs.dimension)[: self.order])}

    def target(self, state: State, x: np.ndarray) -> np.ndarray:
        """Return targets: (S, n, d) -> (S, n, 1) float64, exactly -1 or +1."""
        return np.prod(self.bases(state, x), axis=-1, keepdims=True)

    def norm(self, state: State, inputs: Input) -> np.ndarray:
        """Return 1 for every seed: (S,)."""
        return np.ones(len(state["coordinates"]))

    def degrees(self) -> tuple[int, ...]:
        """Return k alone."""
        return (self.order,)

    def bases(self, state: State, x: np.ndarray) -> np.ndarray:
        """Return the coordinates in the product, (S, n, k)."""
        chosen = np.take_along_axis(x, state["coordinates"][:, None, :], axis=-1)
        return np.sign(chosen).astype(np.float64)
