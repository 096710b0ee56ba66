"""Quadratic DenseNets with a part that no network of the class has: the agnostic setting, without randomness."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Annotated, ClassVar, Literal

import numpy as np

from hierlearn.core.parameters import NotNegative, Positive
from hierlearn.core.protocols import Input, Objection, State
from hierlearn.core.streams import Streams
from hierlearn.teachers.quadratic_densenet import QuadraticDensenet


@dataclass(frozen=True, kw_only=True)
class MisspecifiedDensenet(QuadraticDensenet):
    """y(x) = G*(x) + e(x), E e^2 = misfit^2 = OPT up to what a network can make of e  (allenzhu2020, Theorem 3.2).

    none: e = 0; wave: e = misfit sqrt(2) sin(frequency <u, x> + 1) for a random unit vector u, which hangs on x alone;
    target: the same wave of (G* - E G*) / std G*, a function of the target itself; heavy: the first times
    |G* - E G*| / std G*, so that large targets are off by more.
    """

    misfit: Annotated[NotNegative, "Root of E e^2, in the target's own units."] = 0.4
    misfit_of: Annotated[Literal["none", "wave", "target", "heavy"], "What e is a function of."] = "wave"
    frequency: Annotated[Positive, "Frequency of the wave; a fast one is no polynomial of low degree."] = 20.0
    stream_key: ClassVar[str] = "misspecified_densenet"

    def objections(self, inputs: Input) -> Iterator[Objection]:
        """Those of the network, and classes, whose labels have no room for e."""
        if self.kind == "classes":
            yield "kind", "'classes' with a misfit", "regression"
            return
        yield from QuadraticDensenet.objections(self, inputs)

    def draw(self, streams: Streams, inputs: Input) -> State:
        """As for the network, and wave_direction (S, d)."""
        direction = streams.at("misfit").stack(lambda generator: generator.standard_normal(inputs.dimension))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        return super().draw(streams, inputs) | {"wave_direction": direction}

    def target(self, state: State, x: np.ndarray) -> np.ndarray:
        """(S, n, d) -> (S, n, 1) float64."""
        clean = super().target(state, x)
        if self.misfit_of == "none":
            return clean
        spread = np.sqrt(state["second_moment"] - state["mean"] ** 2)
        standard = (clean - state["mean"][:, None, None]) / spread[:, None, None]
        along = x.astype(np.float64) @ state["wave_direction"][:, :, None]
        wave = np.sin(self.frequency * (standard if self.misfit_of == "target" else along) + 1.0)
        size = np.abs(standard) if self.misfit_of == "heavy" else 1.0
        return clean + self.misfit * sqrt(2) * size * wave

    def norm(self, state: State, inputs: Input) -> np.ndarray:
        """L2 norm (S,), e taken as uncorrelated with G*."""
        return np.sqrt(state["second_moment"] + (0.0 if self.misfit_of == "none" else self.misfit**2))
