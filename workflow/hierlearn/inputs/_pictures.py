"""Pictures of a finite set."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from hierlearn.core.protocols import Input, Objection
from hierlearn.core.streams import Streams
from hierlearn.inputs._digits import PIXELS, digits
from hierlearn.inputs._finite import overlap_of, part_of, passes

# How the 1797 digits are shared out.
DIGITS = {"training": 1000, "validation": 300, "test": 497}


@dataclass(frozen=True)
class Pictures(Input):
    """A law of pictures, whose shape says the dimension."""

    dimension: int

    def validate(self, inputs: Input) -> Iterator[Objection]:
        """Another dimension than that of the pictures."""
        # A single channel goes without saying.
        sizes = [size for size in inputs.shape or () if size > 1]
        if inputs.dimension != prod(sizes):
            yield "dimension", f"{inputs.dimension}", f"{' x '.join(map(str, sizes))} = {prod(sizes)}"


class DigitPictures(Pictures):
    """Handwritten digits on a canvas of so many rows and columns."""

    canvas = PIXELS
    classes = 10

    @property
    def shape(self) -> tuple[int, int, int]:
        return 1, self.canvas, self.canvas

    def supply(self) -> Mapping[str, int]:
        """Return how many pictures each role has, wherever on the canvas they lie."""
        return DIGITS

    def overlap(self) -> float:
        """Test pictures over all others: every seed splits the same pictures anew."""
        return overlap_of(DIGITS)

    def library(self) -> tuple[np.ndarray, np.ndarray]:
        """All pictures (1797, 1, 8, 8) float32, as bright as on the canvas, and their classes (1797,)."""
        pictures, classes = digits()
        return (pictures * (self.canvas / PIXELS) / np.sqrt(np.mean(pictures**2)))[:, None], classes

    def chosen(self, streams: Streams, role: str, start: int, count: int) -> np.ndarray:
        """(S, count) numbers of the pictures start .. start+count of a role; prefix-stable."""
        return passes(streams, part_of(streams, role, DIGITS), start, count)
