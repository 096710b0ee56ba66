"""Random streams keyed by content: no global seed, and no value that depends on what else is run."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

# Rows are drawn in blocks with a stream each, so that any slice of an endless sample costs its own length only.
BLOCK_ROWS = 1024


@dataclass(frozen=True)
class Streams:
    """One family of independent random streams per seed, addressed by words.

    key: words that say what the numbers are for (the problem's canonical content, a role, a component).
    seeds: one stream per entry; the numbers of one seed do not depend on the others.
    root: how many words of the key name the problem, 0 where there is none.
    """

    key: tuple[str, ...]
    seeds: tuple[int, ...]
    root: int = 0

    def at(self, *words: object) -> "Streams":
        """Return the streams below this one that are meant for `words`."""
        return replace(self, key=self.key + tuple(str(word) for word in words))

    def take(self, positions: Sequence[int]) -> "Streams":
        """Return the same streams for a part of the seeds. positions: indices into `seeds`."""
        return replace(self, seeds=tuple(self.seeds[i] for i in positions))

    def shared(self, *words: object) -> "Streams":
        """Return streams for `words` that are the same wherever in a problem its law or its teacher asks for them."""
        return Streams(self.key[: self.root], self.seeds, self.root).at("shared", *words)

    def generator(self, seed: int, *words: object) -> np.random.Generator:
        """Return a fresh generator for one seed; equal arguments give equal numbers."""
        text = "\x1f".join((*self.key, *(str(word) for word in words), str(seed)))
        entropy = int.from_bytes(hashlib.sha256(text.encode()).digest(), "little")
        return np.random.Generator(np.random.PCG64DXSM(np.random.SeedSequence(entropy)))

    def generators(self) -> list[np.random.Generator]:
        """Return one fresh generator per seed."""
        return [self.generator(seed) for seed in self.seeds]

    def stack(self, draw: Callable[[np.random.Generator], np.ndarray]) -> np.ndarray:
        """Stack draw(generator) -> (...) of every seed to (S, ...)."""
        return np.stack([draw(generator) for generator in self.generators()])

    def rows(self, start: int, count: int, draw: Callable[[np.random.Generator, int], np.ndarray]) -> np.ndarray:
        """Return rows start .. start+count of an endless sample per seed: (S, count, ...).

        draw(generator, rows) -> (rows, ...) must give independent rows. The result is prefix-stable: row i is the
        same whatever slice it is asked in.
        """
        if start < 0 or count < 1:
            raise ValueError(f"rows: start {start} and count {count}; expected start >= 0 and count >= 1")
        first, last = start // BLOCK_ROWS, (start + count - 1) // BLOCK_ROWS
        offset = start - first * BLOCK_ROWS

        def one(seed: int) -> np.ndarray:
            blocks = [draw(self.generator(seed, "block", b), BLOCK_ROWS) for b in range(first, last + 1)]
            return np.concatenate(blocks)[offset : offset + count]

        return np.stack([one(seed) for seed in self.seeds])
