"""Finite sets of rows as endless samples: a part of the set for each role, in passes over it."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hierlearn.core.protocols import Input
from hierlearn.core.streams import Streams

OTHER = "training"


@dataclass(frozen=True)
class Finite(Input):
    """A law whose points are the rows of a set that brings their labels."""

    dimension: int

    @abstractmethod
    def number_of_classes(self) -> int:
        """How many classes the labels are of, 0 where they are numbers."""

    @abstractmethod
    def rows(self, streams: Streams, role: str, start: int, count: int) -> np.ndarray:
        """Numbers (S, count) of the rows start .. start+count of a role; prefix-stable."""

    @abstractmethod
    def of_rows(self, rows: np.ndarray) -> np.ndarray:
        """Return the points (S, n, *shape) float32 of rows (S, n)."""

    @abstractmethod
    def labels(self) -> np.ndarray:
        """Of all rows: classes (N,), or numbers (N, k) float64."""

    def overlap(self) -> float:
        """Test rows over all others; 0 where the rows are not known."""
        return overlap_of(self.supply())

    def sample(self, streams: Streams, role: str, start: int, count: int) -> np.ndarray:
        """Return the points of the rows start .. start+count of a role."""
        return self.of_rows(self.rows(streams, role, start, count))


def overlap_of(supply: Mapping[str, int]) -> float:
    """Test points over all others of a set that every seed splits anew; 0 of no set. supply: points by role."""
    rest = sum(supply.values()) - supply.get("test", 0)
    return supply["test"] / rest if rest else 0.0


def part_of(streams: Streams, role: str, parts: Mapping[str, int]) -> np.ndarray:
    """(S, N_role) numbers of the rows of a role; roles without a part of their own have that of training points.

    The parts are disjoint and at random for every seed, alike from any streams of a problem.
    """
    order = streams.shared("parts").stack(lambda generator: generator.permutation(sum(parts.values())))
    cut = np.split(order, np.cumsum(list(parts.values())), axis=1)
    return cut[list(parts).index(role if role in parts else OTHER)]


def passes(streams: Streams, chosen: np.ndarray, start: int, count: int) -> np.ndarray:
    """(S, count) entries start .. start+count of passes over chosen rows (S, N), each in an order of its own.

    Prefix-stable; no row comes twice within the first N.
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
