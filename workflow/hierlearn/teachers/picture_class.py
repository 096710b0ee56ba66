"""The class of a picture of a known set."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge

from hierlearn.core.protocols import Input, Objection, State, Teacher
from hierlearn.core.streams import Streams


@dataclass(frozen=True, kw_only=True)
class PictureClass(Teacher):
    """The class that a set of pictures states, wherever on a canvas the picture lies: an output each, 1 or -1.

    A picture is known by a hash of what is left when rows and columns of zeros at its edges are taken away.
    """

    classes: Annotated[int, Ge(2), "Number of classes, that of the input."] = 10
    kind = "classes"
    stream_key: ClassVar[str] = "picture_class"
    LAWS = ("digits", "shifted_digits", "cifar")

    def validate(self, inputs: Any) -> Iterator[Objection]:
        """Object to another number of classes than the input has."""
        if inputs.law in PictureClass.LAWS and self.classes != inputs.classes:
            yield "classes", f"{self.classes}", f"the input's {inputs.classes}"

    @property
    def outputs(self) -> int:
        """One for each class."""
        return self.classes

    def draw(self, streams: Streams, inputs: Any) -> State:
        """Collect hashes (S, N) uint64, growing, classes (S, N) and shape (S, 3), (channels, height, width)."""
        self.raise_for(inputs)
        pictures, classes = inputs.library()
        hashes = _hashes(pictures)
        order, seeds = np.argsort(hashes), len(streams.seeds)
        known = {"hashes": hashes[order], "classes": classes[order], "shape": np.array(inputs.shape)}
        return {name: np.repeat(values[None], seeds, axis=0) for name, values in known.items()}

    def target(self, state: State, x: np.ndarray) -> np.ndarray:
        """Return targets: (S, n, d) -> (S, n, k) float64; -1 everywhere for a picture that is not of the set."""
        found = np.full(x.shape[:2], -1)
        for seed, points in enumerate(x):
            asked, known = _hashes(points.reshape(-1, *state["shape"][seed])), state["hashes"][seed]
            places = np.minimum(np.searchsorted(known, asked), len(known) - 1)
            found[seed] = np.where(known[places] == asked, state["classes"][seed][places], -1)
        return np.where(found[..., None] == np.arange(self.classes), 1.0, -1.0)

    def norm(self, state: State, inputs: Input) -> np.ndarray:
        """Return the root of the number of classes, (S,)."""
        return np.full(len(state["shape"]), np.sqrt(self.classes))

    def degrees(self) -> tuple[int, ...]:
        """Return none: they are not known."""
        return ()

    def bases(self, state: State, x: np.ndarray) -> np.ndarray:
        """Return the classes, (S, n, k)."""
        return self.target(state, x)


def _hashes(pictures: np.ndarray) -> np.ndarray:
    """(n, channels, height, width) -> (n,) uint64, of what is not zero and its size."""
    lit = (pictures != 0).any(axis=1)
    rows, columns = lit.any(axis=2), lit.any(axis=1)

    def edges(axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return axis.argmax(axis=1), axis.shape[1] - axis[:, ::-1].argmax(axis=1)

    found = []
    for picture, top, bottom, left, right in zip(pictures, *edges(rows), *edges(columns), strict=True):
        inside = np.ascontiguousarray(picture[:, top:bottom, left:right])
        content = repr(inside.shape).encode() + inside.tobytes()
        found.append(int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little"))
    return np.array(found, np.uint64)
