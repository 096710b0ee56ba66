"""Handwritten digits at a place of their own on a canvas."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Interval

from hierlearn.core.streams import Streams
from hierlearn.inputs._digits import PIXELS
from hierlearn.inputs._pictures import DigitPictures


@dataclass(frozen=True, kw_only=True)
class ShiftedDigits(DigitPictures):
    """The digits of `digits`, each at a uniform place on an empty canvas; of mean square 1.

    The same picture comes back at another place after as many points as its part has pictures.
    """

    canvas: Annotated[int, Interval(ge=PIXELS, le=64), "Height and width of the canvas in pixels."] = 14
    law = stream_key = "shifted_digits"

    def sample(self, streams: Streams, role: str, start: int, count: int) -> np.ndarray:
        chosen, free = self.chosen(streams, role, start, count), self.canvas - PIXELS + 1
        corners = streams.at("place").rows(start, count, lambda generator, rows: generator.integers(0, free, (rows, 2)))
        pictures, canvas = self.library()[0][:, 0], np.zeros((*chosen.shape, self.canvas, self.canvas), np.float32)
        for place in np.ndindex(chosen.shape):
            row, column = corners[place]
            canvas[place][row : row + PIXELS, column : column + PIXELS] = pictures[chosen[place]]
        return canvas.reshape(*chosen.shape, -1)
