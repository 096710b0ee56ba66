"""The square of a sum of sines times a cosine, four coordinates in all."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hierlearn.core.protocols import Input, Objection, State, Teacher
from hierlearn.core.streams import Streams
from hierlearn.teachers._directions import orthonormal_columns

DIMENSION = 4
# Root of the mean of F*^2, which is a sum of exp(i<w, u>), of mean 2 J_1(|w|) / |w| on the sphere in R^4.
NORM = 5.572724473259305


@dataclass(frozen=True)
class ComposedSines(Teacher):
    """F*(x) = (sin 3u_1 + sin 3u_2 + sin 3u_3 - 2)^2 cos 7u_4, u = Qx on the sphere in R^4.

    Allen-Zhu, Li and Liang (2018), Figure 1(b): the setting beside allenzhu2019, Figure 2. The rotation Q is redrawn
    per seed, which a learner without preferred coordinates cannot notice.
    """

    stream_key: ClassVar[str] = "composed_sines"
    LAWS = ("sphere",)

    def validate(self, inputs: Input) -> Iterator[Objection]:
        """Object to another dimension than 4."""
        if inputs.dimension != DIMENSION:
            word = "most" if inputs.dimension > DIMENSION else "least"
            yield "dimension", f"{inputs.dimension}", f"at {word} {DIMENSION} for composed_sines"

    def draw(self, streams: Streams, inputs: Input) -> State:
        """Draw rotation (S, 4, 4). Raises ValueError for another law than the sphere, or another dimension."""
        self.raise_for(inputs)
        return {"rotation": streams.at("rotation").stack(lambda g: orthonormal_columns(g, DIMENSION, DIMENSION))}

    def target(self, state: State, x: np.ndarray) -> np.ndarray:
        """Return targets: (S, n, 4) -> (S, n, 1) float64."""
        inner, wave = np.split(self.bases(state, x), 2, axis=-1)
        return (inner - 2) ** 2 * wave

    def norm(self, state: State, inputs: Input) -> np.ndarray:
        """Return the L2 norm (S,), exact."""
        return np.full(len(state["rotation"]), NORM)

    def degrees(self) -> tuple[int, ...]:
        """Return the first of endlessly many degrees."""
        return (1, 2, 3, 4)

    def bases(self, state: State, x: np.ndarray) -> np.ndarray:
        """Return the inner function and the cosine: (S, n, 2)."""
        u = x.astype(np.float64) @ state["rotation"].swapaxes(1, 2)
        return np.stack([np.sum(np.sin(3 * u[..., :3]), axis=-1), np.cos(7 * u[..., 3])], axis=-1)
