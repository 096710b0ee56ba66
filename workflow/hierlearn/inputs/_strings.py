"""Strings of random grammars as an endless sample."""

from collections.abc import Sequence

import numpy as np

from hierlearn.core.streams import Streams
from hierlearn.theory import hierarchies

# Entries of the table by which strings are read.
TABLE = 10**6


def draw_grammar(
    streams: Streams, parents: Sequence[int], symbols: int, synonyms: int, branching: int
) -> list[np.ndarray]:
    """Rules from the bottom: (S, symbols of the level, m) codes each, the same from any streams of a problem.

    parents: symbols of every level that have rules, from the bottom.
    """
    return [
        streams.shared("rules", level).stack(
            lambda generator, n=n: hierarchies.draw_rules(generator, n, symbols, synonyms, branching)
        )
        for level, n in enumerate(parents)
    ]


def draw_strings(
    streams: Streams, start: int, count: int, rules: Sequence[np.ndarray], roots: int, symbols: int, branching: int
) -> np.ndarray:
    """One-hot strings of so many uniform roots each, (S, count, d) float32 rows start .. start+count; prefix-stable.

    rules: of every level from the bottom, (S, symbols of the level, m) codes.
    """

    def one(seed: int) -> np.ndarray:
        own = [level[seed] for level in rules]

        def draw(generator, rows):
            drawn = generator.integers(0, len(own[-1]), (rows, roots))
            return hierarchies.one_hot(hierarchies.expand(generator, own, drawn, symbols, branching), symbols)

        return streams.take([seed]).rows(start, count, draw)[0]

    return np.stack([one(seed) for seed in range(len(streams.seeds))])
