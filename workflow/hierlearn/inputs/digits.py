"""Handwritten digits."""

from dataclasses import dataclass

import numpy as np

from hierlearn.core.streams import Streams
from hierlearn.inputs._pictures import DigitPictures


@dataclass(frozen=True)
class Digits(DigitPictures):
    """scikit-learn's 1797 digits of 8 x 8 pixels in ten classes, of mean square 1.

    1000 are training points, 300 validation and 497 test points, other ones for every seed; unlabelled points are
    training points.
    """

    law = stream_key = "digits"

    def sample(self, streams: Streams, role: str, start: int, count: int) -> np.ndarray:
        pictures, _ = self.library()
        return pictures.reshape(len(pictures), -1)[self.chosen(streams, role, start, count)]
