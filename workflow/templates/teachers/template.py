"""A target that is linear along a direction of each seed."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hierlearn.core.protocols import Input, State, Teacher
from hierlearn.core.streams import Streams


@dataclass(frozen=True, kw_only=True)
class Template(Teacher):
    """f(x) = <u, x> for a random unit vector u."""

    # "regression", or "classes" by the sign of one output.
    kind: ClassVar[str] = "regression"
    outputs: ClassVar[int] = 1
    # The laws of x for which `norm` is right; without this line the teacher is asked under every law.
    LAWS = ("gaussian", "hypercube")

    def draw(self, streams: Streams, inputs: Input) -> State:
        """Draw directions (S, d): every seed has a stream of its own. Raises ValueError under another law."""
        self.raise_for(inputs)
        u = streams.at("directions").stack(lambda generator: generator.standard_normal(inputs.dimension))
        return {"directions": u / np.linalg.norm(u, axis=1, keepdims=True)}

    def target(self, state: State, x: np.ndarray) -> np.ndarray:
        """Return targets: (S, n, d) -> (S, n, 1) float64."""
        return np.einsum("snd,sd->sn", x.astype(np.float64), state["directions"])[..., None]

    def norm(self, state: State, inputs: Input) -> np.ndarray:
        """Return (E f^2)^{1/2} of every seed: 1 where E x x^T = I, shorter where the points have norm 1."""
        scale = inputs.dimension**-0.5 if inputs.norm == "unit" else 1.0
        return np.full(len(state["directions"]), scale)

    def degrees(self) -> tuple[int, ...]:
        """Return 1: linear functions alone."""
        return (1,)

    def bases(self, state: State, x: np.ndarray) -> np.ndarray:
        """Return the target itself."""
        return self.target(state, x)
