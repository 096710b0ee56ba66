"""A sum of bits that can be seen alone, and a product with bits that cannot."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from hierlearn.core.parameters import NotNegative
from hierlearn.core.protocols import Input, State, Teacher
from hierlearn.core.streams import Streams
from hierlearn.theory import hierarchies


@dataclass(frozen=True, kw_only=True)
class BitInteraction(Teacher):
    """y = c(a) + c(b) + alpha c(a) f(b), all bits -1 or +1.

    No function of one pair alone has f in it: E[y | b] = c(b). A first layer that is trained under a sum has no reason
    to tell f; it learns to once a second layer multiplies.
    """

    alpha: Annotated[NotNegative, "Weight of the product."] = 0.5
    stream_key: ClassVar[str] = "bit_interaction"
    LAWS = ("hidden_bits",)

    def draw(self, streams: Streams, inputs: Any) -> State:
        """Draw the rules (S, 4, m), codes; return symbols (S,) too."""
        self.raise_for(inputs)
        return {"rules": inputs.rules(streams)[0], "symbols": np.full(len(streams.seeds), inputs.symbols)}

    def parts(self, state: State, x: np.ndarray) -> dict[str, np.ndarray]:
        """Return the sum as layer_1 and the product as layer_2, (S, n, 1) each."""
        c, f = (self.hidden(state, x)[name] for name in ("c", "f"))
        product = self.alpha * c[..., :1] * f[..., 1:]
        return {"layer_1": c.sum(axis=-1, keepdims=True), "layer_2": product}

    def target(self, state: State, x: np.ndarray) -> np.ndarray:
        """Return targets: (S, n, 4 v) -> (S, n, 1) float64."""
        return sum(self.parts(state, x).values(), start=np.zeros(()))

    def norm(self, state: State, inputs: Input) -> np.ndarray:
        """Return sqrt(2 + alpha^2) for every seed: (S,)."""
        return np.full(len(state["symbols"]), np.sqrt(2 + self.alpha**2))

    def degrees(self) -> tuple[int, ...]:
        """Return 2 for the sum, 4 for the product."""
        return (2, 4)

    def bases(self, state: State, x: np.ndarray) -> np.ndarray:
        """Return the four bits, (S, n, 4)."""
        return np.concatenate(list(self.hidden(state, x).values()), axis=-1)

    def hidden(self, state: State, x: np.ndarray) -> dict[str, np.ndarray]:
        """Return c and f of both pairs, (S, n, 2) float64 each, -1 or +1."""
        of_seeds = zip(state["rules"], x, state["symbols"].tolist(), strict=True)
        found = [hierarchies.parse([rules], hierarchies.strings_of(one, v), v, 2) for rules, one, v in of_seeds]
        bits = np.stack([next(levels) for levels in found])
        return {"c": 2.0 * (bits // 2) - 1.0, "f": 2.0 * (bits % 2) - 1.0}
