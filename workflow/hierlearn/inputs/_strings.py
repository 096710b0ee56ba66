"""Strings of random grammars as an endless sample."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from hierlearn.core.protocols import Input
from hierlearn.core.streams import Streams
from hierlearn.theory import hierarchies

# Entries of the table by which strings are read.
TABLE = 10**6


@dataclass(frozen=True)
class Strings(Input):
    """One-hot strings of `places` independent uniform roots each, by rules that say what `branching` symbols a symbol
    stands for; a channel for each symbol, a row of leaves."""

    dimension: int
    places: ClassVar[int] = 1

    @property
    @abstractmethod
    def symbols(self) -> int:
        """v, of the leaves."""

    @property
    @abstractmethod
    def branching(self) -> int:
        """s."""

    @property
    def leaves(self) -> int:
        """Length of the strings."""
        return self.dimension // self.symbols

    @property
    def shape(self) -> tuple[int, int, int]:
        return self.symbols, 1, self.leaves

    @abstractmethod
    def rules(self, streams: Streams) -> list[np.ndarray]:
        """Rules from the bottom: (S, symbols of the level, m) codes each, the same from any streams of a problem."""

    def sample(self, streams: Streams, role: str, start: int, count: int) -> np.ndarray:
        rules = self.rules(streams)
        draws = [partial(self._draw, [level[seed] for level in rules]) for seed in range(len(streams.seeds))]
        return np.concatenate([streams.take([seed]).rows(start, count, draw) for seed, draw in enumerate(draws)])

    def _draw(self, rules: list[np.ndarray], generator: np.random.Generator, rows: int) -> np.ndarray:
        roots = generator.integers(0, len(rules[-1]), (rows, self.places))
        strings = hierarchies.expand(generator, rules, roots, self.symbols, self.branching)
        return hierarchies.one_hot(strings, self.symbols)


class Hierarchy(Strings):
    """Strings of the Random Hierarchy Model, of one class each: `depth` levels of rules, `synonyms` to a symbol."""

    @property
    @abstractmethod
    def synonyms(self) -> int:
        """m."""

    @property
    @abstractmethod
    def classes(self) -> int | None:
        """n_c; None: as many as symbols."""

    @property
    @abstractmethod
    def depth(self) -> int:
        """L."""

    @property
    def roots(self) -> int:
        """n_c."""
        return self.classes or self.symbols

    def rules(self, streams: Streams) -> list[np.ndarray]:
        """As in Strings. Raises ValueError where the dimension is none of such strings."""
        self.raise_for(self)
        sizes = self.symbols, self.synonyms, self.branching

        def draw(parents: int) -> Callable[[np.random.Generator], np.ndarray]:
            return lambda generator: hierarchies.draw_rules(generator, parents, *sizes)

        return [
            streams.shared("rules", level).stack(draw(parents))
            for level, parents in enumerate(hierarchies.levels(self.symbols, self.roots, self.depth))
        ]
