"""Handwritten digits at a place of their own on a canvas."""

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Interval

from hierlearn.core.protocols import Input, Objection
from hierlearn.core.streams import Streams
from hierlearn.files.digits import PIXELS, digits
from hierlearn.inputs._pictures import DIGITS, part_of, passes


@dataclass(frozen=True)
class ShiftedDigits(Input):
    """The digits of `digits`, each at a uniform place on an empty canvas; of mean square 1.

    The same picture comes back at another place after as many points as its part has pictures.
    """

    dimension: int
    _: KW_ONLY
    canvas: Annotated[int, Interval(ge=PIXELS, le=64), "Height and width of the canvas in pixels."] = 14
    law: ClassVar[str] = "shifted_digits"
    stream_key: ClassVar[str] = "shifted_digits"
    classes: ClassVar[int] = 10

    def objections(self, inputs: Input) -> Iterator[Objection]:
        """Another dimension than that of the canvas."""
        if inputs.dimension != self.canvas**2:
            yield "dimension", f"{inputs.dimension}", f"{self.canvas} x {self.canvas} = {self.canvas**2}"

    @property
    def shape(self) -> tuple[int, int, int]:
        """One channel."""
        return 1, self.canvas, self.canvas

    def supply(self) -> Mapping[str, int]:
        """The pictures of each role; each counts once, though its places differ."""
        return DIGITS

    def library(self) -> tuple[np.ndarray, np.ndarray]:
        """All pictures (1797, 1, 8, 8) float32, as bright as on the canvas, and their classes (1797,)."""
        pictures, classes = digits()
        return (pictures * (self.canvas / PIXELS) / np.sqrt(np.mean(pictures**2)))[:, None].astype(np.float32), classes

    def sample(self, streams: Streams, role: str, start: int, count: int) -> np.ndarray:
        """(S, count, canvas^2) float32 rows start .. start+count; prefix-stable."""
        chosen = passes(streams, part_of(streams, role, DIGITS), start, count)
        free = self.canvas - PIXELS + 1
        corners = streams.at("place").rows(start, count, lambda generator, rows: generator.integers(0, free, (rows, 2)))
        pictures, canvas = self.library()[0][:, 0], np.zeros((*chosen.shape, self.canvas, self.canvas), np.float32)
        for place in np.ndindex(chosen.shape):
            row, column = corners[place]
            canvas[place][row : row + PIXELS, column : column + PIXELS] = pictures[chosen[place]]
        return canvas.reshape(*chosen.shape, -1)
