"""The square of a sum of sines times a cosine, four coordinates in all."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import product
from math import sqrt
from typing import ClassVar

import numpy as np

from hierlearn.core.objections import refuse
from hierlearn.core.protocols import Input, Objection, State, Teacher
from hierlearn.core.streams import Streams

DIMENSION = 4


# sin(3t) and cos(7t) as {frequency: coefficient} of exp(i frequency t).
SINE, COSINE = {3: -0.5j, -3: 0.5j}, {7: 0.5, -7: 0.5}


@dataclass(frozen=True)
class ComposedSines(Teacher):
    """F*(x) = (sin 3u_1 + sin 3u_2 + sin 3u_3 - 2)^2 cos 7u_4, u = Qx on the sphere in R^4.

    Allen-Zhu, Li and Liang (2018), Figure 1(b): the setting beside allenzhu2019, Figure 2. The rotation Q is redrawn
    per seed, which a learner without preferred coordinates cannot notice.
    """

    kind: ClassVar[str] = "regression"
    outputs: ClassVar[int] = 1
    stream_key: ClassVar[str] = "composed_sines"
    LAWS = ("sphere",)

    def objections(self, inputs: Input) -> Iterator[Objection]:
        """Another dimension than 4."""
        if inputs.dimension != DIMENSION:
            word = "most" if inputs.dimension > DIMENSION else "least"
            yield "dimension", f"{inputs.dimension}", f"at {word} {DIMENSION} for composed_sines"

    def draw(self, streams: Streams, inputs: Input) -> State:
        """rotation (S, 4, 4). Raises ValueError for another law than the sphere, or another dimension."""
        refuse(self, inputs)

        def one(generator):
            q, r = np.linalg.qr(generator.standard_normal((DIMENSION, DIMENSION)))
            return q * np.sign(np.diag(r))

        return {"rotation": streams.at("rotation").stack(one)}

    def target(self, state: State, x: np.ndarray) -> np.ndarray:
        """(S, n, 4) -> (S, n, 1) float64."""
        u = x.astype(np.float64) @ state["rotation"].swapaxes(1, 2)
        inner = np.sum(np.sin(3 * u[..., :3]), axis=-1, keepdims=True) - 2
        return inner**2 * np.cos(7 * u[..., 3:])

    def norm(self, state: State, inputs: Input) -> np.ndarray:
        """L2 norm (S,), exact: F*^2 is a sum of exp(i<w, u>), of mean 2 J_1(|w|) / |w| on the sphere in R^4."""
        # Imported here: scipy.special is needed for this number only.
        from scipy.special import j1

        inner = {(0, 0, 0, 0): -2.0}
        for axis in range(3):
            inner |= _along(SINE, axis)
        square = reduce(_times, [inner] * 4 + [_along(COSINE, 3)] * 2)
        lengths = np.linalg.norm(np.array(list(square), np.float64), axis=1)
        safe = np.where(lengths > 0, lengths, 1.0)
        means = np.where(lengths > 0, 2 * j1(safe) / safe, 1.0)
        return np.full(len(state["rotation"]), sqrt(np.real(np.array(list(square.values())) @ means)))

    def degrees(self) -> tuple[int, ...]:
        """The first of endlessly many."""
        return (1, 2, 3, 4)

    def bases(self, state: State, x: np.ndarray) -> np.ndarray:
        """The inner function and the cosine: (S, n, 2)."""
        u = x.astype(np.float64) @ state["rotation"].swapaxes(1, 2)
        return np.stack([np.sum(np.sin(3 * u[..., :3]), axis=-1), np.cos(7 * u[..., 3])], axis=-1)


def _along(series: dict[int, complex], axis: int) -> dict[tuple[int, ...], complex]:
    """A series in the coordinate `axis` as one in all of them."""
    return {tuple(frequency * (i == axis) for i in range(DIMENSION)): c for frequency, c in series.items()}


def _times(one: dict, other: dict) -> dict[tuple[int, ...], complex]:
    """The product of two series: frequencies add."""
    found: dict[tuple[int, ...], complex] = {}
    for (v, a), (w, b) in product(one.items(), other.items()):
        together = tuple(map(sum, zip(v, w, strict=True)))
        found[together] = found.get(together, 0.0) + a * b
    return found
