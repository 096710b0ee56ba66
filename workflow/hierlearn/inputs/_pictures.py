"""Pictures of a finite set as an endless sample: a part of the set for each role, in passes over it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from hierlearn.core.protocols import Input, Objection
from hierlearn.core.streams import Streams
from hierlearn.inputs._digits import PIXELS, digits

OTHER = "training"
# How the 1797 digits are shared out.
DIGITS = {"training": 1000, "validation": 300, "test": 497}


@dataclass(frozen=True)
class Pictures(Input):
    """A law of pictures, whose shape says the dimension."""

    dimension: int

    def objections(self, inputs: Input) -> Iterator[Objection]:
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
        """The pictures of each role, wherever on the canvas they lie."""
        return DIGITS

    def library(self) -> tuple[np.ndarray, np.ndarray]:
        """All pictures (1797, 1, 8, 8) float32, as bright as on the canvas, and their classes (1797,)."""
        pictures, classes = digits()
        return (pictures * (self.canvas / PIXELS) / np.sqrt(np.mean(pictures**2)))[:, None], classes

    def chosen(self, streams: Streams, role: str, start: int, count: int) -> np.ndarray:
        """(S, count) numbers of the pictures start .. start+count of a role; prefix-stable."""
        return passes(streams, part_of(streams, role, DIGITS), start, count)


def part_of(streams: Streams, role: str, parts: Mapping[str, int]) -> np.ndarray:
    """(S, N_role) numbers of the pictures of a role; roles without a part of their own have that of training points.

    The parts are disjoint and at random for every seed, alike from any streams of a problem.
    """
    order = streams.shared("parts").stack(lambda generator: generator.permutation(sum(parts.values())))
    cut = np.split(order, np.cumsum(list(parts.values())), axis=1)
    return cut[list(parts).index(role if role in parts else OTHER)]


def passes(streams: Streams, chosen: np.ndarray, start: int, count: int) -> np.ndarray:
    """(S, count) entries start .. start+count of passes over chosen pictures (S, N), each in an order of its own.

    Prefix-stable; no picture comes twice within the first N.
    """
    if start < 0 or count < 1:
        raise ValueError(f"passes: start {start} and count {count}; expected start >= 0 and count >= 1")
    size = chosen.shape[1]
    first, last = start // size, (start + count - 1) // size
    orders = [
        streams.at("pass", number).stack(lambda generator: generator.permutation(size))
        for number in range(first, last + 1)
    ]
    places = np.concatenate(orders, axis=1)[:, start - first * size :][:, :count]
    return np.take_along_axis(chosen, places, axis=1)
