"""Pictures of CIFAR-10 and CIFAR-100."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Annotated, Literal

import numpy as np

from hierlearn.core.parameters import EXECUTION
from hierlearn.core.protocols import Objection
from hierlearn.core.streams import Streams
from hierlearn.inputs._cifar import ARCHIVES, cifar, fault
from hierlearn.inputs._finite import Finite, part_of, passes
from hierlearn.inputs._pictures import Pictures

# Of the published training pictures: one in ten is a validation point.
VALIDATION = 10


@dataclass(frozen=True, kw_only=True)
class Cifar(Pictures, Finite):
    """CIFAR's 60,000 colour pictures of 32 x 32 pixels; every colour has mean 0 and variance 1 over training pictures.

    Of the 50,000 training pictures 5,000 are validation points, others for every seed; test points are the published
    ones. Unlabelled points are training points. The archive is read from a folder of the user's own.
    """

    classes: Annotated[Literal[10, 100], "Number of classes: CIFAR-10 or CIFAR-100, its fine ones."] = 10
    folder: Annotated[
        str, EXECUTION, "Folder with the archive, python version, as tar.gz or unpacked; from where the run starts."
    ] = "data"
    law = stream_key = "cifar"

    def missing_inputs(self) -> Iterator[Objection]:
        """Report an archive that is not there, or not the published one."""
        wrong = fault(self.folder, self.classes)
        if wrong is not None:
            yield "folder", *wrong

    @property
    def shape(self) -> tuple[int, int, int]:
        """Three colours."""
        return ARCHIVES[self.classes].shape

    def supply(self) -> Mapping[str, int]:
        """Return how many pictures each role has."""
        training, test = ARCHIVES[self.classes].counts
        return {"training": training - training // VALIDATION, "validation": training // VALIDATION, "test": test}

    def library(self) -> tuple[np.ndarray, np.ndarray]:
        """Return all pictures (N, 3, height, width) float32 as `sample` shows them, and their classes (N,)."""
        pictures, classes = cifar(self.folder, self.classes)
        return self._standard(pictures), classes

    def finite(self) -> Mapping[str, int]:
        return {"dimension": prod(ARCHIVES[self.classes].shape), **Cifar.supply(self)}

    def rows(self, streams: Streams, role: str, start: int, count: int) -> np.ndarray:
        supply = self.supply()
        if role == "test":
            first = supply["training"] + supply["validation"]
            own = np.tile(np.arange(first, first + supply["test"]), (len(streams.seeds), 1))
        else:
            own = part_of(streams, role, {name: supply[name] for name in ("training", "validation")})
        return passes(streams, own, start, count)

    def overlap(self) -> float:
        """Return 0: test points are the published ones of every seed."""
        return 0.0

    def of_rows(self, rows: np.ndarray) -> np.ndarray:
        pictures, _ = cifar(self.folder, self.classes)
        return self._standard(pictures[rows]).reshape(*rows.shape, -1)

    def labels(self) -> np.ndarray:
        return cifar(self.folder, self.classes)[1]

    def number_of_classes(self) -> int:
        return self.classes

    def _standard(self, pictures: np.ndarray) -> np.ndarray:
        """uint8 (..., 3, height, width) -> float32, by mean and deviation of the training pictures' colours."""
        mean, deviation = _standards(self.folder, self.classes)
        found = pictures.astype(np.float32)
        found -= mean
        found /= deviation
        return found


@lru_cache(maxsize=1)
def _standards(folder: str, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation, at least 1, of the training pictures' colours, (3, 1, 1) float32 each."""
    known = cifar(folder, classes)[0][: ARCHIVES[classes].counts[0]]
    levels = np.arange(256)
    # From counts of the 256 levels: a float copy of all pictures would take 1.2 GB.
    counts = np.stack([np.bincount(known[:, colour].ravel(), minlength=256) for colour in range(known.shape[1])])
    counts = counts / counts.sum(axis=1, keepdims=True)
    mean = counts @ levels
    deviation = np.maximum(np.sqrt(counts @ levels**2 - mean**2), 1)
    return mean.astype(np.float32)[:, None, None], deviation.astype(np.float32)[:, None, None]
