"""Handwritten digits."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hierlearn.core.streams import Streams
from hierlearn.inputs._digits import PIXELS
from hierlearn.inputs._finite import Finite
from hierlearn.inputs._pictures import DIGITS, DigitPictures


@dataclass(frozen=True)
class Digits(DigitPictures, Finite):
    """scikit-learn's 1797 digits of 8 x 8 pixels in ten classes, of mean square 1.

    1000 are training points, 300 validation and 497 test points, other ones for every seed; unlabelled points are
    training points.
    """

    law = stream_key = "digits"

    def finite(self) -> Mapping[str, int]:
        return {"dimension": PIXELS**2} | DIGITS

    def rows(self, streams: Streams, role: str, start: int, count: int) -> np.ndarray:
        return self.chosen(streams, role, start, count)

    def of_rows(self, rows: np.ndarray) -> np.ndarray:
        pictures, _ = self.library()
        return pictures.reshape(len(pictures), -1)[rows]

    def labels(self) -> np.ndarray:
        return self.library()[1]

    def number_of_classes(self) -> int:
        return self.classes
