"""Handwritten digits."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hierlearn.core.protocols import Input, Objection
from hierlearn.core.streams import Streams
from hierlearn.files.digits import PIXELS, digits
from hierlearn.inputs._pictures import DIGITS, part_of, passes


@dataclass(frozen=True)
class Digits(Input):
    """scikit-learn's 1797 digits of 8 x 8 pixels in ten classes, of mean square 1.

    1000 are training points, 300 validation and 497 test points, other ones for every seed; unlabelled points are
    training points.
    """

    dimension: int
    law: ClassVar[str] = "digits"
    stream_key: ClassVar[str] = "digits"
    shape: ClassVar[tuple[int, int, int]] = (1, PIXELS, PIXELS)
    classes: ClassVar[int] = 10

    def objections(self, inputs: Input) -> Iterator[Objection]:
        """Another dimension than that of the pictures."""
        if inputs.dimension != PIXELS**2:
            yield "dimension", f"{inputs.dimension}", f"{PIXELS} x {PIXELS} = {PIXELS**2}"

    def supply(self) -> Mapping[str, int]:
        """The pictures of each role."""
        return DIGITS

    def library(self) -> tuple[np.ndarray, np.ndarray]:
        """All pictures (1797, 1, 8, 8) float32 as `sample` shows them, and their classes (1797,)."""
        pictures, classes = digits()
        return (pictures / np.sqrt(np.mean(pictures**2)))[:, None], classes

    def sample(self, streams: Streams, role: str, start: int, count: int) -> np.ndarray:
        """(S, count, 64) float32 rows start .. start+count; prefix-stable."""
        chosen = passes(streams, part_of(streams, role, DIGITS), start, count)
        return self.library()[0].reshape(-1, PIXELS**2)[chosen]
